use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::io::Write;

use tempfile::TempDir;

use super::*;
use crate::corpus::Position;

#[cfg(feature = "records")]
mod records;

/// A folder of logs, and the ledger of what was learned of them.
struct Desk {
    folder: TempDir,
    ledger: Ledger,
    options: TextOptions,
    layout: Layout,
}

impl Desk {
    fn with(files: &[(&str, &str)]) -> Desk {
        let desk = Desk {
            folder: TempDir::new().unwrap(),
            ledger: Ledger::default(),
            options: TextOptions::default(),
            layout: Layout::Text,
        };
        files.iter().for_each(|(name, text)| desk.write(name, text));
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn append(&self, name: &str, text: &str) {
        let path = self.path(name);
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn follow(&self, names: &[&str]) -> Follow {
        self.try_follow(names).unwrap()
    }

    fn try_follow(&self, names: &[&str]) -> Result<Follow> {
        let paths = names.iter().map(|name| self.path(name));
        Follow::plan(paths, &self.ledger, false, &self.options, &self.layout)
    }

    fn follow_pipe(&self, chunks: Vec<&'static str>) -> Follow {
        self.follow_pipe_from(Position::default(), chunks)
    }

    fn follow_pipe_from(&self, skip: Position, chunks: Vec<&'static str>) -> Follow {
        let reader = Box::new(Silent(chunks.into()));
        let inputs = [Input::Pipe { name: "<stdin>".into(), reader, skip, force_text: false }];
        Follow::plan(inputs, &self.ledger, false, &self.options, &self.layout).unwrap()
    }

    /// The entry of a file: its position and words.
    fn learned(&self, name: &str) -> Option<(u64, u64)> {
        let canonical = self.folder.path().canonicalize().unwrap().join(name);
        self.ledger.source_at(&canonical).map(|learned| (learned.position.offset, learned.words))
    }
}

/// Gives its chunks; one that is empty is a silence.
struct Silent(VecDeque<&'static str>);

impl std::io::Read for Silent {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let Some(chunk) = self.0.pop_front() else { return Ok(0) };
        if chunk.is_empty() {
            return Err(std::io::ErrorKind::WouldBlock.into());
        }
        let (now, later) = chunk.split_at(chunk.len().min(buffer.len()));
        buffer[..now.len()].copy_from_slice(now.as_bytes());
        if !later.is_empty() {
            self.0.push_front(later);
        }
        Ok(now.len())
    }
}

/// All sentences that there are now.
fn read(follow: &mut Follow) -> Vec<String> {
    let mut sentence = Sentence::default();
    let mut sentences = Vec::new();
    while follow.read(&mut sentence).unwrap().is_sentence() {
        sentences.push(sentence.tokens().collect::<Vec<_>>().join(" "));
    }
    sentences
}

fn events(follow: &mut Follow) -> Vec<FollowEvent> {
    follow.take_notes().into_iter().map(|note| note.event).collect()
}

#[test]
fn files_that_are_not_text_are_not_followed() {
    let desk = Desk::with(&[("a", "one\n"), ("b", "%PDF-1.7 two\n")]);
    let plan = |b: fn(PathBuf) -> Input| {
        let inputs = [Input::File(desk.path("a")), b(desk.path("b"))];
        Follow::plan(inputs, &desk.ledger, false, &desk.options, &desk.layout)
    };
    assert!(plan(Input::File).err().unwrap().to_string().contains("a PDF document"));
    let mut follow = plan(Input::Found).unwrap();
    assert_eq!(events(&mut follow), [FollowEvent::NotText]);
    assert_eq!(read(&mut follow), ["one"]);
    assert_eq!(read(&mut plan(Input::Forced).unwrap()), ["one", "%PDF-1.7 two"]);
}

#[test]
fn a_file_that_becomes_binary_is_not_read_until_it_is_text_again() {
    let desk = Desk::with(&[("a", "one\n"), ("b", "two\n")]);
    let mut follow = desk.follow(&["a", "b", "late"]);
    assert_eq!(read(&mut follow), ["one", "two"]);
    events(&mut follow);
    desk.write("a", "%PDF-1.7 truncated\n");
    desk.rename("b", "b.1");
    desk.write("b", "%PDF-1.7 replaced\n");
    desk.write("late", "%PDF-1.7 late\n");
    assert!(read(&mut follow).is_empty() && read(&mut follow).is_empty());
    let events = events(&mut follow);
    assert_eq!(events.iter().filter(|event| **event == FollowEvent::NotText).count(), 3, "{events:?}");
    desk.append("a", "more of it\n");
    assert!(read(&mut follow).is_empty());
    desk.write("a", "three\n");
    desk.rename("b", "b.2");
    desk.write("b", "four\n");
    let mut sentences = read(&mut follow);
    sentences.sort();
    assert_eq!(sentences, ["four", "three"]);
}

#[test]
fn a_forced_file_is_text_whatever_it_becomes() {
    let desk = Desk::with(&[("a", "one\n")]);
    let inputs = [Input::Forced(desk.path("a"))];
    let mut follow = Follow::plan(inputs, &desk.ledger, false, &desk.options, &desk.layout).unwrap();
    assert_eq!(read(&mut follow), ["one"]);
    desk.write("a", "%PDF-1.7 two\n");
    assert_eq!(read(&mut follow), ["%PDF-1.7 two"]);
}

#[test]
fn text_is_read_as_it_comes_from_several_files() {
    let desk = Desk::with(&[("a", "one two\nthr"), ("b", "")]);
    let mut follow = desk.follow(&["a", "b"]);
    assert_eq!(read(&mut follow), ["one two"]);
    assert!(read(&mut follow).is_empty());
    desk.append("b", "four\n");
    desk.append("a", "ee\n");
    assert_eq!(read(&mut follow), ["three", "four"]);
    assert_eq!((follow.report().lines, follow.report().tokens), (3, 4));
    assert_eq!(events(&mut follow), [FollowEvent::Begun], "of b, which was empty");
}

#[test]
fn a_file_with_endless_text_lets_others_have_their_turn() {
    let desk = Desk::with(&[("a", &"busy\n".repeat(TURN_SENTENCES + 1)), ("b", "calm\n")]);
    let sentences = read(&mut desk.follow(&["a", "b"]));
    assert_eq!(sentences.iter().position(|sentence| sentence == "calm"), Some(TURN_SENTENCES));
    assert_eq!(sentences.len(), TURN_SENTENCES + 2);
}

#[test]
fn a_file_that_is_not_there_is_waited_for() {
    let mut desk = Desk::with(&[]);
    let mut follow = desk.follow(&["a"]);
    assert!(read(&mut follow).is_empty());
    assert_eq!(events(&mut follow), [FollowEvent::Awaited]);
    desk.write("a", "one\n");
    assert_eq!(read(&mut follow), ["one"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learned("a"), Some((4, 1)));
}

#[test]
fn of_a_renamed_file_the_rest_is_read_before_the_new_one() {
    let mut desk = Desk::with(&[("a", "one\n")]);
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["one"]);
    desk.rename("a", "a.1");
    desk.append("a.1", "two\nthr");
    assert_eq!(read(&mut follow), ["two"], "its writer has not noticed yet");
    desk.write("a", "");
    assert!(read(&mut follow).is_empty(), "nor now");
    desk.append("a.1", "ee");
    desk.write("a", "four\n");
    assert_eq!(read(&mut follow), ["three", "four"]);
    assert_eq!(events(&mut follow), [FollowEvent::Replaced, FollowEvent::Begun]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learned("a"), Some((5, 1)));
    assert_eq!(follow.report().tokens, 4);
}

#[test]
fn a_file_that_was_deleted_and_made_again_is_new() {
    let desk = Desk::with(&[("a", "one\n")]);
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["one"]);
    fs::remove_file(desk.path("a")).unwrap();
    assert!(read(&mut follow).is_empty());
    desk.write("a", "one\ntwo\n");
    assert_eq!(read(&mut follow), ["one", "two"]);
}

#[test]
fn a_file_that_was_cut_is_read_from_its_start() {
    for text in ["two\n", "two, which is longer than what was there\n"] {
        let mut desk = Desk::with(&[("a", "one and one\n")]);
        let mut follow = desk.follow(&["a"]);
        assert_eq!(read(&mut follow), ["one and one"]);
        follow.record_positions(&mut desk.ledger).unwrap();
        desk.write("a", "");
        assert!(read(&mut follow).is_empty());
        follow.record_positions(&mut desk.ledger).unwrap();
        assert_eq!(desk.learned("a"), None, "nothing is learned of what it is now");
        desk.append("a", text);
        assert_eq!(read(&mut follow), [text.trim()]);
        assert_eq!(events(&mut follow), [FollowEvent::Truncated, FollowEvent::Begun]);
    }
}

#[test]
fn a_file_that_is_cut_before_all_of_it_was_read_is_read_from_its_start() {
    let desk = Desk::with(&[("a", &"backlog of many lines\n".repeat(20_000))]);
    let mut follow = desk.follow(&["a"]);
    assert!(follow.read(&mut Sentence::default()).unwrap().is_sentence());
    desk.write("a", "two\n");
    let sentences = read(&mut follow);
    assert_eq!(sentences.last().unwrap(), "two");
    let (lost, old) = (20_000 - sentences.len(), &sentences[..sentences.len() - 1]);
    assert!(lost > 0 && old.iter().all(|sentence| sentence == "backlog of many lines"));
    assert_eq!(events(&mut follow), [FollowEvent::Truncated, FollowEvent::Begun]);
}

#[test]
fn a_file_goes_on_where_it_was_left() {
    let mut desk = Desk::with(&[("a", "one\ntwo\nthr")]);
    let mut follow = desk.follow(&["a"]);
    read(&mut follow);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learned("a"), Some((8, 2)));
    desk.append("a", "ee\nfour\n");
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["three", "four"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learned("a"), Some((19, 4)));
    assert!(follow.take_notes().is_empty());
}

