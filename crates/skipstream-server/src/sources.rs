//! Files that grow and commands → the log.
