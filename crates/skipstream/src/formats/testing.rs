//! What the tests of all formats share.

use std::borrow::Cow;

use proptest::prelude::*;

use super::LoadOptions;
use crate::corpus::InvalidUtf8;
use crate::embeddings::Embeddings;

pub(super) fn small() -> Embeddings {
    let vectors = vec![0.1, -2.5, 1e-20, -0.0];
    Embeddings::new(2, [("the", 9), ("käse", 3)], vectors).unwrap()
}

/// Options that differ from the usual ones in this.
pub(super) fn with_policy(invalid_utf8: InvalidUtf8) -> LoadOptions {
    LoadOptions { invalid_utf8, ..LoadOptions::default() }
}

/// The same words and the same bits; counts are another matter.
#[track_caller]
pub(super) fn assert_same(left: &Embeddings, right: &Embeddings) {
    assert_eq!(left.dimensions(), right.dimensions());
    assert!(left.words().eq(right.words()));
    let bits = |embeddings: &Embeddings| -> Vec<u32> {
        embeddings.vectors().flat_map(Cow::into_owned).map(f32::to_bits).collect()
    };
    assert_eq!(bits(left), bits(right));
}

#[track_caller]
pub(super) fn assert_same_counts(left: &Embeddings, right: &Embeddings) {
    let counts = |embeddings: &Embeddings| -> Vec<u64> {
        (0..embeddings.len()).map(|row| embeddings.count(row)).collect()
    };
    assert_eq!(counts(left), counts(right));
}

/// Words without white space, and any finite values.
pub(super) fn any_embeddings() -> impl Strategy<Value = Embeddings> {
    let words = proptest::collection::btree_map("[^ \t\r\n\x0b\x0c]{1,6}", 0u64..9, 0..12);
    let finite = prop::num::f32::NORMAL | prop::num::f32::SUBNORMAL | prop::num::f32::ZERO;
    (words, 1usize..20).prop_flat_map(move |(words, dimensions)| {
        proptest::collection::vec(finite, words.len() * dimensions)
            .prop_map(move |vectors| Embeddings::new(dimensions, words.clone(), vectors).unwrap())
    })
}
