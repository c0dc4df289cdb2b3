//! The extension module `skipstream._engine`.
//!
//! It only crosses the language boundary. The engine is the crate `skipstream`, and the public API is in the package's
//! Python files, which call this module.
//!
//! Invariant: no call holds the GIL while the engine works, and no panic escapes: see `call`.

mod call;
mod cluster;
mod embeddings;
mod ending;
mod error;
mod evaluation;
mod means;
mod settings;
mod text;
mod trainer;

/// The engine of skipstream. Private: use the package `skipstream`.
#[pyo3::pymodule(gil_used = false)]
mod _engine {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::cluster::{
        Coordinator, Lock, Worker, clean_shards, commit_shards, is_sharded, join_shards, publish_shards,
    };
    #[pymodule_export]
    use crate::embeddings::Embeddings;
    #[pymodule_export]
    use crate::evaluation::{analogies, cosines, drift, word_pairs};
    #[pymodule_export]
    use crate::settings::Settings;
    #[pymodule_export]
    use crate::trainer::Trainer;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "it is a name of Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    const DEFAULT_VECTORS: &str = skipstream::Vectors::DEFAULT.name();

    #[pymodule_init]
    fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::embeddings::prepare_arrays(module.py())?;
        crate::ending::register(module)
    }
}
