//! How the processor computes with floats, which the bits of a model depend on.
//!
//! A library that was compiled with `-ffast-math` makes the thread that loads it flush denormal numbers to zero, and so do
//! some hosts themselves. New threads inherit the mode, or have the standard one. So whoever trains sets the standard mode once,
//! before it starts its threads.

use std::marker::PhantomData;

/// A thread's mode for floats until it is dropped, which restores the mode before.
#[derive(Debug)]
pub(crate) struct FloatMode {
    before: control::Mode,
    /// It belongs to the thread that has set it.
    _thread: PhantomData<*mut ()>,
}

impl FloatMode {
    /// The mode of IEEE 754, which Rust assumes: denormal numbers, and results that are rounded to the nearest number.
    pub fn standard() -> FloatMode {
        FloatMode::new(control::STANDARD)
    }

    /// The mode of a host that flushes denormal numbers to zero.
    #[cfg(test)]
    pub fn flushing() -> FloatMode {
        FloatMode::new(control::FLUSHING)
    }

    fn new(mode: control::Mode) -> FloatMode {
        let before = control::read();
        if mode != before {
            control::write(mode);
        }
        FloatMode { before, _thread: PhantomData }
    }
}

impl Drop for FloatMode {
    fn drop(&mut self) {
        if self.before != control::read() {
            control::write(self.before);
        }
    }
}

/// The register MXCSR.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod control {
    use std::arch::asm;

    pub type Mode = u32;

    pub const STANDARD: Mode = 0x1f80;
    #[cfg(test)]
    pub const FLUSHING: Mode = STANDARD | 1 << 15 | 1 << 6;

    /// Bits that report what happened, and do not decide on anything.
    const REPORTS: Mode = 0x3f;

    pub fn read() -> Mode {
        let mut register = 0;
        // SAFETY: it writes the register to a number of its size.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut register, options(nostack, preserves_flags)) };
        register & !REPORTS
    }

    pub fn write(mode: Mode) {
        // SAFETY: the mode is the one that Rust assumes, or was this thread's before. Reserved bits are 0 in both.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, readonly)) };
    }
}

/// The register FPCR.
#[cfg(all(target_arch = "aarch64", not(miri)))]
mod control {
    use std::arch::asm;

    pub type Mode = u64;

    pub const STANDARD: Mode = 0;
    #[cfg(test)]
    pub const FLUSHING: Mode = 1 << 24;

    pub fn read() -> Mode {
        let register;
        // SAFETY: it reads a register that every program may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) register, options(nomem, nostack, preserves_flags)) };
        register
    }

    pub fn write(mode: Mode) {
        // SAFETY: the mode is the one that Rust assumes, or was this thread's before.
        unsafe { asm!("msr fpcr, {}", in(reg) mode, options(nostack)) };
    }
}

/// Elsewhere there is one mode.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod control {
    pub type Mode = u8;

    pub const STANDARD: Mode = 0;
    #[cfg(test)]
    pub const FLUSHING: Mode = 0;

    pub fn read() -> Mode {
        STANDARD
    }

    pub fn write(_: Mode) {}
}
