//! Workers in one process against a trainer: the same rows after every batch.

use std::ops::ControlFlow;

use super::*;
use crate::corpus::Lines;
use crate::error::Result;
use crate::{Config, Error, MiniBatchOptions, Progress, StopReason, Strategy, Trainer};

const SESSION: Session = Session { epoch: 3, attempt: 0 };

/// Workers that are called one after the other.
pub(crate) struct InProcess {
    pub workers: Vec<Worker>,
    started: Option<BatchMessages>,
}

impl InProcess {
    pub fn new(config: &Config, workers: usize) -> InProcess {
        let worker = |number| Worker::new(config.clone(), number, workers, SESSION).unwrap();
        InProcess { workers: (0..workers).map(worker).collect(), started: None }
    }
}

impl Cluster for InProcess {
    fn start(&mut self, messages: BatchMessages) -> Result<()> {
        self.started = Some(messages);
        Ok(())
    }

    fn wait(&mut self) -> Result<Vec<Vec<u8>>> {
        let BatchMessages { batch, own } = self.started.take().expect("a batch was started");
        let n = self.workers.len();
        let begun = self.workers.iter_mut().zip(own).map(|(worker, own)| worker.begin(&batch, &own));
        let needs = begun.collect::<Result<Vec<_>>>()?;
        let of = |messages: &[Vec<Vec<u8>>], to: usize| -> Vec<Vec<u8>> {
            (0..n).filter(|&from| from != to).map(|from| messages[from][to].clone()).collect()
        };
        let mut lent = Vec::new();
        for (to, worker) in self.workers.iter_mut().enumerate() {
            let needs = of(&needs, to);
            lent.push(worker.lend(&needs.iter().map(Vec::as_slice).collect::<Vec<_>>())?);
        }
        let mut passed: Vec<Option<Vec<u8>>> = vec![None; n];
        let mut returned = vec![vec![Vec::new(); n]; n];
        for phase in 1..n {
            let mut next = vec![None; n];
            for (number, worker) in self.workers.iter_mut().enumerate() {
                let home = (number + phase) % n;
                let [on, back] = worker.visit(&lent[home][number], passed[number].as_deref())?;
                next[(number + n - 1) % n] = Some(on);
                returned[number][home] = back;
            }
            passed = next;
        }
        let finished = self.workers.iter_mut().enumerate().map(|(to, worker)| {
            let returned = of(&returned, to);
            worker.finish(&returned.iter().map(Vec::as_slice).collect::<Vec<_>>())
        });
        finished.collect()
    }
}

fn text(lines: usize) -> String {
    let mut random = crate::random::Random::new(5);
    let line =
        |_| (0..12).map(|_| format!("w{} ", (90f64.powf(random.uniform())) as u32)).collect::<String>();
    (0..lines).map(line).collect::<Vec<_>>().join("\n")
}

fn config(blocks: usize) -> Config {
    let options = MiniBatchOptions { blocks, batch_words: 900, replay_words: 1_000, ..Default::default() };
    let strategy = Strategy::MiniBatch(options);
    Config { dimensions: 20, max_vocabulary: 61, subsample: 1e-2, strategy, ..Config::default() }
}

#[test]
fn workers_have_the_rows_of_a_trainer_after_every_batch() {
    let text = text(400);
    for (blocks, workers) in [(1, 1), (4, 1), (4, 2), (4, 3), (8, 4), (8, 5), (8, 8)] {
        let config = config(blocks);
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let mut coordinator = Coordinator::new(config.clone(), workers, SESSION).unwrap();
        let mut cluster =
            InProcess::new(&Config { threads: Some(1 + workers % 2), ..config.clone() }, workers);
        let [mut own, mut other] =
            [(); 2].map(|()| Lines::new(text.as_bytes(), "text", &config.text).unwrap());
        let mut batches = 0;
        loop {
            let mut pause = |_: &Progress| ControlFlow::Break(());
            let stopped = trainer.train_observed(&mut own, &mut pause).unwrap();
            assert_eq!(coordinator.train(&mut other, &mut cluster, &mut pause).unwrap(), stopped);
            assert_same(&trainer, &coordinator, &cluster);
            batches += 1;
            if stopped == StopReason::EndOfText {
                break;
            }
        }
        assert!(batches > 5 && trainer.progress().evictions > 100, "{batches}, {:?}", trainer.progress());
        trainer.finish();
        coordinator.finish(&mut cluster, &mut ()).unwrap();
        assert_same(&trainer, &coordinator, &cluster);
    }
}

fn assert_same(trainer: &Trainer, coordinator: &Coordinator, cluster: &InProcess) {
    assert_eq!(trainer.progress().totals, coordinator.progress().totals);
    let layout = trainer.parameters().layout();
    for id in trainer.vocabulary().ids() {
        let block = layout.block(id);
        let worker = cluster.workers.iter().find(|worker| worker.blocks().contains(&block)).unwrap();
        let row = (block - worker.blocks().start) * layout.rows_per_block + layout.row(id);
        let values = |side: &crate::parameters::Side| side.rows.row(row).as_flattened()[..20].to_vec();
        assert_eq!(trainer.parameters().target(id), values(&worker.target));
        assert_eq!(trainer.parameters().context(id), values(&worker.context));
    }
}

#[test]
fn a_worker_draws_no_more_negatives_than_the_batch_can_need() {
    struct Begun(InProcess);

    impl Cluster for Begun {
        fn start(&mut self, BatchMessages { batch, own }: BatchMessages) -> Result<()> {
            let mut workers = self.0.workers.iter_mut().zip(own);
            workers.try_for_each(|(worker, own)| worker.begin(&batch, &own).map(drop))
        }

        fn wait(&mut self) -> Result<Vec<Vec<u8>>> {
            let of =
                message::Envelope { session: SESSION, batch: 0, kind: message::Kind::Needs, from: 1, to: 0 };
            let mut needs = message::Writer::new(of);
            for _ in 0..2 {
                needs.section(&[1u32 << 15; 2]);
                needs.section::<u32>(&[]);
            }
            let lent = self.0.workers[0].lend(&[&needs.finish()])?;
            panic!("{} bytes were lent", lent[1].len());
        }
    }

    let config = config(4);
    let text = text(50);
    let mut coordinator = Coordinator::new(config.clone(), 2, SESSION).unwrap();
    let mut lines = Lines::new(text.as_bytes(), "text", &config.text).unwrap();
    let mut cluster = Begun(InProcess::new(&config, 2));
    let error = coordinator.train(&mut lines, &mut cluster, &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "a message is damaged");
}

#[test]
fn a_worker_refuses_late_messages_and_goes_no_further() {
    let config = config(4);
    let text = text(50);
    let mut cluster = InProcess::new(&config, 2);
    let late = Session { attempt: 1, ..SESSION };
    let mut coordinator = Coordinator::new(config.clone(), 2, late).unwrap();
    let mut lines = Lines::new(text.as_bytes(), "text", &config.text).unwrap();
    let error = coordinator.train(&mut lines, &mut cluster, &mut ()).unwrap_err();
    assert_eq!(error.to_string(), "a message of attempt 1 came in attempt 0");
    for error in [
        coordinator.train(&mut lines, &mut cluster, &mut ()).unwrap_err(),
        cluster.workers[0].lend(&[]).unwrap_err(),
        cluster.workers[0].begin(&[], &[]).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Message { cause: MessageError::Failed }), "{error}");
    }
}
