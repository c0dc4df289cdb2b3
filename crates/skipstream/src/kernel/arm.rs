//! NEON: a vector is four registers.

// NEON is in the architecture's base, so newer compilers find most of these operations safe already.
#![allow(unused_unsafe)]

use std::arch::aarch64::*;

use super::instructions::Instructions;
use super::portable::Portable;
use crate::parameters::{LANES, Lanes};

/// Proof that the machine has NEON, as all of its kind do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Neon(());

impl Neon {
    pub fn detect() -> Option<Neon> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }
}

/// An intrinsic that `self` proves.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: the machine has the instructions, as the value `self` proves; memory is reached only through
        // references to sixteen numbers.
        unsafe { $operation }
    };
}

type Quarters = [float32x4_t; 4];

#[inline(always)]
fn quarters(f: impl Fn(usize) -> float32x4_t) -> Quarters {
    [f(0), f(1), f(2), f(3)]
}

impl Instructions for Neon {
    type Vector = Quarters;
    type Sums = int32x4_t;
    /// 16 of 32 registers.
    const TILE: usize = 4;

    #[inline(always)]
    fn splat(self, value: f32) -> Quarters {
        [proven!(vdupq_n_f32(value)); 4]
    }

    #[inline(always)]
    fn load(self, from: &Lanes) -> Quarters {
        let (parts, _) = from.as_chunks::<4>();
        quarters(|i| proven!(vld1q_f32(parts[i].as_ptr())))
    }

    #[inline(always)]
    fn store(self, vector: Quarters, to: &mut Lanes) {
        let (parts, _) = to.as_chunks_mut::<4>();
        for (part, quarter) in parts.iter_mut().zip(vector) {
            proven!(vst1q_f32(part.as_mut_ptr(), quarter));
        }
    }

    #[inline(always)]
    fn add(self, a: Quarters, b: Quarters) -> Quarters {
        quarters(|i| proven!(vaddq_f32(a[i], b[i])))
    }

    #[inline(always)]
    fn subtract(self, a: Quarters, b: Quarters) -> Quarters {
        quarters(|i| proven!(vsubq_f32(a[i], b[i])))
    }

    #[inline(always)]
    fn multiply(self, a: Quarters, b: Quarters) -> Quarters {
        quarters(|i| proven!(vmulq_f32(a[i], b[i])))
    }

    #[inline(always)]
    fn divide(self, a: Quarters, b: Quarters) -> Quarters {
        quarters(|i| proven!(vdivq_f32(a[i], b[i])))
    }

    #[inline(always)]
    fn square_root(self, a: Quarters) -> Quarters {
        quarters(|i| proven!(vsqrtq_f32(a[i])))
    }

    #[inline(always)]
    fn maximum(self, a: Quarters, b: Quarters) -> Quarters {
        quarters(|i| {
            let greater = proven!(vcgtq_f32(a[i], b[i]));
            proven!(vbslq_f32(greater, a[i], b[i]))
        })
    }

    #[inline(always)]
    fn multiply_add(self, a: Quarters, b: Quarters, c: Quarters) -> Quarters {
        quarters(|i| proven!(vfmaq_f32(c[i], a[i], b[i])))
    }

    #[inline(always)]
    fn absolute(self, a: Quarters) -> Quarters {
        quarters(|i| proven!(vabsq_f32(a[i])))
    }

    #[inline(always)]
    fn select_negative(self, a: Quarters, negative: Quarters, other: Quarters) -> Quarters {
        quarters(|i| {
            let sign = proven!(vcltzq_s32(vreinterpretq_s32_f32(a[i])));
            proven!(vbslq_f32(sign, negative[i], other[i]))
        })
    }

    #[inline(always)]
    fn power_of_two(self, a: Quarters) -> Quarters {
        quarters(|i| {
            let shifted = proven!(vshlq_n_s32::<23>(vreinterpretq_s32_f32(a[i])));
            let biased = proven!(vaddq_s32(shifted, vdupq_n_s32(0x3f80_0000)));
            proven!(vreinterpretq_f32_s32(biased))
        })
    }

    #[inline(always)]
    fn split(self, a: Quarters) -> (Quarters, Quarters) {
        let mantissa = quarters(|i| {
            let bits = proven!(vreinterpretq_u32_f32(a[i]));
            let mantissa = proven!(vandq_u32(bits, vdupq_n_u32(0x007f_ffff)));
            let mantissa = proven!(vorrq_u32(mantissa, vdupq_n_u32(0x3f80_0000)));
            proven!(vreinterpretq_f32_u32(mantissa))
        });
        let exponent = quarters(|i| {
            let exponent = proven!(vshrq_n_u32::<23>(vreinterpretq_u32_f32(a[i])));
            let exponent = proven!(vsubq_s32(vreinterpretq_s32_u32(exponent), vdupq_n_s32(127)));
            proven!(vcvtq_f32_s32(exponent))
        });
        (mantissa, exponent)
    }

    #[inline(always)]
    fn sum(self, a: Quarters) -> f32 {
        let eight = [proven!(vaddq_f32(a[0], a[2])), proven!(vaddq_f32(a[1], a[3]))];
        let four = proven!(vaddq_f32(eight[0], eight[1]));
        let two = proven!(vadd_f32(vget_low_f32(four), vget_high_f32(four)));
        proven!(vget_lane_f32::<0>(two)) + proven!(vget_lane_f32::<1>(two))
    }

    #[inline(always)]
    fn transpose(self, rows: [Quarters; LANES]) -> [Quarters; LANES] {
        let rows = rows.map(|row| {
            let mut lanes = [0.0; LANES];
            self.store(row, &mut lanes);
            lanes
        });
        Portable.transpose(rows).map(|row| self.load(&row))
    }

    #[inline(always)]
    fn load_halves(self, from: &[u16; LANES]) -> Quarters {
        self.load(&Portable.load_halves(from))
    }

    #[inline(always)]
    fn no_sums(self) -> int32x4_t {
        proven!(vdupq_n_s32(0))
    }

    #[inline(always)]
    fn add_products(self, sums: int32x4_t, a: &[i16; LANES], b: &[i8; LANES]) -> int32x4_t {
        let (low, high) = a.split_at(8);
        let [low, high] = [proven!(vld1q_s16(low.as_ptr())), proven!(vld1q_s16(high.as_ptr()))];
        let b = proven!(vld1q_s8(b.as_ptr()));
        let b_low = proven!(vmovl_s8(vget_low_s8(b)));
        let b_high = proven!(vmovl_high_s8(b));
        let sums = proven!(vmlal_s16(sums, vget_low_s16(low), vget_low_s16(b_low)));
        let sums = proven!(vmlal_high_s16(sums, low, b_low));
        let sums = proven!(vmlal_s16(sums, vget_low_s16(high), vget_low_s16(b_high)));
        proven!(vmlal_high_s16(sums, high, b_high))
    }

    #[inline(always)]
    fn total(self, sums: int32x4_t) -> i32 {
        proven!(vaddvq_s32(sums))
    }

    #[inline(always)]
    fn prefetch(self, _lanes: &Lanes) {}
}
