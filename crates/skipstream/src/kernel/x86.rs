//! AVX-512: a vector is one register. AVX2 with FMA and F16C: a vector is two.

use std::arch::x86_64::*;

use super::instructions::Instructions;
use crate::parameters::{LANES, Lanes};

/// An intrinsic of an instruction set that `self` proves.
macro_rules! proven {
    ($operation:expr) => {
        // SAFETY: the machine has the instructions, as the value `self` proves; memory is reached only through
        // references to sixteen numbers.
        unsafe { $operation }
    };
}

/// Proof that the machine has AVX-512 F.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

/// Proof that the machine has AVX2, FMA and F16C.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx512 {
    pub fn detect() -> Option<Avx512> {
        is_x86_feature_detected!("avx512f").then_some(Avx512(()))
    }
}

impl Avx512 {
    /// Lanes 0 to 7 and lanes 8 to 15, added.
    #[inline(always)]
    fn add_halves(self, a: __m512) -> __m256 {
        let low = proven!(_mm512_castps512_ps256(a));
        let high = proven!(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
        proven!(_mm256_add_ps(low, _mm256_castpd_ps(high)))
    }
}

impl Avx2 {
    pub fn detect() -> Option<Avx2> {
        let is_there = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c");
        is_there.then_some(Avx2(()))
    }

    /// At most eight floats, padded with zeros.
    #[inline(always)]
    fn load_eight(self, from: &[f32]) -> __m256 {
        /// Eight lanes that are read and eight that are not: a window on them is a mask.
        const MASKS: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
        let mask = &MASKS[8 - from.len()..16 - from.len()];
        // SAFETY: the machine has the instructions, as the value `self` proves; the mask has eight numbers, and lanes
        // beyond the slice are not read.
        unsafe { _mm256_maskload_ps(from.as_ptr(), _mm256_loadu_si256(mask.as_ptr().cast())) }
    }
}

impl Instructions for Avx512 {
    type Vector = __m512;
    type Sums = __m256i;
    /// 8 of 32 registers.
    const TILE: usize = 8;

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        proven!(_mm512_set1_ps(value))
    }

    #[inline(always)]
    fn load(self, from: &Lanes) -> __m512 {
        proven!(_mm512_loadu_ps(from.as_ptr()))
    }

    /// By a mask: a copy would be loaded while it is still being stored, which stalls for longer than the row takes.
    #[inline(always)]
    fn load_part(self, from: &[f32]) -> __m512 {
        assert!(from.len() < LANES, "a part is shorter than a vector");
        let mask = (1u16 << from.len()) - 1;
        // SAFETY: the machine has the instructions, as the value `self` proves; lanes beyond the slice are not read.
        unsafe { _mm512_maskz_loadu_ps(mask, from.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, vector: __m512, to: &mut Lanes) {
        proven!(_mm512_storeu_ps(to.as_mut_ptr(), vector))
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        proven!(_mm512_add_ps(a, b))
    }

    #[inline(always)]
    fn subtract(self, a: __m512, b: __m512) -> __m512 {
        proven!(_mm512_sub_ps(a, b))
    }

    #[inline(always)]
    fn multiply(self, a: __m512, b: __m512) -> __m512 {
        proven!(_mm512_mul_ps(a, b))
    }

    #[inline(always)]
    fn divide(self, a: __m512, b: __m512) -> __m512 {
        proven!(_mm512_div_ps(a, b))
    }

    #[inline(always)]
    fn square_root(self, a: __m512) -> __m512 {
        proven!(_mm512_sqrt_ps(a))
    }

    #[inline(always)]
    fn maximum(self, a: __m512, b: __m512) -> __m512 {
        proven!(_mm512_max_ps(a, b))
    }

    #[inline(always)]
    fn multiply_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        proven!(_mm512_fmadd_ps(a, b, c))
    }

    #[inline(always)]
    fn absolute(self, a: __m512) -> __m512 {
        proven!(_mm512_abs_ps(a))
    }

    #[inline(always)]
    fn select_negative(self, a: __m512, negative: __m512, other: __m512) -> __m512 {
        let bits = proven!(_mm512_castps_si512(a));
        let mask = proven!(_mm512_cmplt_epi32_mask(bits, _mm512_setzero_si512()));
        proven!(_mm512_mask_blend_ps(mask, other, negative))
    }

    #[inline(always)]
    fn power_of_two(self, a: __m512) -> __m512 {
        let shifted = proven!(_mm512_slli_epi32(_mm512_castps_si512(a), 23));
        let biased = proven!(_mm512_add_epi32(shifted, _mm512_set1_epi32(0x3f80_0000)));
        proven!(_mm512_castsi512_ps(biased))
    }

    #[inline(always)]
    fn split(self, a: __m512) -> (__m512, __m512) {
        let bits = proven!(_mm512_castps_si512(a));
        let mantissa = proven!(_mm512_and_si512(bits, _mm512_set1_epi32(0x007f_ffff)));
        let mantissa = proven!(_mm512_or_si512(mantissa, _mm512_set1_epi32(0x3f80_0000)));
        let exponent = proven!(_mm512_srli_epi32(bits, 23));
        let exponent = proven!(_mm512_sub_epi32(exponent, _mm512_set1_epi32(127)));
        (proven!(_mm512_castsi512_ps(mantissa)), proven!(_mm512_cvtepi32_ps(exponent)))
    }

    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        proven!(sum_of_eight(self.add_halves(a)))
    }

