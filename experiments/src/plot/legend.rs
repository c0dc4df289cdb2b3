//! Samples of the series with their names, in rows below the plot.

use anyhow::Result;

use super::canvas::{Anchor, Canvas, Place, WIDTH, text_width};

const FONT: f64 = 13.0;
const ROW: f64 = 21.0;
/// The width of a sample, of the gap behind it, and of that between two entries.
const SAMPLE: f64 = 26.0;
const GAP: f64 = 7.0;
const MARGIN: f64 = 18.0;

/// Where the entries of a legend stand.
pub(super) struct Legend<'a> {
    labels: Vec<&'a str>,
    columns: Vec<f64>,
}

impl<'a> Legend<'a> {
    pub fn new(labels: Vec<&'a str>) -> Self {
        // As few rows as fit, and those about equally long.
        let columns = (1..=labels.len())
            .map(|n_rows| columns(&labels, labels.len().div_ceil(n_rows)))
            .find(|columns| columns.len() == 1 || columns.iter().sum::<f64>() <= WIDTH)
            .unwrap_or_default();
        Self { labels, columns }
    }

    pub fn height(&self) -> f64 {
        self.labels.len().div_ceil(self.columns.len().max(1)) as f64 * ROW
    }

    /// Draws the names, and each sample by the function, which gets the number of the series and both ends.
    pub fn draw(
        &self,
        canvas: &Canvas,
        top: f64,
        sample: impl Fn(usize, Place, Place) -> Result<()>,
    ) -> Result<()> {
        let width = self.columns.iter().sum::<f64>() - MARGIN;
        let left = ((WIDTH - width) / 2.0).max(2.0);
        for (number, label) in self.labels.iter().enumerate() {
            let (row, column) = (number / self.columns.len(), number % self.columns.len());
            let x = left + self.columns[..column].iter().sum::<f64>();
            let y = top + (row as f64 + 0.5) * ROW;
            sample(number, (x, y), (x + SAMPLE, y))?;
            canvas.text((x + SAMPLE + GAP, y), Anchor::Start, FONT, label)?;
        }
        Ok(())
    }
}

/// The widths of columns that are filled row by row.
fn columns(labels: &[&str], n_columns: usize) -> Vec<f64> {
    let mut columns = vec![0.0; n_columns];
    for (number, label) in labels.iter().enumerate() {
        let column = &mut columns[number % n_columns];
        *column = f64::max(*column, SAMPLE + GAP + text_width(label, FONT) + MARGIN);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_about_equally_long() {
        let short = Legend::new(vec!["batch"; 4]);
        assert_eq!((short.columns.len(), short.height()), (4, ROW));
        let long = Legend::new(vec!["incremental, 40 % vocabulary"; 4]);
        assert_eq!((long.columns.len(), long.height()), (2, 2.0 * ROW));
        // Only one column is wide, so there is room for three.
        let mixed = Legend::new(vec!["incremental, 40 % vocabulary", "batch", "gensim"]);
        assert_eq!(mixed.height(), ROW);
        let endless = "word ".repeat(100);
        assert_eq!(Legend::new(vec![&endless; 3]).height(), 3.0 * ROW);
    }
}
