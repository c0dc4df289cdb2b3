//! Points and lines over two axes.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use plotters::style::RGBColor;

use super::canvas::{Canvas, Place, color};
use super::frame::Frame;
use super::legend::Legend;
use super::ticks::Ticks;

const LINE: f64 = 2.0;
/// Half the size of a mark, and of the cap of an error bar.
const MARK: f64 = 4.5;
const CAP: f64 = 4.0;
const RING: f64 = 6.5;

/// Points and lines over two axes.
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

pub struct Axis {
    pub label: String,
    pub scale: Scale,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    Linear,
    /// What is not positive has no place on it. Such points are left out, and the legend says how many.
    Log,
}

/// Points that belong together, in one colour.
pub struct Series {
    pub label: String,
    pub marks: Marks,
    pub points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Without a line a circle is a ring, so that a cross at the same place is seen.
    Points(Shape),
    Line,
    Dashed,
    PointsAndLine(Shape),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Circle,
    Cross,
    Square,
    Triangle,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// Half the length of the error bar.
    pub error: Option<f64>,
}

impl Chart {
    /// Draws the chart and saves it as SVG.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.check().with_context(|| format!("could not draw \"{}\"", self.title))?;
        let shown: Vec<Vec<Point>> = self.series.iter().map(|series| self.shown(series)).collect();
        let points: Vec<Point> = shown.iter().flatten().copied().collect();
        ensure!(!points.is_empty(), "could not draw \"{}\": it has no points with a place", self.title);
        let x = range(points.iter().map(|point| point.x));
        let y = range(points.iter().flat_map(|point| self.extent(point)));
        let drawing =
            Drawing { x: Ticks::new(self.x.scale, x.0, x.1), y: Ticks::new(self.y.scale, y.0, y.1) };

