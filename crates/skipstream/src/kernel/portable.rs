//! Sixteen lanes on any machine: the reference that other instruction sets must match bit for bit.

use super::instructions::Instructions;
use crate::parameters::{LANES, Lanes};

/// No special instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

#[inline(always)]
fn zip(a: Lanes, b: Lanes, f: impl Fn(f32, f32) -> f32) -> Lanes {
    std::array::from_fn(|i| f(a[i], b[i]))
}

impl Instructions for Portable {
    type Vector = Lanes;
    type Sums = i32;
    const TILE: usize = 4;

    #[inline(always)]
    fn splat(self, value: f32) -> Lanes {
        [value; LANES]
    }

    #[inline(always)]
    fn load(self, from: &Lanes) -> Lanes {
        *from
    }

    #[inline(always)]
    fn store(self, vector: Lanes, to: &mut Lanes) {
        *to = vector;
    }

    #[inline(always)]
    fn add(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn subtract(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn multiply(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn divide(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a / b)
    }

    #[inline(always)]
    fn square_root(self, a: Lanes) -> Lanes {
        a.map(f32::sqrt)
    }

    #[inline(always)]
    fn maximum(self, a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn multiply_add(self, a: Lanes, b: Lanes, c: Lanes) -> Lanes {
        std::array::from_fn(|i| a[i].mul_add(b[i], c[i]))
    }

    #[inline(always)]
    fn absolute(self, a: Lanes) -> Lanes {
        a.map(f32::abs)
    }

    #[inline(always)]
    fn select_negative(self, a: Lanes, negative: Lanes, other: Lanes) -> Lanes {
        std::array::from_fn(|i| if a[i].is_sign_negative() { negative[i] } else { other[i] })
    }

    #[inline(always)]
    fn power_of_two(self, a: Lanes) -> Lanes {
        a.map(|a| f32::from_bits((a.to_bits() << 23).wrapping_add(0x3f80_0000)))
    }

    #[inline(always)]
    fn split(self, a: Lanes) -> (Lanes, Lanes) {
        let mantissa = a.map(|a| f32::from_bits(a.to_bits() & 0x007f_ffff | 0x3f80_0000));
        let exponent = a.map(|a| ((a.to_bits() >> 23) as i32 - 127) as f32);
        (mantissa, exponent)
    }

    #[inline(always)]
    fn sum(self, a: Lanes) -> f32 {
        let eight: [f32; 8] = std::array::from_fn(|i| a[i] + a[i + 8]);
        let four: [f32; 4] = std::array::from_fn(|i| eight[i] + eight[i + 4]);
        (four[0] + four[2]) + (four[1] + four[3])
    }

    #[inline(always)]
    fn transpose(self, rows: [Lanes; LANES]) -> [Lanes; LANES] {
        std::array::from_fn(|i| std::array::from_fn(|j| rows[j][i]))
    }

    /// Where exponents differ by 112, multiplication by a power of two is exact, also of subnormal numbers. A NaN becomes
    /// a quiet one, as processors do it.
    #[inline(always)]
    fn load_halves(self, from: &[u16; LANES]) -> Lanes {
        from.map(|half| {
            let magnitude = u32::from(half & 0x7fff) << 13;
            let finite = (f32::from_bits(magnitude) * f32::from_bits(0x7780_0000)).to_bits();
            let special = if magnitude == 0x0f80_0000 { 0x7f80_0000 } else { magnitude | 0x7fc0_0000 };
            let bits = if magnitude < 0x0f80_0000 { finite } else { special };
            f32::from_bits(bits | u32::from(half & 0x8000) << 16)
        })
    }

    #[inline(always)]
    fn no_sums(self) -> i32 {
        0
    }

    #[inline(always)]
    fn add_products(self, sums: i32, a: &[i16; LANES], b: &[i8; LANES]) -> i32 {
        let products = a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b));
        sums + products.sum::<i32>()
    }

    #[inline(always)]
    fn total(self, sums: i32) -> i32 {
        sums
    }

    #[inline(always)]
    fn prefetch(self, _lanes: &Lanes) {}
}
