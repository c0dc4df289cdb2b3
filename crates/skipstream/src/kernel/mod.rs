//! Pairs and negatives → changed rows; and rows → cosines.
//!
//! `tests/scalar.rs` derives the update. `pair.rs`, `group/`, `compare.rs` and `quantized.rs` are written once, for sixteen lanes, and compiled
//! for each instruction set; [`Kernel::best`] chooses at run time. All sets give the same bits. What a set decides is its
//! instructions and how many sums fit in its registers ([`Instructions::TILE`](instructions::Instructions::TILE)).
//!
//! Invariant: apart from the mapping of files (`bytes/map.rs`), `unsafe` is confined to this folder: to `x86.rs`, `arm.rs`,
//! `float_mode.rs` and the calls below.

#[cfg(target_arch = "aarch64")]
mod arm;
mod compare;
mod float_mode;
mod functions;
mod group;
mod instructions;
mod pair;
mod portable;
mod quantized;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::parameters::{Block, Lanes, State};
use portable::Portable;

pub(crate) use float_mode::FloatMode;
pub(crate) use group::{Group, GroupScratch, GroupSettings, NEGATIVES_MULTIPLE, RUN_LENGTH, RUNS};
pub(crate) use quantized::Integers;

/// The instructions that rows are trained with.
#[derive(Clone, Copy, Debug)]
pub struct Kernel(Set);

#[derive(Clone, Copy, Debug)]
enum Set {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(arm::Neon),
}

/// The kernel of the process.
static BEST: OnceLock<Kernel> = OnceLock::new();

/// Work of another module that is compiled for every instruction set. The compiler vectorizes it without fusing
/// additions and multiplications, so that all sets give the same bits.
///
/// `run` and the hot functions that it calls must be `#[inline(always)]`: only inlined code is compiled for each set.
pub(crate) trait Work {
    type Result;

    fn run(self) -> Self::Result;
}

/// How a row follows its gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optimizer {
    pub learning_rate: f32,
    pub dimensions: usize,
}

impl Kernel {
    /// The environment variable from which programs take the name for [`Kernel::choose`]. The library does not read it.
    pub const VARIABLE: &str = "SKIPSTREAM_INSTRUCTIONS";

    /// The fastest kernel that this machine can run, unless another was chosen.
    pub fn best() -> Kernel {
        *BEST.get_or_init(|| Kernel::available().pop().unwrap_or(Kernel(Set::Portable(Portable))))
    }

    /// Makes this kernel the [`best`](Kernel::best) of the whole process, so that tests and benchmarks can run slower
    /// ones. A program does it before anything else.
    pub fn choose(name: &str) -> Result<()> {
        let kernel = Kernel::named(name)?;
        let best = BEST.get_or_init(|| kernel);
        assert_eq!(best.name(), kernel.name(), "the kernel must be chosen before it is used");
        Ok(())
    }

    /// The kernel of this name, if the machine can run it.
    pub fn named(name: &str) -> Result<Kernel> {
        let available = Kernel::available();
        available.iter().copied().find(|kernel| kernel.name() == name).ok_or_else(|| {
            let names: Vec<_> = available.iter().map(|kernel| kernel.name()).collect();
            Error::setting(Kernel::VARIABLE, name, format!("one of {} on this machine", names.join(", ")))
        })
    }

    /// The kernels that this machine can run, the fastest last.
    pub fn available() -> Vec<Kernel> {
        let mut sets = vec![Set::Portable(Portable)];
        #[cfg(target_arch = "x86_64")]
        {
            sets.extend(x86::Avx2::detect().map(Set::Avx2));
            sets.extend(x86::Avx512::detect().map(Set::Avx512));
        }
        #[cfg(target_arch = "aarch64")]
        sets.extend(arm::Neon::detect().map(Set::Neon));
        sets.into_iter().map(Kernel).collect()
    }

    /// The instruction set's name.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable(_) => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Set::Neon(_) => "neon",
        }
    }
}