        let labels: Vec<String> =
            self.series.iter().zip(&shown).map(|(series, shown)| label(series, shown.len())).collect();
        let legend = Legend::new(labels.iter().map(String::as_str).collect());
        let frame = Frame::beside(&drawing.y);
        let legend_top = frame.bottom + 56.0;
        Canvas::save(path, legend_top + legend.height() + 8.0, |canvas| {
            frame.draw_title(canvas, &self.title)?;
            frame.draw_y_axis(canvas, &self.y.label, &drawing.y)?;
            frame.draw_x_axis(canvas, &self.x.label, &drawing.x)?;
            frame.draw_border(canvas)?;
            for (number, (series, points)) in self.series.iter().zip(&shown).enumerate() {
                drawing.draw_line(canvas, &frame, color(number).0, series.marks, points)?;
            }
            for (number, (series, points)) in self.series.iter().zip(&shown).enumerate() {
                // Also bars whose point has no place may reach into the frame.
                drawing.draw_error_bars(canvas, &frame, color(number).0, &series.points)?;
                drawing.draw_marks(canvas, &frame, color(number).0, series.marks, points)?;
            }
            legend.draw(canvas, legend_top, |number, from, to| {
                sample(canvas, self.series[number].marks, color(number).0, from, to)
            })
        })
    }

    fn check(&self) -> Result<()> {
        for series in &self.series {
            for Point { x, y, error } in &series.points {
                let is_finite = x.is_finite() && y.is_finite() && error.unwrap_or(0.0).is_finite();
                ensure!(is_finite, "\"{}\" has a point at ({x}, {y}) with error {error:?}", series.label);
            }
        }
        Ok(())
    }

    /// The points that have a place on both axes.
    fn shown(&self, series: &Series) -> Vec<Point> {
        let fits = |axis: &Axis, value: f64| axis.scale == Scale::Linear || value > 0.0;
        let points = series.points.iter().copied();
        points.filter(|point| fits(&self.x, point.x) && fits(&self.y, point.y)).collect()
    }

    /// The heights that should be seen of a point.
    fn extent(&self, point: &Point) -> [f64; 3] {
        let error = point.error.unwrap_or(0.0);
        let low = match self.y.scale {
            Scale::Linear => point.y - error,
            // A bar that nearly reaches zero is endless here; it must not press all else to the top.
            Scale::Log => (point.y - error).max(point.y / 2.0),
        };
        [low, point.y, point.y + error]
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// The name of the series, with what is not to be seen of it.
fn label(series: &Series, n_shown: usize) -> String {
    match series.points.len() - n_shown {
        0 => series.label.clone(),
        n => format!("{} ({n} not shown: ≤ 0)", series.label),
    }
}

/// The axes of a chart.
struct Drawing {
    x: Ticks,
    y: Ticks,
}

impl Drawing {
    fn place(&self, frame: &Frame, point: &Point) -> Place {
        (frame.x(&self.x, point.x), frame.y(&self.y, point.y))
    }

    fn draw_line(
        &self,
        canvas: &Canvas,
        frame: &Frame,
        color: RGBColor,
        marks: Marks,
        points: &[Point],
    ) -> Result<()> {
        let places: Vec<Place> = points.iter().map(|point| self.place(frame, point)).collect();
        match marks {
            Marks::Points(_) => Ok(()),
            // A line through one point would not be seen.
            Marks::Line | Marks::Dashed if places.len() == 1 => canvas.circle(places[0], LINE, color),
            Marks::Line | Marks::PointsAndLine(_) => canvas.line(&places, color, LINE),
            Marks::Dashed => canvas.dashed(&places, color, LINE),
        }
    }

    fn draw_error_bars(
        &self,
        canvas: &Canvas,
        frame: &Frame,
        color: RGBColor,
        points: &[Point],
    ) -> Result<()> {
        for point in points {
            let x = frame.x(&self.x, point.x);
            if let Some(error) = point.error.filter(|&error| error > 0.0 && x.is_finite())
                && let Some(bar) = frame.clipped(&self.y, point.y - error, point.y + error)
            {
                bar.draw(canvas, x, CAP, color)?;
            }
        }
        Ok(())
    }

    fn draw_marks(
        &self,
        canvas: &Canvas,
        frame: &Frame,
        color: RGBColor,
        marks: Marks,
        points: &[Point],
    ) -> Result<()> {
        for point in points {
            marks.draw(canvas, self.place(frame, point), color)?;
        }
        Ok(())
    }
}

impl Marks {
    /// One mark; of a line, nothing.
    fn draw(self, canvas: &Canvas, place: Place, color: RGBColor) -> Result<()> {
        match self {
            Self::Points(Shape::Circle) => canvas.ring(place, RING, color, LINE),
            Self::Points(shape) | Self::PointsAndLine(shape) => shape.draw(canvas, place, color),
            Self::Line | Self::Dashed => Ok(()),
        }
    }
}

impl Shape {
    fn draw(self, canvas: &Canvas, (x, y): Place, color: RGBColor) -> Result<()> {
        match self {
            Self::Circle => canvas.circle((x, y), MARK, color),
            Self::Cross => {
                canvas.line(&[(x - MARK, y - MARK), (x + MARK, y + MARK)], color, LINE)?;
                canvas.line(&[(x - MARK, y + MARK), (x + MARK, y - MARK)], color, LINE)
            }
            Self::Square => canvas.rectangle((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), color),
            Self::Triangle => {
                let corners =
                    [(x, y - 1.2 * MARK), (x - 1.1 * MARK, y + 0.8 * MARK), (x + 1.1 * MARK, y + 0.8 * MARK)];
                canvas.polygon(&corners, color)
            }
        }
    }
}

fn sample(canvas: &Canvas, marks: Marks, color: RGBColor, from: Place, to: Place) -> Result<()> {
    match marks {
        Marks::Points(_) => {}
        Marks::Line | Marks::PointsAndLine(_) => canvas.line(&[from, to], color, LINE)?,
        Marks::Dashed => canvas.dashed(&[from, to], color, LINE)?,
    }
    marks.draw(canvas, ((from.0 + to.0) / 2.0, from.1), color)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn chart(scale: Scale, points: Vec<Point>) -> Chart {
        Chart {
            title: "First moment".into(),
            x: Axis { label: "number of words n".into(), scale: Scale::Log },
            y: Axis { label: "mean of ΔL".into(), scale },
            series: vec![
                Series { label: "measured & drawn".into(), marks: Marks::Points(Shape::Cross), points },
                Series {
                    label: "Theorem 1".into(),
                    marks: Marks::Dashed,
                    points: vec![
                        Point { x: 1e3, y: 1e-2, error: None },
                        Point { x: 1e5, y: 1e-4, error: None },
                    ],
                },
            ],
        }
    }

    fn svg(chart: &Chart) -> Result<String> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("chart.svg");
        chart.save(&path)?;
        Ok(fs::read_to_string(path)?)
    }

    #[test]
    fn a_chart_names_its_axes_and_series() {
        let svg = svg(&chart(Scale::Log, vec![Point { x: 1e4, y: 1e-3, error: Some(5e-4) }])).unwrap();
        for text in [
            "First moment",
            "number of words n",
            "mean of ΔL",
            "measured &amp; drawn",
            "Theorem 1",
            "10⁴",
            "10⁻³",
        ] {
            assert!(svg.contains(text), "{text} is missing in {svg}");
        }
        assert!(svg.contains("width=\"720\""));
    }

    #[test]
    fn a_point_without_a_place_is_left_out_and_said() {
        let points =
            vec![Point { x: 1e4, y: 1e-3, error: None }, Point { x: 1e5, y: -1e-3, error: Some(2e-3) }];
        let logarithmic = svg(&chart(Scale::Log, points.clone())).unwrap();
        assert!(logarithmic.contains("measured &amp; drawn (1 not shown: ≤ 0)"), "{logarithmic}");
        assert!(!logarithmic.contains("NaN") && !logarithmic.contains("inf"));
        assert!(!svg(&chart(Scale::Linear, points)).unwrap().contains("not shown"));
    }

    #[test]
    fn a_line_of_one_point_is_seen() {
        let mut lone = chart(Scale::Log, vec![Point { x: 1e4, y: 1e-3, error: None }]);
        assert!(!svg(&lone).unwrap().contains("<circle"));
        lone.series[1].points.pop();
        assert!(svg(&lone).unwrap().contains("<circle"));
    }

    #[test]
    fn nothing_to_show_is_an_error() {
        let mut empty = chart(Scale::Log, vec![Point { x: 0.0, y: 1.0, error: None }]);
        empty.series.pop();
        let error = svg(&empty).unwrap_err();
        assert!(error.to_string().contains("First moment"), "{error}");
    }

    #[test]
    fn a_value_that_is_no_number_is_an_error() {
        let error = svg(&chart(Scale::Log, vec![Point { x: 1e4, y: f64::NAN, error: None }])).unwrap_err();
        assert!(format!("{error:#}").contains("measured & drawn"), "{error:#}");
    }
}
