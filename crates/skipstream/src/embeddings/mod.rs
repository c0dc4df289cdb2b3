//! embeddings