#[test]
fn a_file_that_was_rotated_meanwhile_is_finished_under_its_new_name() {
    let mut desk = Desk::with(&[("a", "one\n")]);
    let mut follow = desk.follow(&["a"]);
    read(&mut follow);
    follow.record_positions(&mut desk.ledger).unwrap();
    drop(follow);
    desk.append("a", "two\nthree");
    desk.rename("a", "a.1");

    // Before there is a new one, and then with it.
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["two"], "its writer may not have noticed yet");
    assert!(events(&mut follow).contains(&FollowEvent::Renamed { renamed: desk.path("a.1") }));
    drop(follow);
    desk.write("a", "four\n");
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["two", "three", "four"], "the first time was not recorded");
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(desk.learned("a"), Some((5, 1)));
    assert!(read(&mut desk.follow(&["a"])).is_empty());
}

#[test]
fn a_file_that_was_rotated_away_is_new() {
    let mut desk = Desk::with(&[("a", "one\n"), ("a.1", "of another day\n")]);
    let mut follow = desk.follow(&["a"]);
    read(&mut follow);
    follow.record_positions(&mut desk.ledger).unwrap();
    drop(follow);
    fs::remove_file(desk.path("a")).unwrap();
    desk.write("a", "two\n");
    let mut follow = desk.follow(&["a"]);
    assert_eq!(read(&mut follow), ["two"]);
    assert_eq!(events(&mut follow), [FollowEvent::ReplacedEarlier, FollowEvent::Begun]);
}

