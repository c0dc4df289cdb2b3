//! A white sheet that is drawn on in pixels and saved as SVG.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The width of every figure.
pub(super) const WIDTH: f64 = 720.0;

/// Grey of frames and ticks, of the grid, and black of text.
pub(super) const FRAME: RGBColor = RGBColor(110, 110, 110);
pub(super) const GRID: RGBColor = RGBColor(226, 226, 226);
pub(super) const TEXT: RGBColor = RGBColor(20, 20, 20);

/// plotters knows whole numbers only; a curve of those has visible steps, so it gets this many to a pixel.
const DETAIL: f64 = 4.0;

/// What plotters divides the size of a font by.
const FONT_DIVISOR: f64 = 1.24;

const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(60, 60, 60),
];

/// The colour of the series with this number, and how often the colours were used up before.
pub(super) fn color(series: usize) -> (RGBColor, usize) {
    (COLORS[series % COLORS.len()], series / COLORS.len())
}

/// Where a text stands, seen from its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    /// The text begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
    /// It is centred there and read from below.
    Upwards,
}

/// A point, in pixels from the upper left corner.
pub(super) type Place = (f64, f64);

/// The sheet.
pub(super) struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl Canvas<'_> {
    /// Draws on a white sheet and saves it.
    pub fn save(path: &Path, height: f64, draw: impl FnOnce(&Canvas) -> Result<()>) -> Result<()> {
        let size = (units(WIDTH) as u32, units(height) as u32);
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            area.fill(&WHITE)?;
            draw(&Canvas { area: area.clone() })?;
            area.present()?;
        }
        // The picture is drawn large and shown in its size.
        let large = format!("width=\"{}\" height=\"{}\"", size.0, size.1);
        let svg = svg.replacen(&large, &format!("width=\"{WIDTH}\" height=\"{height}\""), 1);
        fs::write(path, svg).with_context(|| format!("could not write {}", path.display()))
    }

    pub fn line(&self, places: &[Place], color: RGBColor, width: f64) -> Result<()> {
        let places: Vec<_> = places.iter().copied().map(snapped).collect();
        Ok(self.area.draw(&PathElement::new(places, color.stroke_width(units(width) as u32)))?)
    }

    /// A line of dashes, which go on around corners.
    pub fn dashed(&self, places: &[Place], color: RGBColor, width: f64) -> Result<()> {
        for dash in dashes(places, 7.0, 4.0) {
            self.line(&dash, color, width)?;
        }
        Ok(())
    }

    pub fn circle(&self, center: Place, radius: f64, color: RGBColor) -> Result<()> {
        Ok(self.area.draw(&Circle::new(snapped(center), units(radius), color.filled()))?)
    }

    pub fn ring(&self, center: Place, radius: f64, color: RGBColor, width: f64) -> Result<()> {
        let style = color.stroke_width(units(width) as u32);
        Ok(self.area.draw(&Circle::new(snapped(center), units(radius), style))?)
    }

    pub fn polygon(&self, corners: &[Place], color: RGBColor) -> Result<()> {
        let corners: Vec<_> = corners.iter().copied().map(snapped).collect();
        Ok(self.area.draw(&Polygon::new(corners, color.filled()))?)
    }

    pub fn rectangle(&self, corner: Place, opposite: Place, color: RGBColor) -> Result<()> {
        Ok(self.area.draw(&Rectangle::new([snapped(corner), snapped(opposite)], color.filled()))?)
    }

    /// A rectangle in the style of a series of bars: full, or pale with a border once the colours are used up.
    pub fn bar(&self, corner: Place, opposite: Place, series: usize) -> Result<()> {
        let (color, round) = color(series);
        if round == 0 {
            return self.rectangle(corner, opposite, color);
        }
        self.rectangle(corner, opposite, pale(color))?;
        let (left, right) = (corner.0.min(opposite.0) + 0.75, corner.0.max(opposite.0) - 0.75);
        let outline =
            [(left, corner.1), (left, opposite.1), (right, opposite.1), (right, corner.1), (left, corner.1)];
        self.line(&outline, color, 1.5)
    }

    pub fn text(&self, place: Place, anchor: Anchor, size: f64, text: &str) -> Result<()> {
        self.write(place, anchor, ("sans-serif", units(size * FONT_DIVISOR)).into_font(), text)
    }

    /// A title, in the middle of the sheet and no wider than it.
    pub fn title(&self, y: f64, text: &str) -> Result<()> {
        let size = fitting_size(text, 15.0, WIDTH / 1.08);
        let font = ("sans-serif", units(size * FONT_DIVISOR)).into_font().style(FontStyle::Bold);
        self.write((WIDTH / 2.0, y), Anchor::Middle, font, text)
    }

    fn write(&self, place: Place, anchor: Anchor, font: FontDesc, text: &str) -> Result<()> {
        let (font, horizontal) = match anchor {
            Anchor::Start => (font, HPos::Left),
            Anchor::Middle => (font, HPos::Center),
            Anchor::End => (font, HPos::Right),
            Anchor::Upwards => (font.transform(FontTransform::Rotate270), HPos::Center),
        };
        let style = font.color(&TEXT).pos(Pos::new(horizontal, VPos::Center));
        Ok(self.area.draw(&Text::new(text.to_owned(), snapped(place), style))?)
    }
}

