//! Several calls under way on one connection: a task reads the answers, and tells how many of the oldest calls are stored.

use flumen_core::{channel::Signal, event::Batch};
use flumen_rpc::avro::{Receiver, Sender};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};

/// A connection with calls under way. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Pipe {
    sender: Sender,
    calls: Arc<Calls>,
    most: usize,
    limit: Duration,
    _reader: JoinSet<()>,
}

/// What the sending and the reading side share.
#[derive(Debug)]
struct Calls {
    state: Mutex<State>,
    /// Wakes a sender that waits for a place.
    answered: Notify,
    /// Wakes the sink's runner.
    wake: Arc<Signal>,
}

#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    under_way: VecDeque<Sent>,
    /// Calls that are stored, and that nobody has been told of.
    stored: u32,
    failure: Option<String>,
}

#[derive(Debug)]
struct Sent {
    serial: i32,
    at: Instant,
    stored: bool,
}

impl Calls {
    fn with<T>(&self, f: impl FnOnce(&mut State) -> T) -> T {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    /// Takes an answer to a call.
    fn answer(&mut self, serial: i32, outcome: Result<(), String>) {
        let Some(sent) = self.under_way.iter_mut().find(|sent| sent.serial == serial && !sent.stored) else {
            self.fail(format!("there is an answer to call {serial}, which was not made"));
            return;
        };
        match outcome {
            Ok(()) => sent.stored = true,
            Err(why) => self.fail(why),
        }
        while self.under_way.front().is_some_and(|sent| sent.stored) {
            self.under_way.pop_front();
            self.stored += 1;
        }
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }
}

impl Pipe {
    /// Takes over a connection whose handshake is done. At most so many calls are under way, and each has so long.
    pub(super) fn new(
        sender: Sender,
        receiver: Receiver,
        most: usize,
        limit: Duration,
        wake: Arc<Signal>,
    ) -> Self {
        let calls = Arc::new(Calls { state: Mutex::default(), answered: Notify::new(), wake });
        let mut reader = JoinSet::new();
        reader.spawn(read(receiver, calls.clone()));
        Self { sender, calls, most, limit, _reader: reader }
    }

    /// Sends a batch when there is a place for it.
    ///
    /// # Errors
    /// The connection or a call has failed: nothing that is under way will be told of any more.
    pub(super) async fn send(&mut self, batch: &Batch) -> Result<(), String> {
        self.wait_below(self.most).await?;
        let serial = self.sender.next_serial();
        let sent = Sent { serial, at: Instant::now(), stored: false };
        self.calls.with(|state| state.under_way.push_back(sent));
        match timeout(self.limit, self.sender.send(batch)).await {
            Ok(sent) => sent.map(drop).map_err(|error| error.to_string()),
            Err(_) => Err(self.late()),
        }
    }

    /// Waits until fewer calls than this are under way.
    ///
    /// # Errors
    /// The connection or a call has failed.
    pub(super) async fn wait_below(&mut self, most: usize) -> Result<(), String> {
        loop {
            let answered = self.calls.answered.notified();
            let oldest = self.calls.with(|state| match &state.failure {
                Some(failure) => Err(failure.clone()),
                None if state.under_way.len() < most => Ok(None),
                None => Ok(state.under_way.front().map(|sent| sent.at)),
            })?;
            let Some(oldest) = oldest else { return Ok(()) };
            if timeout_at(oldest + self.limit, answered).await.is_err() {
                return Err(self.late());
            }
        }
    }

    /// When the oldest call must be answered.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.calls.with(|state| state.under_way.front().map(|sent| sent.at + self.limit))
    }

    /// How many of the oldest calls are stored since this was last asked.
    pub(super) fn take_stored(&self) -> u32 {
        self.calls.with(|state| std::mem::take(&mut state.stored))
    }

    /// Whether some are stored that were not asked for.
    pub(super) fn has_stored(&self) -> bool {
        self.calls.with(|state| state.stored > 0)
    }

    /// Why the connection is of no use any more, and whether calls are under way that it was to bring answers to.
    pub(super) fn failure(&self) -> Option<(String, bool)> {
        self.calls.with(|state| {
            let failure = state.failure.clone()?;
            Some((failure, !state.under_way.is_empty()))
        })
    }

    /// What to say of a call that was not answered in time.
    pub(super) fn late(&self) -> String {
        format!("no answer within {} ms", self.limit.as_millis())
    }

    /// Ends the connection in an orderly way.
    pub(super) async fn close(mut self) {
        // Who does not take the end of a connection in this time does not want it.
        let _ = timeout(Duration::from_secs(1), self.sender.close()).await;
    }
}

async fn read(mut receiver: Receiver, calls: Arc<Calls>) {
    loop {
        let goes_on = match receiver.next().await {
            Ok(reply) => {
                let outcome = reply.outcome.map_err(|why| format!("{} {why}", receiver.peer()));
                let good = outcome.is_ok();
                calls.with(|state| state.answer(reply.serial, outcome));
                good
            }
            Err(error) => {
                calls.with(|state| state.fail(error.to_string()));
                false
            }
        };
        calls.answered.notify_one();
        calls.wake.raise();
        if !goes_on {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(serials: &[i32]) -> State {
        let sent = |serial: &i32| Sent { serial: *serial, at: Instant::now(), stored: false };
        State { under_way: serials.iter().map(sent).collect(), ..State::default() }
    }

    #[test]
    fn only_the_oldest_calls_without_a_gap_count_as_stored() {
        let mut calls = state(&[1, 2, 3, 4]);
        calls.answer(2, Ok(()));
        calls.answer(4, Ok(()));
        assert_eq!((calls.stored, calls.under_way.len()), (0, 4));
        calls.answer(1, Ok(()));
        assert_eq!((calls.stored, calls.under_way.len()), (2, 2));
        calls.answer(3, Err("no".to_owned()));
        assert_eq!((calls.stored, calls.failure.as_deref()), (2, Some("no")));
    }

    #[test]
    fn an_answer_to_no_call_and_a_second_answer_are_failures() {
        let mut calls = state(&[1, 2]);
        calls.answer(7, Ok(()));
        assert!(calls.failure.unwrap().contains("call 7"));
        let mut calls = state(&[1, 2]);
        calls.answer(2, Ok(()));
        calls.answer(2, Ok(()));
        assert!(calls.failure.is_some());
        assert_eq!(calls.stored, 0);
    }
}