#[test]
fn the_rest_of_an_old_file_is_not_learned_twice_while_the_new_one_has_no_whole_line() {
    let mut desk = Desk::with(&[("a", "one\n")]);
    let mut follow = desk.follow(&["a"]);
    read(&mut follow);
    follow.record_positions(&mut desk.ledger).unwrap();
    desk.append("a", "two\n");
    desk.rename("a", "a.1");
    desk.write("a", "thr");
    assert_eq!(read(&mut follow), ["two"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    drop(follow);
    desk.append("a", "ee\n");
    assert_eq!(read(&mut desk.follow(&["a"])), ["three"]);
}

#[test]
fn what_cannot_be_followed_is_an_error_at_once() {
    let desk = Desk::with(&[]);
    fs::create_dir(desk.path("folder")).unwrap();
    fs::write(desk.path("a.gz"), [0x1F, 0x8B, 8, 0, 0, 0, 0, 0]).unwrap();
    let message = |name: &str| desk.try_follow(&[name]).err().unwrap().to_string();
    assert!(message("folder").contains("folder"));
    assert!(message("a.gz").ends_with("a.gz: a compressed file cannot be followed"));
    assert!(message("none/a").contains("none/a"));
    assert_eq!(message("/dev/null"), "/dev/null: a named pipe or a device cannot be followed");
}

#[test]
fn a_pipe_is_read_until_it_is_silent_and_goes_on() {
    let mut desk = Desk::with(&[]);
    let mut follow = desk.follow_pipe(vec!["one one\n", "", "two\n"]);
    assert_eq!(read(&mut follow), ["one one"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!(read(&mut follow), ["two"]);
    assert_eq!(follow.read(&mut Sentence::default()).unwrap(), Read::End);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!((desk.ledger.piped_words, desk.ledger.last_pipe.offset), (3, 12));
}

#[test]
fn a_pipe_that_begins_with_silence_is_still_looked_at() {
    let desk = Desk::with(&[]);
    let mut follow = desk.follow_pipe(vec!["", "BZh91AY&SY"]);
    assert!(read(&mut follow).is_empty());
    let error = follow.read(&mut Sentence::default()).unwrap_err().to_string();
    assert!(error == "<stdin>: compressed text cannot be followed", "{error}");
}

#[test]
fn what_is_to_be_passed_over_may_come_after_silence_and_with_silence_in_it() {
    let mut desk = Desk::with(&[]);
    let mut follow =
        desk.follow_pipe_from(Position::at(16), vec!["", "one one\n", "", "two two\nthree\n", "", "four\n"]);
    for _ in 0..2 {
        assert_eq!(follow.read(&mut Sentence::default()).unwrap(), Read::Pending);
    }
    assert_eq!(read(&mut follow), ["three"]);
    assert_eq!(read(&mut follow), ["four"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!((desk.ledger.piped_bytes, desk.ledger.last_pipe.offset), (11, 27));
}

#[test]
fn a_pipe_that_ends_within_what_is_to_be_passed_over_is_an_error() {
    let desk = Desk::with(&[]);
    for chunks in [vec![""], vec!["", "one one\n"], vec!["one one\n", "", "two\n", ""]] {
        let silences = chunks.iter().filter(|chunk| chunk.is_empty()).count();
        let mut follow = desk.follow_pipe_from(Position::at(16), chunks);
        for _ in 0..silences {
            assert_eq!(follow.read(&mut Sentence::default()).unwrap(), Read::Pending);
        }
        let error = follow.read(&mut Sentence::default()).unwrap_err().to_string();
        assert_eq!(error, "<stdin>: the text ends before byte 16, where reading was to continue");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_to_where_it_leads_now() {
    let mut desk = Desk::with(&[("monday", "one\n"), ("tuesday", "two\n")]);
    let link = |desk: &Desk, to: &str| {
        let _ = fs::remove_file(desk.path("today"));
        std::os::unix::fs::symlink(desk.path(to), desk.path("today")).unwrap();
    };
    link(&desk, "monday");
    let mut follow = desk.follow(&["today", "monday"]);
    assert_eq!(read(&mut follow), ["one"], "both names are of one file");
    link(&desk, "tuesday");
    assert_eq!(read(&mut follow), ["two"]);
    follow.record_positions(&mut desk.ledger).unwrap();
    assert_eq!((desk.learned("monday"), desk.learned("tuesday")), (Some((4, 1)), Some((4, 1))));
    assert!(read(&mut desk.follow(&["today"])).is_empty());
}
