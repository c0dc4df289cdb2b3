//! The logistic function and its logarithm, sixteen at a time, using only exactly rounded operations.

use super::instructions::Instructions;

/// σ(x), and the parts of log(1 + eˣ) = `hinge` + log `factor`.
///
/// The factor is from 1 to 2, so that a hundred of them can be multiplied before one logarithm is taken.
pub(super) struct Logistic<V> {
    pub sigmoid: V,
    pub hinge: V,
    pub factor: V,
}

#[inline(always)]
pub(super) fn logistic<I: Instructions>(i: I, x: I::Vector) -> Logistic<I::Vector> {
    let one = i.splat(1.0);
    let decay = exponential(i, i.subtract(i.splat(0.0), i.absolute(x)));
    let factor = i.add(one, decay);
    let inverse = i.divide(one, factor);
    Logistic {
        sigmoid: i.select_negative(x, i.multiply(decay, inverse), inverse),
        hinge: i.maximum(x, i.splat(0.0)),
        factor,
    }
}

/// eʸ for y ≤ 0, to 2 units in the last place; below −87 it stays at e⁻⁸⁷.
///
/// y = n·log 2 + r with |r| ≤ ½ log 2; eʳ by a polynomial of degree 6 (Cephes' coefficients, as floats), 2ⁿ by its bits.
#[inline(always)]
fn exponential<I: Instructions>(i: I, y: I::Vector) -> I::Vector {
    /// Adding it moves the integer part to the low bits of the mantissa.
    const ROUND: f32 = 12_582_912.0;
    const COEFFICIENTS: [f32; 5] = [1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5];
    let y = i.maximum(y, i.splat(-87.0));
    let shifted = i.multiply_add(y, i.splat(std::f32::consts::LOG2_E), i.splat(ROUND));
    let n = i.subtract(shifted, i.splat(ROUND));
    let r = i.multiply_add(n, i.splat(-0.693_359_4), y);
    let r = i.multiply_add(n, i.splat(2.121_944_4e-4), r);
    let mut p = i.splat(1.987_569_1e-4);
    for c in COEFFICIENTS {
        p = i.multiply_add(p, r, i.splat(c));
    }
    let p = i.multiply_add(p, i.multiply(r, r), i.add(r, i.splat(1.0)));
    i.multiply(p, i.power_of_two(shifted))
}

/// log x for x ≥ 1: n·log 2 + 2 artanh((m − 1)/(m + 1)) with x = m·2ⁿ, to about 10⁻⁷.
#[inline(always)]
pub(super) fn logarithm<I: Instructions>(i: I, x: I::Vector) -> I::Vector {
    let (m, n) = i.split(x);
    let one = i.splat(1.0);
    let s = i.divide(i.subtract(m, one), i.add(m, one));
    let square = i.multiply(s, s);
    let mut p = i.splat(1.0 / 13.0);
    for odd in [11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        p = i.multiply_add(p, square, i.splat(1.0 / odd));
    }
    let log = i.multiply(i.add(s, s), p);
    i.multiply_add(n, i.splat(std::f32::consts::LN_2), log)
}

#[cfg(test)]
mod tests {
    use super::super::portable::Portable;
    use super::*;

    #[test]
    fn the_logistic_function_is_right_everywhere() {
        for step in -40_000..=40_000 {
            let x = step as f32 * 0.005;
            let logistic = logistic(Portable, [x; 16]);
            let exact = 1.0 / (1.0 + (-f64::from(x)).exp());
            let sigmoid = f64::from(logistic.sigmoid[0]);
            assert!((sigmoid - exact).abs() <= 3e-7 * exact + 1e-37, "σ({x}) = {sigmoid}, not {exact}");
            let loss = logistic.hinge[0] + logarithm(Portable, logistic.factor)[0];
            let exact = f64::from(x).max(0.0) + (-f64::from(x).abs()).exp().ln_1p();
            assert!((f64::from(loss) - exact).abs() <= 3e-7 * (1.0 + exact), "at {x}: {loss}, not {exact}");
        }
    }

    #[test]
    fn extreme_logits_stay_finite() {
        for x in [1e30f32, -1e30, f32::MAX, f32::MIN, 0.0, -0.0] {
            let logistic = logistic(Portable, [x; 16]);
            assert!((0.0..=1.0).contains(&logistic.sigmoid[0]));
            assert!(logarithm(Portable, logistic.factor)[0].is_finite());
        }
    }

    #[test]
    fn products_of_factors_have_the_sum_of_logarithms() {
        let product = (0..100).fold(1.0f32, |p, i| p * (1.0 + 1.0 / (1.0 + i as f32)));
        let log = logarithm(Portable, [product; 16])[0];
        assert!((log - product.ln()).abs() < 2e-6 * product.ln());
    }
}
