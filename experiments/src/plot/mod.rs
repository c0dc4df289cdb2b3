//! Figures, as SVG: charts of points and lines, and grouped bars.
//!
//! Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart. The legend stands below
//! the plot, so it never covers data.

mod bars;
mod canvas;
mod chart;
mod frame;
mod legend;
mod ticks;

pub use bars::{BarSeries, Bars};
pub use chart::{Axis, Chart, Marks, Point, Scale, Series, Shape};
