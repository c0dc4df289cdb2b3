//! The box that data is drawn in, with its title and its vertical axis.

use anyhow::Result;

use super::canvas::{Anchor, Canvas, FRAME, GRID, Place, WIDTH, fitting_size, text_width};
use super::ticks::Ticks;

/// The height of the box, and where it begins, below the title.
const HEIGHT: f64 = 370.0;
const TOP: f64 = 42.0;
const RIGHT_MARGIN: f64 = 22.0;
const FONT: f64 = 13.0;
const LABEL_FONT: f64 = 14.0;
const TICK: f64 = 5.0;

/// The box, in pixels.
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// With room for the numbers of the vertical axis.
    pub fn beside(y: &Ticks) -> Self {
        let widest = y.labelled.iter().map(|(_, label)| text_width(label, FONT)).fold(0.0, f64::max);
        Self { left: 36.0 + widest + TICK + 4.0, right: WIDTH - RIGHT_MARGIN, top: TOP, bottom: TOP + HEIGHT }
    }

    /// The height of a value.
    pub fn y(&self, ticks: &Ticks, value: f64) -> f64 {
        self.bottom - ticks.share(value) * (self.bottom - self.top)
    }

    /// The distance of a value from the left.
    pub fn x(&self, ticks: &Ticks, value: f64) -> f64 {
        self.left + ticks.share(value) * (self.right - self.left)
    }

    /// Where an error bar from `low` to `high` is drawn, and which of its ends lie inside the frame and get a cap.
    /// On a logarithmic axis what is not positive lies below the frame.
    pub fn clipped(&self, ticks: &Ticks, low: f64, high: f64) -> Option<ErrorBar> {
        let place = |value: f64| {
            let y = self.y(ticks, value);
            if y.is_nan() { f64::INFINITY } else { y }
        };
        let (low, high) = (place(low), place(high));
        (high <= self.bottom && low >= self.top).then(|| ErrorBar {
            low: low.min(self.bottom),
            high: high.max(self.top),
            has_low_cap: low <= self.bottom,
            has_high_cap: high >= self.top,
        })
    }

    pub fn draw_title(&self, canvas: &Canvas, title: &str) -> Result<()> {
        canvas.title(20.0, title)
    }

    pub fn draw_y_axis(&self, canvas: &Canvas, label: &str, ticks: &Ticks) -> Result<()> {
        for (value, number) in &ticks.labelled {
            let y = self.y(ticks, *value);
            canvas.line(&[(self.left, y), (self.right, y)], GRID, 1.0)?;
            canvas.line(&[(self.left - TICK, y), (self.left, y)], FRAME, 1.0)?;
            canvas.text((self.left - TICK - 4.0, y), Anchor::End, FONT, number)?;
        }
        for &value in &ticks.bare {
            let y = self.y(ticks, value);
            canvas.line(&[(self.left - TICK / 2.0, y), (self.left, y)], FRAME, 1.0)?;
        }
        let size = fitting_size(label, LABEL_FONT, HEIGHT);
        canvas.text((16.0, (self.top + self.bottom) / 2.0), Anchor::Upwards, size, label)
    }

    pub fn draw_x_axis(&self, canvas: &Canvas, label: &str, ticks: &Ticks) -> Result<()> {
        for (value, number) in &ticks.labelled {
            let x = self.x(ticks, *value);
            canvas.line(&[(x, self.top), (x, self.bottom)], GRID, 1.0)?;
            canvas.line(&[(x, self.bottom), (x, self.bottom + TICK)], FRAME, 1.0)?;
            canvas.text((x, self.bottom + 16.0), Anchor::Middle, FONT, number)?;
        }
        for &value in &ticks.bare {
            let x = self.x(ticks, value);
            canvas.line(&[(x, self.bottom), (x, self.bottom + TICK / 2.0)], FRAME, 1.0)?;
        }
        let size = fitting_size(label, LABEL_FONT, self.right - self.left);
        canvas.text(((self.left + self.right) / 2.0, self.bottom + 39.0), Anchor::Middle, size, label)
    }

    /// The names of groups below the box, each in the middle of its share of the width.
    pub fn draw_groups(&self, canvas: &Canvas, names: &[String]) -> Result<()> {
        let width = self.group_width(names.len());
        for (number, name) in names.iter().enumerate() {
            let x = self.left + (number as f64 + 0.5) * width;
            canvas.text(
                (x, self.bottom + 17.0),
                Anchor::Middle,
                fitting_size(name, LABEL_FONT, width),
                name,
            )?;
        }
        Ok(())
    }

    pub fn group_width(&self, n_groups: usize) -> f64 {
        (self.right - self.left) / n_groups as f64
    }

    pub fn draw_border(&self, canvas: &Canvas) -> Result<()> {
        let corners: [Place; 5] = [
            (self.left, self.top),
            (self.right, self.top),
            (self.right, self.bottom),
            (self.left, self.bottom),
            (self.left, self.top),
        ];
        canvas.line(&corners, FRAME, 1.0)
    }
}

/// An error bar inside the frame.
#[derive(Debug, PartialEq)]
pub(super) struct ErrorBar {
    low: f64,
    high: f64,
    has_low_cap: bool,
    has_high_cap: bool,
}

impl ErrorBar {
    pub fn draw(&self, canvas: &Canvas, x: f64, cap: f64, color: plotters::style::RGBColor) -> Result<()> {
        canvas.line(&[(x, self.low), (x, self.high)], color, 1.25)?;
        for (y, has_cap) in [(self.low, self.has_low_cap), (self.high, self.has_high_cap)] {
            if has_cap {
                canvas.line(&[(x - cap, y), (x + cap, y)], color, 1.25)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::chart::Scale;
    use super::*;

    #[test]
    fn error_bars_end_at_the_frame() {
        let ticks = Ticks::new(Scale::Log, 1e-4, 1.0);
        let frame = Frame::beside(&ticks);
        let whole = frame.clipped(&ticks, 1e-3, 0.5).unwrap();
        assert_eq!(whole.low, frame.y(&ticks, 1e-3));
        assert!(whole.has_low_cap && whole.has_high_cap);
        for low in [0.0, -1.0, 1e-9] {
            let cut = frame.clipped(&ticks, low, 5.0).unwrap();
            assert_eq!((cut.low, cut.high), (frame.bottom, frame.top));
            assert!(!cut.has_low_cap && !cut.has_high_cap);
        }
        assert_eq!(frame.clipped(&ticks, -2.0, -1.0), None);
        assert_eq!(frame.clipped(&ticks, -2.0, 1e-9), None);
    }
}
