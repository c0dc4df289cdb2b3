//! Published models → kept ones; words that moved, came and rose.
