//! The plot of a report: distance moved against count, a dot per word.

use std::collections::HashSet;
use std::fmt::Write as _;

use skipstream::eval::{Drift, Movement};

use super::escape;
use crate::diff::text::known;
use crate::output;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 45.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 50.0;

/// Maximum number of background dots; more make the page slow without making it clearer.
const MAX_DOTS: usize = 3_000;

/// Maximum number of labeled words.
const MAX_LABELS: usize = 25;

/// The figure with its caption; empty if no word was compared.
pub fn figure(drift: &Drift) -> String {
    if drift.movements.is_empty() {
        return String::new();
    }
    let scale = Scale::new(drift);
    let step = drift.movements.len().div_ceil(MAX_DOTS).max(1);
    let listed: HashSet<&str> = drift.moved.iter().map(|moved| moved.movement.word.as_str()).collect();
    let (foreground, background): (Vec<&Movement>, Vec<&Movement>) = drift
        .movements
        .iter()
        .partition(|movement| movement.above_floor || listed.contains(movement.word.as_str()));
    let mut svg = format!(
        "<figure>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"plot-title\">\n\
         <title id=\"plot-title\">Distance moved by {} words, by count; {} are above the noise floor</title>\n",
        drift.movements.len(),
        drift.above_floor
    );
    svg += &scale.axes(match drift.min_count {
        Some(_) => "count (the smaller of the two)",
        None => "rank from the end of the file",
    });
    background.into_iter().step_by(step).for_each(|movement| svg += &scale.dot(movement, "dot"));
    for movement in foreground {
        svg += &scale.dot(movement, if movement.above_floor { "dot above" } else { "dot listed" });
    }
    svg += &scale.line("median", drift.floor.iter().map(|point| (point.count, point.median)));
    svg += &scale.line("floor", drift.floor.iter().map(|point| (point.count, point.threshold)));
    svg += &scale.labels(drift);
    svg += "</svg>\n<figcaption>Each dot is a word. Words listed below are highlighted, red if above the noise floor. Solid line: \
        noise floor of the distance alone. Dashed line: median distance at that frequency.";
    if step > 1 {
        let _ = write!(svg, " One in {step} of the other words is drawn.");
    }
    svg + "</figcaption>\n</figure>\n"
}

/// Maps counts and distances to coordinates.
struct Scale {
    /// The logarithms of the lowest and the highest count.
    counts: [f64; 2],
    /// The largest distance.
    farthest: f64,
}

impl Scale {
    fn new(drift: &Drift) -> Scale {
        let logs = || drift.movements.iter().map(|movement| count(movement).log10());
        // A margin on either side, also if all counts are equal.
        let lowest = logs().fold(f64::INFINITY, f64::min) - 0.05;
        let highest = logs().fold(f64::NEG_INFINITY, f64::max) + 0.05;
        let thresholds = drift.floor.iter().map(|point| point.threshold.min(1.0));
        let farthest = drift.movements.iter().map(distance).chain(thresholds).fold(0.0, f64::max);
        // The next tenth, so that the topmost dot is not clipped.
        Scale { counts: [lowest, highest], farthest: ((farthest * 10.0).floor() + 1.0).min(20.0) / 10.0 }
    }

    fn x(&self, count: f64) -> f64 {
        let [lowest, highest] = self.counts;
        let share = ((count.max(1.0).log10() - lowest) / (highest - lowest)).clamp(0.0, 1.0);
        LEFT + share * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, distance: f64) -> f64 {
        HEIGHT - BOTTOM - (distance / self.farthest).min(1.0) * (HEIGHT - TOP - BOTTOM)
    }

    fn axes(&self, frequency: &str) -> String {
        let mut svg = String::new();
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tick in self.ticks() {
            let x = self.x(tick as f64);
            svg += &grid_line([x, x], [TOP, bottom]);
            svg += &text(x, bottom + 18.0, "middle", &output::count(tick));
        }
        let step = if self.farthest > 0.5 { 2 } else { 1 };
        for tenths in (0..=(10.0 * self.farthest).round() as u32).step_by(step) {
            let distance = f64::from(tenths) / 10.0;
            let y = self.y(distance);
            svg += &grid_line([LEFT, right], [y, y]);
            svg += &text(LEFT - 8.0, y + 4.0, "end", &format!("{distance:.1}"));
        }
        svg += &text((LEFT + right) / 2.0, HEIGHT - 8.0, "middle", frequency);
        let middle = (TOP + bottom) / 2.0;
        svg + &format!(
            "<text transform=\"translate(16 {middle}) rotate(-90)\" text-anchor=\"middle\">cosine distance</text>\n"
        )
    }

