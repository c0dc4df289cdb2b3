//! Bars in groups, with deviations.

use std::path::Path;

use anyhow::{Result, ensure};

use super::canvas::{Canvas, FRAME, TEXT};
use super::chart::Scale;
use super::frame::Frame;
use super::legend::Legend;
use super::ticks::Ticks;

/// The share of a group's width that its bars fill, and the widest bar.
const FILLED: f64 = 0.86;
const WIDEST: f64 = 46.0;

/// Bars in groups, one of each series in a group.
pub struct Bars {
    pub title: String,
    pub y_label: String,
    pub groups: Vec<String>,
    pub series: Vec<BarSeries>,
}

/// Bars of one colour.
pub struct BarSeries {
    pub label: String,
    /// Mean and deviation for each group; `None` where there is no bar.
    pub values: Vec<Option<(f64, f64)>>,
}

impl Bars {
    /// Draws the bars and saves them as SVG.
    pub fn save(&self, path: &Path) -> Result<()> {
        let title = &self.title;
        for series in &self.series {
            ensure!(
                series.values.len() == self.groups.len(),
                "could not draw \"{title}\": \"{}\" has {} values for {} groups",
                series.label,
                series.values.len(),
                self.groups.len()
            );
        }
        let values: Vec<(f64, f64)> =
            self.series.iter().flat_map(|series| series.values.iter().flatten()).copied().collect();
        ensure!(!values.is_empty(), "could not draw \"{title}\": it has no bars");
        for (mean, deviation) in &values {
            let is_finite = mean.is_finite() && deviation.is_finite();
            ensure!(is_finite, "could not draw \"{title}\": a bar is {mean} ± {deviation}");
        }
        // A bar begins at zero, so zero is on the axis.
        let low = values.iter().map(|(mean, deviation)| mean - deviation.abs()).fold(0.0, f64::min);
        let high = values.iter().map(|(mean, deviation)| mean + deviation.abs()).fold(0.0, f64::max);
        let ticks = Ticks::new(Scale::Linear, low, high);

        let legend = Legend::new(self.series.iter().map(|series| series.label.as_str()).collect());
        let frame = Frame::beside(&ticks);
        let legend_top = frame.bottom + 36.0;
        Canvas::save(path, legend_top + legend.height() + 8.0, |canvas| {
            frame.draw_title(canvas, title)?;
            frame.draw_y_axis(canvas, &self.y_label, &ticks)?;
            frame.draw_groups(canvas, &self.groups)?;
            for group in 0..self.groups.len() {
                self.draw_group(canvas, &frame, &ticks, group)?;
            }
            let zero = frame.y(&ticks, 0.0);
            canvas.line(&[(frame.left, zero), (frame.right, zero)], FRAME, 1.0)?;
            frame.draw_border(canvas)?;
            legend.draw(canvas, legend_top, |number, from, to| {
                canvas.bar((from.0 + 6.0, from.1 - 6.0), (to.0 - 4.0, to.1 + 6.0), number)
            })
        })
    }

    fn draw_group(&self, canvas: &Canvas, frame: &Frame, ticks: &Ticks, group: usize) -> Result<()> {
        let room = frame.group_width(self.groups.len());
        let pitch = (FILLED * room / self.series.len() as f64).min(WIDEST);
        let middle = frame.left + (group as f64 + 0.5) * room;
        let left = middle - pitch * self.series.len() as f64 / 2.0;
        let gap = (pitch / 8.0).min(2.0);
        for (number, series) in self.series.iter().enumerate() {
            let Some((mean, deviation)) = series.values[group] else { continue };
            let x = left + number as f64 * pitch;
            let (zero, end) = (frame.y(ticks, 0.0), frame.y(ticks, mean));
            canvas.bar((x + gap / 2.0, zero), (x + pitch - gap / 2.0, end), number)?;
            if deviation > 0.0
                && let Some(bar) = frame.clipped(ticks, mean - deviation, mean + deviation)
            {
                bar.draw(canvas, x + pitch / 2.0, (pitch / 4.0).min(5.0), TEXT)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn bars(values: Vec<Vec<Option<(f64, f64)>>>) -> Bars {
        let series = values
            .into_iter()
            .enumerate()
            .map(|(number, values)| BarSeries { label: format!("program {number}"), values })
            .collect();
        Bars {
            title: "Similarity".into(),
            y_label: "Spearman's ρ, %".into(),
            groups: vec!["WS353".into(), "MEN".into()],
            series,
        }
    }

    fn svg(bars: &Bars) -> Result<String> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("bars.svg");
        bars.save(&path)?;
        Ok(fs::read_to_string(path)?)
    }

    #[test]
    fn groups_and_series_are_named() {
        let svg = svg(&bars(vec![vec![Some((60.0, 1.0)), None], vec![Some((-3.0, 0.0)), Some((55.0, 2.0))]]));
        let svg = svg.unwrap();
        for text in ["Similarity", "ρ, %", "WS353", "MEN", "program 0", "program 1"] {
            assert!(svg.contains(text), "{text} is missing in {svg}");
        }
        // The sheet, three bars, and a sample of both series.
        assert_eq!(svg.matches("<rect").count(), 6);
    }

    #[test]
    fn a_missing_value_is_an_error_but_a_missing_bar_is_not() {
        let error = svg(&bars(vec![vec![Some((60.0, 1.0))]])).unwrap_err();
        assert!(error.to_string().contains("1 values for 2 groups"), "{error}");
        assert!(svg(&bars(vec![vec![None, None]])).unwrap_err().to_string().contains("no bars"));
        assert!(svg(&bars(vec![vec![None, Some((1.0, f64::NAN))]])).is_err());
    }
}