impl Kernel {
    pub(crate) fn run<W: Work>(self, work: W) -> W::Result {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        fn with_avx2<W: Work>(work: W) -> W::Result {
            work.run()
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn with_avx512<W: Work>(work: W) -> W::Result {
            work.run()
        }
        match self.0 {
            Set::Portable(_) => work.run(),
            // SAFETY: a value of the set is the proof that the machine has it.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => unsafe { with_avx2(work) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => unsafe { with_avx512(work) },
            // NEON is a part of the architecture's base.
            #[cfg(target_arch = "aarch64")]
            Set::Neon(_) => work.run(),
        }
    }
}

/// Compiles functions of the folder for every instruction set, and makes them methods of [`Kernel`].
macro_rules! for_every_set {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? = $function:path;
    )*) => {
        impl Kernel {$(
            $(#[$doc])*
            #[allow(clippy::too_many_arguments)]
            #[inline]
            pub(crate) fn $name(self, $($argument: $type),*) $(-> $result)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma,f16c")]
                #[allow(clippy::too_many_arguments)]
                fn with_avx2(set: x86::Avx2, $($argument: $type),*) $(-> $result)? {
                    $function(set, $($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f")]
                #[allow(clippy::too_many_arguments)]
                fn with_avx512(set: x86::Avx512, $($argument: $type),*) $(-> $result)? {
                    $function(set, $($argument),*)
                }
                match self.0 {
                    Set::Portable(set) => $function(set, $($argument),*),
                    // SAFETY: a value of the set is the proof that the machine has it.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2(set) => unsafe { with_avx2(set, $($argument),*) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512(set) => unsafe { with_avx512(set, $($argument),*) },
                    // NEON is a part of the architecture's base.
                    #[cfg(target_arch = "aarch64")]
                    Set::Neon(set) => $function(set, $($argument),*),
                }
            }
        )*}
    };
}

for_every_set! {
    /// Trains a group, and returns the sum of its losses.
    fn train_group(
        group: &Group,
        settings: GroupSettings,
        targets: &mut Block<'_>,
        contexts: &mut Block<'_>,
        scratch: &mut GroupScratch,
    ) -> f64 = group::train;

    /// Trains a target with one context or one negative: updates the context's row, adds to the target's
    /// gradient, and returns the loss.
    fn train_context(
        optimizer: Optimizer,
        positive: bool,
        target: &[Lanes],
        context: &mut [Lanes],
        state: State<'_>,
        target_gradient: &mut [Lanes],
    ) -> f64 = pair::train_context;

    /// row −= rate · slope · direction, with the rate of the optimizer.
    fn descend(
        optimizer: Optimizer,
        slope: f32,
        direction: &[Lanes],
        row: &mut [Lanes],
        state: State<'_>,
    ) = pair::descend;

    /// Prefetches the contexts and negatives of a group.
    fn prefetch(group: &Group, contexts: &Block<'_>) = group::prefetch;

    fn prefetch_row(row: &[Lanes]) = pair::prefetch_row;

    /// The dot product of two vectors of the same length.
    fn dot(left: &[f32], right: &[f32]) -> f32 = compare::dot;

    /// The dot product of each row with the vector.
    fn dots(vector: &[f32], rows: &[f32], dots: &mut [f32]) = compare::dots;

    /// The dot product of each row with itself.
    fn squares(dimensions: usize, rows: &[f32], squares: &mut [f32]) = compare::squares;

    /// The dot product of each row of bytes with the integers.
    fn integer_dots(integers: &Integers, rows: &[i8], dots: &mut [i32]) = quantized::dots;

    /// Numbers of half precision as floats.
    fn widen(halves: &[u16], floats: &mut [f32]) = quantized::widen;
}

/// σ(x) as the kernels compute it.
#[cfg(test)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    functions::logistic(Portable, [x; crate::parameters::LANES]).sigmoid[0]
}

#[cfg(test)]
mod tests;