    /// Tick positions: powers of ten, plus multiples of 2 and 5 if there are few.
    fn ticks(&self) -> Vec<u64> {
        let [lowest, highest] = self.counts;
        let factors: &[u64] = if highest - lowest > 3.0 { &[1] } else { &[1, 2, 5] };
        let powers = (0..19).map(|exponent| 10u64.pow(exponent));
        let ticks = powers.flat_map(|power| factors.iter().map(move |factor| power.saturating_mul(*factor)));
        ticks.filter(|&tick| (lowest..=highest).contains(&(tick as f64).log10())).collect()
    }

    fn dot(&self, movement: &Movement, class: &str) -> String {
        let radius = if class == "dot" { 2.2 } else { 3.6 };
        format!(
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}: distance {:.3}, {:+.1} deviations, \
             counts {} and {}</title></circle>\n",
            self.x(count(movement)),
            self.y(distance(movement)),
            escape(&movement.word),
            distance(movement),
            movement.surprise,
            known(movement.old_count),
            known(movement.new_count)
        )
    }

    fn line(&self, class: &str, points: impl Iterator<Item = (f64, f64)>) -> String {
        let points: Vec<(f64, f64)> =
            points.map(|(count, distance)| (self.x(count), self.y(distance))).collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return String::new() };
        // Extends the line horizontally to both edges.
        let ends = ((WIDTH - RIGHT, first.1), (LEFT, last.1));
        let all = [ends.0].into_iter().chain(points.iter().copied()).chain([ends.1]);
        let list: Vec<String> = all.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        format!("<polyline class=\"{class}\" points=\"{}\"/>\n", list.join(" "))
    }

    /// Labels of the words that moved most, where they fit.
    fn labels(&self, drift: &Drift) -> String {
        let mut svg = String::new();
        let mut taken: Vec<[f64; 4]> = Vec::new();
        let moved = drift.moved.iter().map(|moved| &moved.movement);
        for movement in moved.take(MAX_LABELS) {
            let (x, y) = (self.x(count(movement)), self.y(distance(movement)));
            // Approximate width of a 13-pixel letter.
            let width = 7.4 * movement.word.chars().count() as f64;
            let places = [
                ("start", x + 7.0, y + 4.0),
                ("end", x - 7.0, y + 4.0),
                ("middle", x, y - 8.0),
                ("middle", x, y + 18.0),
            ];
            let free = places.into_iter().find_map(|(anchor, x, y)| {
                let left = match anchor {
                    "start" => x,
                    "end" => x - width,
                    _ => x - width / 2.0,
                };
                let own = [left, y - 12.0, left + width, y + 3.0];
                let inside = own[0] >= LEFT && own[2] <= WIDTH && own[1] >= 0.0;
                let is_free = inside && taken.iter().all(|other| !overlap(&own, other));
                is_free.then_some((anchor, x, y, own))
            });
            if let Some((anchor, x, y, own)) = free {
                taken.push(own);
                let _ = writeln!(
                    svg,
                    "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                    escape(&movement.word)
                );
            }
        }
        svg
    }
}

fn grid_line([x1, x2]: [f64; 2], [y1, y2]: [f64; 2]) -> String {
    format!("<line class=\"axis\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>\n")
}

fn text(x: f64, y: f64, anchor: &str, content: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>\n")
}

fn count(movement: &Movement) -> f64 {
    movement.frequency.max(1) as f64
}

fn distance(movement: &Movement) -> f64 {
    1.0 - movement.cosine
}

/// Whether two boxes (left, top, right, bottom) overlap.
fn overlap(one: &[f64; 4], other: &[f64; 4]) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}