    #[inline(always)]
    fn four_sums(self, [a, b, c, d]: [__m512; 4]) -> [f32; 4] {
        // Not by `map`: an intrinsic in a closure that is not inlined becomes a call.
        let eights = [self.add_halves(a), self.add_halves(b), self.add_halves(c), self.add_halves(d)];
        proven!(four_sums_of_eight(eights))
    }

    #[inline(always)]
    fn transpose(self, rows: [__m512; LANES]) -> [__m512; LANES] {
        let mut pairs = rows;
        for i in 0..8 {
            let (a, b) = (rows[2 * i], rows[2 * i + 1]);
            pairs[2 * i] = proven!(_mm512_unpacklo_ps(a, b));
            pairs[2 * i + 1] = proven!(_mm512_unpackhi_ps(a, b));
        }
        // quads[4 i + c]: in its 128-bit part p, column 4 p + c of the rows 4 i … 4 i + 3.
        let mut quads = pairs;
        for i in 0..4 {
            for half in 0..2 {
                let a = proven!(_mm512_castps_pd(pairs[4 * i + half]));
                let b = proven!(_mm512_castps_pd(pairs[4 * i + 2 + half]));
                quads[4 * i + 2 * half] = proven!(_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)));
                quads[4 * i + 2 * half + 1] = proven!(_mm512_castpd_ps(_mm512_unpackhi_pd(a, b)));
            }
        }
        let mut columns = quads;
        for c in 0..4 {
            let [a, b] = [quads[c], quads[4 + c]];
            let [d, e] = [quads[8 + c], quads[12 + c]];
            let even = proven!(_mm512_shuffle_f32x4(a, b, 0x88));
            let odd = proven!(_mm512_shuffle_f32x4(a, b, 0xdd));
            let even_below = proven!(_mm512_shuffle_f32x4(d, e, 0x88));
            let odd_below = proven!(_mm512_shuffle_f32x4(d, e, 0xdd));
            columns[c] = proven!(_mm512_shuffle_f32x4(even, even_below, 0x88));
            columns[4 + c] = proven!(_mm512_shuffle_f32x4(odd, odd_below, 0x88));
            columns[8 + c] = proven!(_mm512_shuffle_f32x4(even, even_below, 0xdd));
            columns[12 + c] = proven!(_mm512_shuffle_f32x4(odd, odd_below, 0xdd));
        }
        columns
    }

    #[inline(always)]
    fn load_halves(self, from: &[u16; LANES]) -> __m512 {
        proven!(_mm512_cvtph_ps(_mm256_loadu_si256(from.as_ptr().cast())))
    }

    #[inline(always)]
    fn no_sums(self) -> __m256i {
        proven!(_mm256_setzero_si256())
    }

    #[inline(always)]
    fn add_products(self, sums: __m256i, a: &[i16; LANES], b: &[i8; LANES]) -> __m256i {
        proven!(add_products(sums, a, b))
    }

    #[inline(always)]
    fn total(self, sums: __m256i) -> i32 {
        proven!(total_of_eight(sums))
    }

    #[inline(always)]
    fn prefetch(self, lanes: &Lanes) {
        proven!(_mm_prefetch(lanes.as_ptr().cast(), _MM_HINT_T1))
    }
}

