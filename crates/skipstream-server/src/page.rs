//! The page, from the program itself.
