//! MurmurHash3_x64_128 by Austin Appleby (public domain), the hash of floret's tables.
//!
//! The n-grams of a table must go to the same rows in every program that reads it, so the hash is a part of the format.

/// The 128 bits as four numbers, the lowest first.
pub(super) fn hash(bytes: &[u8], seed: u32) -> [u32; 4] {
    const FIRST: u64 = 0x87c3_7b91_1142_53d5;
    const SECOND: u64 = 0x4cf5_ad43_2745_937f;
    let mix_first = |value: u64| value.wrapping_mul(FIRST).rotate_left(31).wrapping_mul(SECOND);
    let mix_second = |value: u64| value.wrapping_mul(SECOND).rotate_left(33).wrapping_mul(FIRST);

    let (mut low, mut high) = (u64::from(seed), u64::from(seed));
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        let [first, second] = words(block);
        low ^= mix_first(first);
        low = low.rotate_left(27).wrapping_add(high).wrapping_mul(5).wrapping_add(0x52dc_e729);
        high ^= mix_second(second);
        high = high.rotate_left(31).wrapping_add(low).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // Zeros change nothing, so the rest can be padded.
    let mut padded = [0; 16];
    padded[..rest.len()].copy_from_slice(rest);
    let [first, second] = words(&padded);
    low ^= mix_first(first);
    high ^= mix_second(second);

    low ^= bytes.len() as u64;
    high ^= bytes.len() as u64;
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    (low, high) = (finish(low), finish(high));
    low = low.wrapping_add(high);
    high = high.wrapping_add(low);
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}

fn words(block: &[u8; 16]) -> [u64; 2] {
    let value = u128::from_le_bytes(*block);
    [value as u64, (value >> 64) as u64]
}

fn finish(mut value: u64) -> u64 {
    value ^= value >> 33;
    value = value.wrapping_mul(0xff51_afd7_ed55_8ccd);
    value ^= value >> 33;
    value = value.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the Python package `mmh3` 5.
    #[test]
    fn hashes_are_those_of_the_reference() {
        let cases: [(&str, u32, [u32; 4]); 12] = [
            ("", 0, [0x0000_0000, 0x0000_0000, 0x0000_0000, 0x0000_0000]),
            ("", 2166136261, [0xc275_4a40, 0x1085_4f64, 0x1629_cd37, 0x4ea9_29b1]),
            ("a", 0, [0xf659_7889, 0x8555_5565, 0x510e_895a, 0xe6b5_3a48]),
            ("a", 2166136261, [0xe673_4340, 0x0aa4_b9da, 0xe6e3_fde4, 0x4939_994a]),
            ("<hello>", 0, [0xfd88_554e, 0x8ab7_a74b, 0x72cd_ed86, 0x4821_7d7d]),
            ("<hello>", 2166136261, [0x5296_3e8c, 0x9979_8376, 0xf954_55d9, 0x9a91_b731]),
            ("exactly 16 bytes", 0, [0x5f0e_f982, 0xf83e_e3fc, 0xda75_e26e, 0x790e_92cf]),
            ("exactly 16 bytes", 2166136261, [0x332b_f91f, 0x1abe_8cf0, 0x5f1f_1b4d, 0xc828_85e4]),
            ("seventeen bytes!!", 0, [0xbc4d_71b6, 0x4932_487f, 0x8135_d9a0, 0xcc6a_47d9]),
            ("seventeen bytes!!", 2166136261, [0x93c4_bfd8, 0x0659_c546, 0xcc97_f410, 0xa808_a6aa]),
            (
                "a text of more than thirty-two bytes, with é",
                0,
                [0x2899_cc9b, 0x922b_119d, 0x0afe_5223, 0xf3f0_cd7a],
            ),
            (
                "a text of more than thirty-two bytes, with é",
                2166136261,
                [0xc662_9371, 0x3ce2_a9ab, 0xf394_48ea, 0x8ae4_072a],
            ),
        ];
        for (text, seed, expected) in cases {
            assert_eq!(hash(text.as_bytes(), seed), expected, "{text:?}, seed {seed}");
        }
    }
}
