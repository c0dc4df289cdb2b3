//! Files shared between a trainer and the session.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use skipstream::Result;
use skipstream::corpus::{Files, Read, Sentence, Source};

/// Shared files: each pass over the corpus needs its own source.
#[derive(Clone)]
pub struct Shared(Rc<RefCell<Files>>);

impl Shared {
    pub fn new(files: Files) -> Shared {
        Shared(Rc::new(RefCell::new(files)))
    }

    /// The files, between reads.
    pub fn files(&self) -> RefMut<'_, Files> {
        self.0.borrow_mut()
    }
}

impl Source for Shared {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        self.files().read(sentence)
    }
}