impl Instructions for Avx2 {
    type Vector = [__m256; 2];
    type Sums = __m256i;
    /// 8 of 16 registers. With 8 sums, all of them would be taken, and the sums would be kept in memory.
    const TILE: usize = 4;

    #[inline(always)]
    fn splat(self, value: f32) -> [__m256; 2] {
        [proven!(_mm256_set1_ps(value)); 2]
    }

    #[inline(always)]
    fn load(self, from: &Lanes) -> [__m256; 2] {
        let (low, high) = from.split_at(8);
        [proven!(_mm256_loadu_ps(low.as_ptr())), proven!(_mm256_loadu_ps(high.as_ptr()))]
    }

    /// By masks, for the reason that AVX-512 has.
    #[inline(always)]
    fn load_part(self, from: &[f32]) -> [__m256; 2] {
        let (low, high) = from.split_at(from.len().min(8));
        [self.load_eight(low), self.load_eight(high)]
    }

    #[inline(always)]
    fn store(self, vector: [__m256; 2], to: &mut Lanes) {
        let (low, high) = to.split_at_mut(8);
        proven!(_mm256_storeu_ps(low.as_mut_ptr(), vector[0]));
        proven!(_mm256_storeu_ps(high.as_mut_ptr(), vector[1]));
    }

    #[inline(always)]
    fn add(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_add_ps(a[i], b[i])))
    }

    #[inline(always)]
    fn subtract(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_sub_ps(a[i], b[i])))
    }

    #[inline(always)]
    fn multiply(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_mul_ps(a[i], b[i])))
    }

    #[inline(always)]
    fn divide(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_div_ps(a[i], b[i])))
    }

    #[inline(always)]
    fn square_root(self, a: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_sqrt_ps(a[i])))
    }

    #[inline(always)]
    fn maximum(self, a: [__m256; 2], b: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_max_ps(a[i], b[i])))
    }

    #[inline(always)]
    fn multiply_add(self, a: [__m256; 2], b: [__m256; 2], c: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_fmadd_ps(a[i], b[i], c[i])))
    }

    #[inline(always)]
    fn absolute(self, a: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), a[i])))
    }

    #[inline(always)]
    fn select_negative(self, a: [__m256; 2], negative: [__m256; 2], other: [__m256; 2]) -> [__m256; 2] {
        halves(|i| proven!(_mm256_blendv_ps(other[i], negative[i], a[i])))
    }

    #[inline(always)]
    fn power_of_two(self, a: [__m256; 2]) -> [__m256; 2] {
        halves(|i| {
            let shifted = proven!(_mm256_slli_epi32(_mm256_castps_si256(a[i]), 23));
            let biased = proven!(_mm256_add_epi32(shifted, _mm256_set1_epi32(0x3f80_0000)));
            proven!(_mm256_castsi256_ps(biased))
        })
    }

    #[inline(always)]
    fn split(self, a: [__m256; 2]) -> ([__m256; 2], [__m256; 2]) {
        let mantissa = halves(|i| {
            let bits = proven!(_mm256_castps_si256(a[i]));
            let mantissa = proven!(_mm256_and_si256(bits, _mm256_set1_epi32(0x007f_ffff)));
            let mantissa = proven!(_mm256_or_si256(mantissa, _mm256_set1_epi32(0x3f80_0000)));
            proven!(_mm256_castsi256_ps(mantissa))
        });
        let exponent = halves(|i| {
            let exponent = proven!(_mm256_srli_epi32(_mm256_castps_si256(a[i]), 23));
            let exponent = proven!(_mm256_sub_epi32(exponent, _mm256_set1_epi32(127)));
            proven!(_mm256_cvtepi32_ps(exponent))
        });
        (mantissa, exponent)
    }

    #[inline(always)]
    fn sum(self, a: [__m256; 2]) -> f32 {
        proven!(sum_of_eight(_mm256_add_ps(a[0], a[1])))
    }

    #[inline(always)]
    fn four_sums(self, [a, b, c, d]: [[__m256; 2]; 4]) -> [f32; 4] {
        let eights = [
            proven!(_mm256_add_ps(a[0], a[1])),
            proven!(_mm256_add_ps(b[0], b[1])),
            proven!(_mm256_add_ps(c[0], c[1])),
            proven!(_mm256_add_ps(d[0], d[1])),
        ];
        proven!(four_sums_of_eight(eights))
    }

    #[inline(always)]
    fn transpose(self, rows: [[__m256; 2]; LANES]) -> [[__m256; 2]; LANES] {
        let mut columns = rows;
        for above in 0..2 {
            for left in 0..2 {
                let square = std::array::from_fn(|i| rows[8 * above + i][left]);
                let turned = proven!(transpose_eight(square));
                for i in 0..8 {
                    columns[8 * left + i][above] = turned[i];
                }
            }
        }
        columns
    }

    #[inline(always)]
    fn load_halves(self, from: &[u16; LANES]) -> [__m256; 2] {
        let (low, high) = from.split_at(8);
        [
            proven!(_mm256_cvtph_ps(_mm_loadu_si128(low.as_ptr().cast()))),
            proven!(_mm256_cvtph_ps(_mm_loadu_si128(high.as_ptr().cast()))),
        ]
    }

    #[inline(always)]
    fn no_sums(self) -> __m256i {
        proven!(_mm256_setzero_si256())
    }

    #[inline(always)]
    fn add_products(self, sums: __m256i, a: &[i16; LANES], b: &[i8; LANES]) -> __m256i {
        proven!(add_products(sums, a, b))
    }

    #[inline(always)]
    fn total(self, sums: __m256i) -> i32 {
        proven!(total_of_eight(sums))
    }

    #[inline(always)]
    fn prefetch(self, lanes: &Lanes) {
        proven!(_mm_prefetch(lanes.as_ptr().cast(), _MM_HINT_T1))
    }
}

