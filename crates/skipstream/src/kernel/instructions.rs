//! What a kernel needs from an instruction set: sixteen floats at a time.
//!
//! Each instruction set provides the same sixteen lanes, as one register or as several, with exactly rounded
//! operations in the same order. So a model's bytes do not depend on the machine that trained it.

use crate::parameters::{LANES, Lanes};

/// Vector instructions. A value of an implementing type is the proof that the machine has them.
pub(super) trait Instructions: Copy {
    /// Sixteen floats.
    type Vector: Copy;
    /// Sums of integers: one, or several that are added in the end. They are exact, so their order does not matter.
    type Sums: Copy;

    /// Sums that a matrix product keeps in registers, next to its operands: 4 or 8. It decides the speed and not the
    /// bits, because every sum has its own order.
    const TILE: usize;

    fn splat(self, value: f32) -> Self::Vector;
    fn load(self, from: &Lanes) -> Self::Vector;
    /// Fewer than sixteen floats, padded with zeros.
    #[inline(always)]
    fn load_part(self, from: &[f32]) -> Self::Vector {
        let mut lanes = [0.0; LANES];
        lanes[..from.len()].copy_from_slice(from);
        self.load(&lanes)
    }
    fn store(self, vector: Self::Vector, to: &mut Lanes);
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn subtract(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn multiply(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn divide(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn square_root(self, a: Self::Vector) -> Self::Vector;
    fn maximum(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a · b + c, rounded once.
    fn multiply_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    fn absolute(self, a: Self::Vector) -> Self::Vector;
    /// `negative` where `a` has its sign bit set, `other` elsewhere.
    fn select_negative(self, a: Self::Vector, negative: Self::Vector, other: Self::Vector) -> Self::Vector;
    /// 2ⁿ, where `a` is 1.5·2²³ + n: the exponent sits in the low bits of the mantissa.
    fn power_of_two(self, a: Self::Vector) -> Self::Vector;
    /// For a positive normal a = m · 2ⁿ with m in [1, 2): (m, n).
    fn split(self, a: Self::Vector) -> (Self::Vector, Self::Vector);
    /// The sum of the lanes: halves are added until one is left.
    fn sum(self, a: Self::Vector) -> f32;
    /// The sums of the lanes of four vectors.
    #[inline(always)]
    fn four_sums(self, a: [Self::Vector; 4]) -> [f32; 4] {
        a.map(|a| self.sum(a))
    }
    /// Rows become columns.
    fn transpose(self, rows: [Self::Vector; LANES]) -> [Self::Vector; LANES];
    /// Sixteen numbers of half precision.
    fn load_halves(self, from: &[u16; LANES]) -> Self::Vector;
    fn no_sums(self) -> Self::Sums;
    /// Adds the products of sixteen pairs of integers.
    fn add_products(self, sums: Self::Sums, a: &[i16; LANES], b: &[i8; LANES]) -> Self::Sums;
    fn total(self, sums: Self::Sums) -> i32;
    /// A hint that these lanes are needed soon.
    fn prefetch(self, lanes: &Lanes);
}
