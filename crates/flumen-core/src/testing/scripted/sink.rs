//! A sink that delivers numbered events into a log, or does not.

use super::lock;
use crate::{
    event::Batch,
    sink::{DeliverError, Delivery, Retry, Sink},
};
use std::{
    collections::VecDeque,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::{Instant, sleep};

/// What a [`ScriptedSink`] does with one batch. When its script is over, it delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Delivers all of it.
    Deliver,
    /// Delivers the first so many.
    First(u32),
    /// Delivers all but refuses the first event for good.
    Discard,
    /// Sends all; it is safe when [`SinkLog::settle`] says so.
    Hold,
    /// Delivers all and asks for a pause.
    Pause,
    /// Delivers nothing.
    Fail(Retry),
    /// Delivers all, and then fails all the same: the answer was lost.
    DeliverAndFail,
    /// Delivers all, after this time.
    Late(Duration),
    /// Never answers.
    Stall,
}

/// A sink for tests. All sinks of one log share script and memory, so that a rebuilt one goes on where the last one was.
#[derive(Debug)]
pub struct ScriptedSink(Arc<SinkLog>);

/// What was done to sinks, and what they are to do.
#[derive(Debug, Default)]
pub struct SinkLog(Mutex<Log>);

#[derive(Debug, Default)]
struct Log {
    script: VecDeque<Act>,
    batches: Vec<Vec<u64>>,
    delivered: Vec<u64>,
    held: VecDeque<Vec<u64>>,
    settled: u32,
    settle_fails: bool,
    settle_on_deadline: bool,
    settle_on_close: bool,
    deadline: Option<Instant>,
    deadline_fails: bool,
    deadlines: Vec<Instant>,
    delivering: bool,
    deadline_while_delivering: bool,
    built: u32,
    closed: u32,
}

impl SinkLog {
    /// A log for sinks that do this, in order, one for each batch.
    pub fn new(script: impl IntoIterator<Item = Act>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Log { script: script.into_iter().collect(), ..Log::default() })))
    }

    /// One more sink.
    pub fn sink(self: &Arc<Self>) -> ScriptedSink {
        let mut log = lock(&self.0);
        log.built += 1;
        log.forget_held();
        drop(log);
        ScriptedSink(self.clone())
    }

    /// The numbers of each batch that a sink was given.
    pub fn batches(&self) -> Vec<Vec<u64>> {
        lock(&self.0).batches.clone()
    }

    /// The numbers of the events that have arrived, in order; those that are held have, once they are settled.
    pub fn delivered(&self) -> Vec<u64> {
        lock(&self.0).delivered.clone()
    }

    /// Makes the `n` oldest held batches safe. The sink says so when it is asked next.
    pub fn settle(&self, n: u32) {
        lock(&self.0).settle(n);
    }

    /// At the next question the sink says that held batches are lost.
    pub fn lose_held(&self) {
        lock(&self.0).settle_fails = true;
    }

    /// Everything held becomes safe when the sink is called for a deadline.
    pub fn settle_on_deadline(&self) {
        lock(&self.0).settle_on_deadline = true;
    }

    /// Everything held becomes safe when the sink is closed.
    pub fn settle_on_close(&self) {
        lock(&self.0).settle_on_close = true;
    }

    /// When the sink wants to be called; it forgets that when it is.
    pub fn set_deadline(&self, at: Instant, fails: bool) {
        let mut log = lock(&self.0);
        (log.deadline, log.deadline_fails) = (Some(at), fails);
    }

    /// When the sink was called for a deadline.
    pub fn deadlines(&self) -> Vec<Instant> {
        lock(&self.0).deadlines.clone()
    }

    /// Whether the sink was called for a deadline while it delivered.
    pub fn was_disturbed(&self) -> bool {
        lock(&self.0).deadline_while_delivering
    }

    /// How many sinks were made, and how many were closed.
    pub fn built_and_closed(&self) -> (u32, u32) {
        let log = lock(&self.0);
        (log.built, log.closed)
    }
}

impl Log {
    /// What is held goes back into the channel with every error.
    fn forget_held(&mut self) {
        self.held.clear();
        self.settled = 0;
    }

    fn settle(&mut self, n: u32) {
        for _ in 0..n {
            let Some(numbers) = self.held.pop_front() else { return };
            self.delivered.extend(numbers);
            self.settled += 1;
        }
    }

    fn act(&mut self, act: Act, batch: &Batch) -> Result<Delivery, DeliverError> {
        let numbers = crate::testing::numbers(batch);
        match act {
            Act::First(n) => {
                self.delivered.extend(numbers.iter().take(n as usize));
                Ok(Delivery::first(n))
            }
            Act::Hold => {
                self.held.push_back(numbers);
                Ok(Delivery::held(batch))
            }
            Act::Discard => {
                self.delivered.extend(&numbers[1..]);
                Ok(Delivery { discarded: vec![(0, "the script says so")], ..Delivery::all(batch) })
            }
            Act::Fail(retry) => {
                self.forget_held();
                Err(DeliverError { retry, ..DeliverError::backoff("the script says so") })
            }
            Act::DeliverAndFail => {
                self.forget_held();
                self.delivered.extend(numbers);
                Err(DeliverError::backoff("the answer was lost"))
            }
            Act::Deliver | Act::Pause | Act::Late(_) | Act::Stall => {
                self.delivered.extend(numbers);
                Ok(Delivery { pause: act == Act::Pause, ..Delivery::all(batch) })
            }
        }
    }
}

impl Sink for ScriptedSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let act = {
            let mut log = lock(&self.0.0);
            log.batches.push(crate::testing::numbers(batch));
            log.delivering = true;
            log.script.pop_front().unwrap_or(Act::Deliver)
        };
        match act {
            Act::Stall => pending().await,
            Act::Late(time) => sleep(time).await,
            _ => {}
        }
        let mut log = lock(&self.0.0);
        log.delivering = false;
        log.act(act, batch)
    }

    fn next_deadline(&self) -> Option<Instant> {
        lock(&self.0.0).deadline
    }

    async fn on_deadline(&mut self) -> Result<(), DeliverError> {
        let mut log = lock(&self.0.0);
        log.deadlines.push(Instant::now());
        log.deadline_while_delivering |= log.delivering;
        if std::mem::take(&mut log.deadline_fails) {
            log.forget_held();
            return Err(DeliverError::backoff("the script says so"));
        }
        log.deadline = None;
        if log.settle_on_deadline {
            log.settle(u32::MAX);
        }
        Ok(())
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        let mut log = lock(&self.0.0);
        if std::mem::take(&mut log.settle_fails) {
            log.forget_held();
            return Err(DeliverError::backoff("what was held is lost"));
        }
        Ok(std::mem::take(&mut log.settled))
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        let mut log = lock(&self.0.0);
        log.closed += 1;
        if log.settle_on_close {
            log.settle(u32::MAX);
        }
        Ok(())
    }
}