#[inline(always)]
fn halves(f: impl Fn(usize) -> __m256) -> [__m256; 2] {
    [f(0), f(1)]
}

#[inline]
#[target_feature(enable = "avx")]
fn sum_of_eight(a: __m256) -> f32 {
    let four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)))
}

/// Both sets multiply integers so: AVX-512 F has no wider multiplication of 16 bits, and reading rows takes longer.
#[inline]
#[target_feature(enable = "avx2")]
fn add_products(sums: __m256i, a: &[i16; LANES], b: &[i8; LANES]) -> __m256i {
    // SAFETY: sixteen numbers of 16 bits.
    let a = unsafe { _mm256_loadu_si256(a.as_ptr().cast()) };
    // SAFETY: sixteen bytes.
    let b = unsafe { _mm_loadu_si128(b.as_ptr().cast()) };
    _mm256_add_epi32(sums, _mm256_madd_epi16(a, _mm256_cvtepi8_epi16(b)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn total_of_eight(sums: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b01_00_11_10));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0b10_11_00_01)))
}

/// [`sum_of_eight`] for four vectors at once.
#[inline]
#[target_feature(enable = "avx")]
fn four_sums_of_eight(vectors: [__m256; 4]) -> [f32; 4] {
    let mut fours = [_mm_setzero_ps(); 4];
    for (four, eight) in fours.iter_mut().zip(vectors) {
        *four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    }
    let [a, b, c, d] = fours;
    let ab = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
    let cd = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
    let sums = _mm_add_ps(_mm_shuffle_ps(ab, cd, 0b10_00_10_00), _mm_shuffle_ps(ab, cd, 0b11_01_11_01));
    // SAFETY: four floats and four floats.
    unsafe { std::mem::transmute(sums) }
}

#[inline]
#[target_feature(enable = "avx")]
fn transpose_eight(rows: [__m256; 8]) -> [__m256; 8] {
    let mut pairs = rows;
    for i in 0..4 {
        pairs[2 * i] = _mm256_unpacklo_ps(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm256_unpackhi_ps(rows[2 * i], rows[2 * i + 1]);
    }
    let mut quads = pairs;
    for i in 0..2 {
        for half in 0..2 {
            let (a, b) = (pairs[4 * i + half], pairs[4 * i + 2 + half]);
            quads[4 * i + 2 * half] = _mm256_shuffle_ps(a, b, 0x44);
            quads[4 * i + 2 * half + 1] = _mm256_shuffle_ps(a, b, 0xee);
        }
    }
    let mut columns = quads;
    for c in 0..4 {
        columns[c] = _mm256_permute2f128_ps(quads[c], quads[4 + c], 0x20);
        columns[4 + c] = _mm256_permute2f128_ps(quads[c], quads[4 + c], 0x31);
    }
    columns
}