/// About how wide a text is. A wide font is assumed: too much room is better than too little.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | 't' | 'f' | 'r' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '(' | ')'
            | ' ' => 0.38,
            'm' | 'w' | 'M' | 'W' | '%' | '±' | '−' | '≤' => 0.95,
            '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '⁻' => 0.42,
            'A'..='Z' => 0.72,
            _ => 0.61,
        })
        .sum();
    ems * size
}

/// The size, or a smaller one at which the text is not wider than `width`.
pub(super) fn fitting_size(text: &str, size: f64, width: f64) -> f64 {
    size * (width / text_width(text, size)).min(1.0)
}

fn units(pixels: f64) -> i32 {
    (pixels * DETAIL).round() as i32
}

fn snapped((x, y): Place) -> (i32, i32) {
    (units(x), units(y))
}

fn pale(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let mixed = |part: u8| 255 - (255 - part) / 4;
    RGBColor(mixed(red), mixed(green), mixed(blue))
}

/// Cuts a line into dashes with gaps between them.
fn dashes(places: &[Place], dash: f64, gap: f64) -> Vec<Vec<Place>> {
    let mut dashes = Vec::new();
    let mut drawing = true;
    let mut left = dash;
    let mut current: Vec<Place> = places.first().copied().into_iter().collect();
    for pair in places.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        let mut length = (to.0 - from.0).hypot(to.1 - from.1);
        while length > left {
            let share = left / length;
            from = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            length -= left;
            if drawing {
                current.push(from);
                dashes.push(std::mem::take(&mut current));
            } else {
                current = vec![from];
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
        }
        left -= length;
        if drawing {
            current.push(to);
        }
    }
    if current.len() > 1 {
        dashes.push(current);
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_on_around_a_corner() {
        let dashes = dashes(&[(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)], 6.0, 2.0);
        assert_eq!(
            dashes,
            [
                vec![(0.0, 0.0), (6.0, 0.0)],
                vec![(8.0, 0.0), (10.0, 0.0), (10.0, 4.0)],
                vec![(10.0, 6.0), (10.0, 10.0)]
            ]
        );
    }

    #[test]
    fn a_long_text_is_made_smaller() {
        assert_eq!(fitting_size("short", 15.0, 700.0), 15.0);
        let long = "word ".repeat(60);
        let size = fitting_size(&long, 15.0, 700.0);
        assert!((text_width(&long, size) - 700.0).abs() < 1e-9);
    }

    #[test]
    fn colours_come_again_in_another_round() {
        assert_eq!(color(0).0, color(COLORS.len()).0);
        assert_eq!(color(COLORS.len()).1, 1);
        assert_eq!(pale(RGBColor(0, 255, 55)), RGBColor(192, 255, 205));
    }
}
