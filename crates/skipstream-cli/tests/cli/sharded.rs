//! Models in several files, which `skipstream.ray` trains.

use skipstream::corpus::{Files, Layout};
use skipstream::snapshot::ShardedModel;
use skipstream::train::cluster::{BatchMessages, Cluster, Coordinator, Session, Worker};
use skipstream::{Config, Result};

use crate::desk::{Desk, assert_refused, text};

/// A cluster of one worker.
struct One(Worker, Option<BatchMessages>);

impl Cluster for One {
    fn start(&mut self, messages: BatchMessages) -> Result<()> {
        self.1 = Some(messages);
        Ok(())
    }

    fn wait(&mut self) -> Result<Vec<Vec<u8>>> {
        let BatchMessages { batch, own } = self.1.take().unwrap();
        self.0.begin(&batch, &own[0])?;
        self.0.lend(&[])?;
        Ok(vec![self.0.finish(&[])?])
    }
}

/// Trains a model of one file further, on one worker, and saves it in a folder.
pub fn train_on_a_cluster(desk: &Desk, model: &str, text: &str, folder: &str) {
    let session = Session { epoch: 1, attempt: 0 };
    let mut coordinator = Coordinator::load(desk.path(model), 1, session, None).unwrap();
    let config: Config = coordinator.settings().resolved();
    let mut worker = Worker::new(config, 0, 1, session).unwrap();
    worker.load(desk.path(model)).unwrap();
    let mut cluster = One(worker, None);
    let options = coordinator.settings().text().clone();
    let mut files =
        Files::plan([desk.path(text)], coordinator.ledger(), false, &options, &Layout::Text).unwrap();
    coordinator.train(&mut files, &mut cluster, &mut ()).unwrap();
    files.record_positions(coordinator.ledger_mut()).unwrap();
    let folder = desk.path(folder);
    let shards = [coordinator.save(&folder, "1").unwrap(), cluster.0.save(&folder, "1").unwrap()];
    ShardedModel::commit(&folder, &shards).unwrap();
}

#[test]
fn a_model_in_several_files_is_queried_joined_and_continued() {
    let desk = Desk::new();
    desk.write("a.txt", text(20_000, 1));
    desk.write("b.txt", text(20_000, 2));
    desk.train("m", &["a.txt"]);
    train_on_a_cluster(&desk, "m", "b.txt", "sharded");

    desk.train("m", &["b.txt"]);
    assert_refused(
        &desk.run(&["train", "--model", "sharded", "b.txt"]),
        &["sharded: this is a model in several files", "skipstream join --model sharded FILE"],
    );
    let answer = desk.run(&["join", "--model", "sharded", "joined"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), "sharded: joined into joined\n"));
    assert!(desk.bytes("joined") == desk.bytes("m"));
    let again = ["join", "--model", "sharded", "joined", "--force"];
    assert_refused(&desk.run(&again[..4]), &["joined: the file exists; use --force to replace it"]);
    assert_eq!(desk.run(&again).code, Some(0));
    let word = ShardedModel::open(desk.path("sharded")).unwrap().embeddings(Default::default(), 1).unwrap();
    let ask = |model: &str| desk.run(&["neighbors", "--model", model, word.word(0)]);
    let answer = ask("sharded");
    assert_eq!((answer.code, answer.out), (Some(0), ask("m").out));
    assert_refused(&desk.run(&["join", "--model", "m", "other"]), &["m"]);
}
