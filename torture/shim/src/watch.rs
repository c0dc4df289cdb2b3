//! Which calls are watched, and what happens at one.

use std::ffi::{CStr, CString, OsStr, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::{env, mem, ptr};

use crate::control::{self, Action, Control, Head, Kind};
use crate::{set_error, system};

/// What the environment says.
struct Setup {
    root: PathBuf,
    control: &'static Control,
    /// The journal's descriptor. One call at a time, so that the journal has their order.
    journal: Option<c_int>,
    turn: Mutex<()>,
}

static SETUP: OnceLock<Option<Setup>> = OnceLock::new();

fn setup() -> Option<&'static Setup> {
    SETUP.get_or_init(Setup::new).as_ref()
}

impl Setup {
    fn new() -> Option<Setup> {
        let root = PathBuf::from(env::var_os(control::ROOT)?);
        let control = open(&env::var_os(control::CONTROL)?, libc::O_RDWR)?;
        // SAFETY: the attack has made the file as long as the block.
        let block = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(ptr::null_mut(), size_of::<Control>(), access, libc::MAP_SHARED, control, 0)
        };
        if block == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the map is as long as the block, aligned to a page, and stays. All its numbers are atomic.
        let control = unsafe { &*block.cast::<Control>() };
        let journal = env::var_os(control::JOURNAL)
            .and_then(|path| open(&path, libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND));
        Some(Setup { root, control, journal, turn: Mutex::new(()) })
    }
}

fn open(path: &OsStr, flags: c_int) -> Option<c_int> {
    let path = CString::new(path.as_bytes()).ok()?;
    let opened = system!(SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags | libc::O_CLOEXEC, 0o600 as c_int);
    c_int::try_from(opened).ok().filter(|descriptor| *descriptor >= 0)
}

/// A call for a file of the folder.
pub struct Watched {
    setup: &'static Setup,
    path: PathBuf,
}

/// Whether a path is in the watched folder.
pub fn of_path(folder: c_int, path: &CStr) -> Option<Watched> {
    let setup = setup()?;
    let path = absolute(folder, path);
    path.starts_with(&setup.root).then_some(Watched { setup, path })
}

/// Whether an open file is in the watched folder. (It is asked for each time: descriptors are copied and reused.)
pub fn of_descriptor(descriptor: c_int) -> Option<Watched> {
    let setup = setup()?;
    let path = behind(descriptor)?;
    path.starts_with(&setup.root).then_some(Watched { setup, path })
}

/// The path of an open file.
fn behind(descriptor: c_int) -> Option<PathBuf> {
    let link = CString::new(format!("/proc/self/fd/{descriptor}")).ok()?;
    let mut target = [0u8; libc::PATH_MAX as usize];
    let length = system!(SYS_readlinkat, libc::AT_FDCWD, link.as_ptr(), target.as_mut_ptr(), target.len());
    let target = target.get(..usize::try_from(length).ok()?)?;
    Some(PathBuf::from(OsStr::from_bytes(target)))
}

/// A path from the root of the file system. Links are not followed: an attack names its folder without any.
pub fn absolute(folder: c_int, path: &CStr) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let folder = match folder {
        _ if path.is_absolute() => None,
        libc::AT_FDCWD => env::current_dir().ok(),
        _ => behind(folder),
    };
    folder.map_or_else(|| path.to_owned(), |folder| folder.join(path)).components().collect()
}

/// The next position to write at.
pub fn position(descriptor: c_int) -> libc::off_t {
    let flags = system!(SYS_fcntl, descriptor, libc::F_GETFL);
    if flags & i64::from(libc::O_APPEND) != 0 {
        return status(descriptor).map_or(0, |status| status.st_size);
    }
    system!(SYS_lseek, descriptor, 0 as libc::off_t, libc::SEEK_CUR)
}

fn status(descriptor: c_int) -> Option<libc::stat> {
    // SAFETY: zeros are a valid `stat`, and `fstat` fills it.
    unsafe {
        let mut status: libc::stat = mem::zeroed();
        (libc::fstat(descriptor, &raw mut status) == 0).then_some(status)
    }
}

