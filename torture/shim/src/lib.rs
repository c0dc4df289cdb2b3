//! A library for LD_PRELOAD that counts, records and breaks the file calls of a program (Linux only).
//!
//! It takes the place of the C library's functions that change files. Calls for files below one folder are numbered; the rest
//! passes through. The attack decides in the `Control` block at which call the program is killed, or which
//! calls fail. The calls themselves are system calls, so nothing here calls itself.
//!
//! What it does not see: system calls that a program makes without the C library, and files written through memory maps. Neither
//! `skipstream` nor SQLite writes anything durable that way.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, non_snake_case)]

mod control;
mod watch;

use std::ffi::{CStr, c_char, c_int, c_void};

use control::Kind;
use libc::{AT_FDCWD, iovec, mode_t, off_t, size_t, ssize_t};
use watch::{Watched, of_descriptor, of_path};

/// Calls the system directly.
macro_rules! system {
    ($number:ident $(, $argument:expr)*) => {
        // SAFETY: the arguments are the caller's own.
        unsafe { libc::syscall(libc::$number $(, $argument)*) }
    };
}
pub(crate) use system;

fn set_error(error: c_int) {
    // SAFETY: the C library has an error number per thread.
    unsafe { *libc::__errno_location() = error }
}

/// The text of a path, which is the caller's.
fn text<'a>(path: *const c_char) -> &'a CStr {
    // SAFETY: callers pass a string that ends with a zero, as the C function demands.
    unsafe { CStr::from_ptr(path) }
}

fn open_at(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
    let watched = if writes { of_path(folder, text(path)) } else { None };
    let Some(watched) = watched else {
        return system!(SYS_openat, folder, path, flags, mode as c_int) as c_int;
    };
    watched.call(Kind::Open, |record| {
        let existed = system!(SYS_faccessat, folder, path, libc::F_OK) == 0;
        let opened = system!(SYS_openat, folder, path, flags, mode as c_int);
        if opened >= 0 && !existed {
            record.opened(opened as c_int);
        }
        if opened >= 0 && existed && flags & libc::O_TRUNC != 0 {
            record.truncated(opened as c_int, 0);
        }
        opened
    }) as c_int
}

/// Writes, or half of it, and records the bytes.
fn write_at(descriptor: c_int, parts: &[iovec], offset: Option<off_t>) -> ssize_t {
    let real = |parts: &[iovec]| match offset {
        None => system!(SYS_writev, descriptor, parts.as_ptr(), parts.len()),
        Some(offset) => {
            system!(SYS_pwritev, descriptor, parts.as_ptr(), parts.len(), offset, 0 as off_t)
        }
    };
    let Some(watched) = of_descriptor(descriptor) else { return real(parts) as ssize_t };
    // SAFETY: the caller's parts are readable, as the C function demands.
    let bytes =
        |part: &iovec| unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len) };
    let bytes: Vec<u8> = parts.iter().filter(|part| part.iov_len > 0).flat_map(bytes).copied().collect();
    watched.call(Kind::Write, |record| {
        let bytes = record.part_to_write(&bytes);
        let offset = offset.unwrap_or_else(|| watch::position(descriptor));
        let part = iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
        let written = real(&[part]);
        if written > 0 {
            record.wrote(descriptor, offset as u64, &bytes[..written as usize]);
        }
        written
    }) as ssize_t
}

fn truncate_to(descriptor: c_int, length: off_t) -> c_int {
    let real = || system!(SYS_ftruncate, descriptor, length);
    let Some(watched) = of_descriptor(descriptor) else { return real() as c_int };
    watched.call(Kind::Truncate, |record| {
        let done = real();
        if done == 0 {
            record.truncated(descriptor, length as u64);
        }
        done
    }) as c_int
}

fn sync(descriptor: c_int, real: impl FnOnce() -> i64) -> c_int {
    let Some(watched) = of_descriptor(descriptor) else { return real() as c_int };
    watched.call(Kind::Sync, |record| {
        let done = real();
        if done == 0 {
            record.synced(descriptor);
        }
        done
    }) as c_int
}

fn rename_at(
    from_folder: c_int,
    from: *const c_char,
    to_folder: c_int,
    to: *const c_char,
    flags: u32,
) -> c_int {
    let real = || system!(SYS_renameat2, from_folder, from, to_folder, to, flags);
    let Some(watched) = of_path(to_folder, text(to)) else { return real() as c_int };
    let source = watch::absolute(from_folder, text(from));
    watched.call(Kind::Rename, |record| {
        let inode = watch::inode_at(&source);
        let done = real();
        if done == 0 {
            record.two_paths(Kind::Rename, inode, &source);
        }
        done
    }) as c_int
}

fn link_at(
    from_folder: c_int,
    from: *const c_char,
    to_folder: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    let real = || system!(SYS_linkat, from_folder, from, to_folder, to, flags);
    let Some(watched) = of_path(to_folder, text(to)) else { return real() as c_int };
    let source = watch::absolute(from_folder, text(from));
    watched.call(Kind::Link, |record| {
        let inode = watch::inode_at(&source);
        let done = real();
        if done == 0 {
            record.two_paths(Kind::Link, inode, &source);
        }
        done
    }) as c_int
}

