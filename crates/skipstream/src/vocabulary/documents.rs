//! In how many documents words occur.

use super::{Entry, Vocabulary, WordId};

/// What a vocabulary has in addition where the text says which document a sentence is of.
///
/// A word occurs for the first time in a document if its last token was before the document's first one.
#[derive(Clone, Debug)]
pub(super) struct Documents {
    /// The number of the document that is read, and its first token.
    current: [u64; 2],
    /// The number of documents that each slot's word has occurred in since it was admitted.
    pub counts: Vec<u64>,
}

impl Documents {
    pub fn current(&self) -> [u64; 2] {
        self.current
    }

    /// Counts the document for a word that has this entry before its next token.
    #[inline]
    pub fn count(&mut self, id: WordId, entry: &Entry) {
        // A pinned word may not have occurred yet.
        let is_first = entry.count == 0 || entry.latest < self.current[1];
        self.counts[id.index()] += u64::from(is_first);
    }
}

impl Vocabulary {
    /// The next tokens are of the document with this number. Documents are counted until text comes that does not say which
    /// it is of.
    pub(crate) fn begin_sentence(&mut self, document: Option<u64>) {
        let Some(number) = document else {
            self.documents = None;
            return;
        };
        let current = [number, self.totals.tokens];
        match &mut self.documents {
            Some(documents) if documents.current[0] == number => {}
            Some(documents) => documents.current = current,
            None => {
                let counts = vec![0; self.entries.len()];
                self.documents = Some(Documents { current, counts });
            }
        }
    }

    /// Whether documents are counted.
    pub(crate) fn has_documents(&self) -> bool {
        self.documents.is_some()
    }

    /// The number of documents in which the word occurred, since it was admitted and documents are counted; 0 if they are
    /// not.
    pub fn document_count(&self, id: WordId) -> u64 {
        self.documents.as_ref().map_or(0, |documents| documents.counts[id.index()])
    }

    /// Takes over saved numbers of documents of the words with these ids, or returns why they are not this vocabulary's.
    pub(crate) fn restore_documents(
        &mut self,
        current: [u64; 2],
        ids: &[WordId],
        saved: &[u64],
    ) -> Result<(), String> {
        if current[1] > self.tokens() {
            return Err(format!("a document begins with token {} of {}", current[1], self.tokens()));
        }
        let mut counts = vec![0; self.len()];
        for (&id, &documents) in ids.iter().zip(saved) {
            if documents > self.count(id) {
                let (word, count) = (self.word(id), self.count(id));
                return Err(format!("`{word}` occurs {count} times in {documents} documents"));
            }
            counts[id.index()] = documents;
        }
        self.documents = Some(Documents { current, counts });
        Ok(())
    }
}
