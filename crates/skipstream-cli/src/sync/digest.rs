//! What tells a stored vector from a newer one.

/// A digest of a vector and of the magnitude of its count.
pub type Digest = [u8; 16];

/// Separates these digests from all other uses of the hash. A change of what is hashed changes the number.
const CONTEXT: &str = "skipstream sync vector 1";

/// The digest of a word's vector and count.
pub fn digest(vector: &[f32], count: u64) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    hasher.update(&bytes).update(&magnitude(count).to_le_bytes());
    let mut digest = Digest::default();
    hasher.finalize_xof().fill(&mut digest);
    digest
}

/// The count with its first three binary digits: within a quarter of the count.
///
/// With a half-life, the counts of all words change all the time. If each change were written, so would be all rows.
fn magnitude(count: u64) -> u64 {
    let dropped = (u64::BITS - count.leading_zeros()).saturating_sub(3);
    count >> dropped << dropped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_every_value_and_on_the_magnitude_of_the_count() {
        let one = digest(&[1.0, 2.0], 100);
        assert_eq!(one, digest(&[1.0, 2.0], 101));
        assert_ne!(one, digest(&[1.0, 2.0], 200));
        assert_ne!(one, digest(&[1.0, 2.000_000_2], 100));
        assert_ne!(one, digest(&[2.0, 1.0], 100));
    }

    #[test]
    fn a_magnitude_is_within_a_quarter_of_the_count() {
        assert_eq!([0, 1, 7, 8, 9, 10, 100].map(magnitude), [0, 1, 7, 8, 8, 10, 96]);
        for count in [11, 12_345, u64::MAX] {
            assert!(magnitude(count) <= count && count - magnitude(count) <= count / 4);
        }
    }
}