/// A call with one path, of which only the path is recorded.
fn with_path(kind: Kind, watched: Option<Watched>, real: impl FnOnce() -> i64) -> c_int {
    let Some(watched) = watched else { return real() as c_int };
    watched.call(kind, |record| {
        let done = real();
        if done == 0 {
            record.named(kind);
        }
        done
    }) as c_int
}

/// The C library's functions.
mod functions {
    use super::*;

    // The mode of `open` is one of the arguments "…" in C; on the platforms of Linux it is passed like any other, and used only
    // if the flags say that it is there.
    macro_rules! take_over {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => {
            $(
                // SAFETY: the function has the signature of the one that it replaces.
                #[unsafe(no_mangle)]
                extern "C" fn $name($($argument: $type),*) -> $result $body
            )*
        };
    }

    take_over! {
        open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int { open_at(AT_FDCWD, path, flags, mode) }
        open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int { open_at(AT_FDCWD, path, flags, mode) }
        openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int { open_at(folder, path, flags, mode) }
        openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int { open_at(folder, path, flags, mode) }
        creat(path: *const c_char, mode: mode_t) -> c_int {
            open_at(AT_FDCWD, path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode)
        }
        creat64(path: *const c_char, mode: mode_t) -> c_int {
            open_at(AT_FDCWD, path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode)
        }
        write(descriptor: c_int, bytes: *mut c_void, length: size_t) -> ssize_t {
            write_at(descriptor, &[iovec { iov_base: bytes, iov_len: length }], None)
        }
        pwrite(descriptor: c_int, bytes: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
            write_at(descriptor, &[iovec { iov_base: bytes, iov_len: length }], Some(offset))
        }
        pwrite64(descriptor: c_int, bytes: *mut c_void, length: size_t, offset: off_t) -> ssize_t {
            write_at(descriptor, &[iovec { iov_base: bytes, iov_len: length }], Some(offset))
        }
        writev(descriptor: c_int, parts: *const iovec, n: c_int) -> ssize_t {
            // SAFETY: the caller passes `n` parts, as the C function demands.
            write_at(descriptor, unsafe { std::slice::from_raw_parts(parts, n as usize) }, None)
        }
        ftruncate(descriptor: c_int, length: off_t) -> c_int { truncate_to(descriptor, length) }
        ftruncate64(descriptor: c_int, length: off_t) -> c_int { truncate_to(descriptor, length) }
        fsync(descriptor: c_int) -> c_int { sync(descriptor, || system!(SYS_fsync, descriptor)) }
        fdatasync(descriptor: c_int) -> c_int { sync(descriptor, || system!(SYS_fdatasync, descriptor)) }
        rename(from: *const c_char, to: *const c_char) -> c_int { rename_at(AT_FDCWD, from, AT_FDCWD, to, 0) }
        renameat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char) -> c_int {
            rename_at(from_folder, from, to_folder, to, 0)
        }
        renameat2(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char, flags: u32) -> c_int {
            rename_at(from_folder, from, to_folder, to, flags)
        }
        link(from: *const c_char, to: *const c_char) -> c_int { link_at(AT_FDCWD, from, AT_FDCWD, to, 0) }
        linkat(from_folder: c_int, from: *const c_char, to_folder: c_int, to: *const c_char, flags: c_int) -> c_int {
            link_at(from_folder, from, to_folder, to, flags)
        }
        unlink(path: *const c_char) -> c_int {
            with_path(Kind::Unlink, of_path(AT_FDCWD, text(path)), || system!(SYS_unlinkat, AT_FDCWD, path, 0))
        }
        unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
            with_path(Kind::Unlink, of_path(folder, text(path)), || system!(SYS_unlinkat, folder, path, flags))
        }
        rmdir(path: *const c_char) -> c_int {
            let real = || system!(SYS_unlinkat, AT_FDCWD, path, libc::AT_REMOVEDIR);
            with_path(Kind::Unlink, of_path(AT_FDCWD, text(path)), real)
        }
        mkdir(path: *const c_char, mode: mode_t) -> c_int {
            let real = || system!(SYS_mkdirat, AT_FDCWD, path, mode);
            with_path(Kind::MakeFolder, of_path(AT_FDCWD, text(path)), real)
        }
        mkdirat(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
            with_path(Kind::MakeFolder, of_path(folder, text(path)), || system!(SYS_mkdirat, folder, path, mode))
        }
        // Copies inside the kernel would go unseen; without them, the standard library reads and writes.
        copy_file_range(_from: c_int, _from_offset: *mut off_t, _to: c_int, _to_offset: *mut off_t, _length: size_t, _flags: u32) -> ssize_t {
            set_error(libc::ENOSYS);
            -1
        }
    }
}
