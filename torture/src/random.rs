//! Random numbers that a seed repeats.

pub struct Random(u64);

impl Random {
    /// A generator for each user of a seed.
    pub fn new(seed: u64, user: u64) -> Random {
        Random(seed.wrapping_add(user.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// A number below a limit (SplitMix64).
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}
