//! Questions → answers.
