//! Files that a trainer reads, while we keep a hand on them.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use skipstream::Result;
use skipstream::corpus::{Files, Sentence, Source};

/// Files with two owners: passes over a corpus want a source of their own each time.
#[derive(Clone)]
pub struct Shared(Rc<RefCell<Files>>);

impl Shared {
    /// The first owner.
    pub fn new(files: Files) -> Shared {
        Shared(Rc::new(RefCell::new(files)))
    }

    /// The files, while nobody reads them.
    pub fn files(&self) -> RefMut<'_, Files> {
        self.0.borrow_mut()
    }
}

impl Source for Shared {
    fn read(&mut self, sentence: &mut Sentence) -> Result<bool> {
        self.files().read(sentence)
    }
}