/// The identity of the file at a path; 0 if there is none.
pub fn inode_at(path: &Path) -> u64 {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return 0 };
    // SAFETY: zeros are a valid `stat`, and `lstat` fills it.
    unsafe {
        let mut status: libc::stat = mem::zeroed();
        if libc::lstat(path.as_ptr(), &raw mut status) == 0 { status.st_ino } else { 0 }
    }
}

impl Watched {
    /// Numbers the call, makes it with `real`, and does what the attack asks for at this number.
    pub fn call(self, kind: Kind, real: impl FnOnce(&mut Record<'_>) -> i64) -> i64 {
        let control = self.setup.control;
        let turn = self.setup.journal.map(|_| lock(&self.setup.turn));
        let call = control.calls.fetch_add(1, SeqCst) + 1;
        let meant = (control.first.load(SeqCst)..=control.last.load(SeqCst)).contains(&call)
            && control.kinds.load(SeqCst) & kind.bit() != 0;
        let action = if meant { control.action.load(SeqCst) } else { 0 };
        let is = |one: Action| action == one as u64;
        if is(Action::KillBefore) {
            kill();
        }
        if is(Action::Fail) {
            set_error(control.argument.load(SeqCst) as c_int);
            return -1;
        }
        if is(Action::Slow) {
            let milliseconds = control.argument.load(SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        }
        let halve = is(Action::WriteShort) || is(Action::KillInside);
        let mut record = Record { watched: &self, call, halve };
        let done = real(&mut record);
        // SAFETY: the C library has an error number per thread.
        let error = unsafe { *libc::__errno_location() };
        if is(Action::KillInside) || is(Action::KillAfter) {
            kill();
        }
        drop(turn);
        set_error(error);
        done
    }
}

fn lock(turn: &Mutex<()>) -> MutexGuard<'_, ()> {
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

fn kill() -> ! {
    let process = system!(SYS_getpid);
    system!(SYS_kill, process, libc::SIGKILL);
    loop {
        std::thread::park();
    }
}

/// A call that is being made, for the journal.
pub struct Record<'a> {
    watched: &'a Watched,
    call: u64,
    halve: bool,
}

impl Record<'_> {
    /// What a write is to write: everything, or half of it.
    pub fn part_to_write<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        if self.halve && bytes.len() > 1 { &bytes[..bytes.len() / 2] } else { bytes }
    }

    pub fn opened(&mut self, descriptor: c_int) {
        self.of_open(Kind::Open, descriptor, 0, &[]);
    }

    pub fn truncated(&mut self, descriptor: c_int, length: u64) {
        self.of_open(Kind::Truncate, descriptor, length, &[]);
    }

    pub fn wrote(&mut self, descriptor: c_int, offset: u64, bytes: &[u8]) {
        self.of_open(Kind::Write, descriptor, offset, bytes);
    }

    pub fn synced(&mut self, descriptor: c_int) {
        self.of_open(Kind::Sync, descriptor, 0, &[]);
    }

    pub fn two_paths(&mut self, kind: Kind, inode: u64, from: &Path) {
        self.add(kind, inode, 0, from.as_os_str().as_bytes());
    }

    pub fn named(&mut self, kind: Kind) {
        self.add(kind, 0, 0, &[]);
    }

    fn of_open(&mut self, kind: Kind, descriptor: c_int, offset: u64, bytes: &[u8]) {
        let inode = status(descriptor).map_or(0, |status| status.st_ino);
        self.add(kind, inode, offset, bytes);
    }

    /// Adds to the journal with one system call, so that a record is whole even if the program is killed.
    fn add(&mut self, kind: Kind, inode: u64, offset: u64, second: &[u8]) {
        let Some(journal) = self.watched.setup.journal else { return };
        let path = self.watched.path.as_os_str().as_bytes();
        let lengths = [path.len() as u64, second.len() as u64];
        let head = Head { call: self.call, kind: kind as u64, inode, offset, lengths };
        let record = [&head.to_bytes()[..], path, second].concat();
        system!(SYS_write, journal, record.as_ptr(), record.len());
    }
}
