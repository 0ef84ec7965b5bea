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

/// A peer that answers faster than this, by the number of calls that it had to answer, is near: more of them bring no speed.
const NEAR: Duration = Duration::from_millis(1);
/// Answers of which the fastest tells how near it is: one that is late says more of who was busy meanwhile.
const ANSWERS: usize = 16;
/// To such a peer so many bytes of bodies are under way: on their way from the one end to the other they stay in a core's cache.
const NEAR_BYTES: u64 = 1 << 20;

/// A connection with calls under way. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Pipe {
    sender: Sender,
    calls: Arc<Calls>,
    most: Most,
    limit: Duration,
    _reader: JoinSet<()>,
}

/// How many calls may be under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) calls: usize,
    /// Whether there may be fewer where that is faster.
    pub(super) adapts: bool,
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
    /// How long the last answers took, for each call that was under way.
    took: VecDeque<Duration>,
    failure: Option<String>,
}

#[derive(Debug)]
struct Sent {
    serial: i32,
    at: Instant,
    /// Calls that were under way then, this one included.
    of: u32,
    /// Bytes of the bodies.
    bytes: u64,
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
            Ok(()) => {
                sent.stored = true;
                let took = sent.at.elapsed() / sent.of.max(1);
                if self.took.len() >= ANSWERS {
                    self.took.pop_front();
                }
                self.took.push_back(took);
            }
            Err(why) => self.fail(why),
        }
        while self.under_way.front().is_some_and(|sent| sent.stored) {
            self.under_way.pop_front();
            self.stored += 1;
        }
    }

    /// Adds a call.
    fn send(&mut self, serial: i32, bytes: u64) {
        let of = u32::try_from(self.under_way.len() + 1).unwrap_or(u32::MAX);
        self.under_way.push_back(Sent { serial, at: Instant::now(), of, bytes, stored: false });
    }

    fn is_near(&self) -> bool {
        self.took.iter().any(|took| *took < NEAR)
    }

    /// Whether one more call has a place, with so many bytes.
    fn has_place(&self, most: Most, bytes: u64) -> bool {
        let under_way = self.under_way.iter().map(|sent| sent.bytes).sum::<u64>();
        let fits = self.under_way.is_empty() || under_way.saturating_add(bytes) <= NEAR_BYTES;
        self.under_way.len() < most.calls && (fits || !most.adapts || !self.is_near())
    }

    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(why);
    }
}

impl Pipe {
    /// Takes over a connection whose handshake is done. Each call has so long.
    pub(super) fn new(
        sender: Sender,
        receiver: Receiver,
        most: Most,
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
        let (most, bytes) = (self.most, batch.size().bytes);
        self.wait_until(|state| state.has_place(most, bytes)).await?;
        let serial = self.sender.next_serial();
        self.calls.with(|state| state.send(serial, bytes));
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
        self.wait_until(|state| state.under_way.len() < most).await
    }

    async fn wait_until(&mut self, is_so: impl Fn(&State) -> bool + Send) -> Result<(), String> {
        loop {
            let answered = self.calls.answered.notified();
            let oldest = self.calls.with(|state| match &state.failure {
                Some(failure) => Err(failure.clone()),
                None if is_so(state) => Ok(None),
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
        let mut state = State::default();
        serials.iter().for_each(|serial| state.send(*serial, 600_000));
        state
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
    fn large_calls_to_a_near_peer_wait_for_each_other_and_to_a_far_one_do_not() {
        let most = Most { calls: 3, adapts: true };
        let fixed = Most { adapts: false, ..most };
        let mut calls = state(&[1, 2]);
        assert!(calls.has_place(most, 600_000), "nothing is known of the peer yet");
        calls.answer(1, Ok(()));
        assert!(calls.is_near() && !calls.has_place(most, 600_000));
        assert!(calls.has_place(most, 400_000) && calls.has_place(fixed, 600_000));
        calls.answer(2, Ok(()));
        assert!(calls.has_place(most, u64::MAX), "one call always has a place");
        let mut far = state(&[1, 2, 3, 4]);
        far.under_way[1].at = Instant::now().checked_sub(NEAR * 2).unwrap();
        far.under_way[0].at = Instant::now().checked_sub(NEAR).unwrap();
        far.answer(1, Ok(()));
        far.answer(2, Ok(()));
        assert!(!far.is_near() && far.has_place(most, 600_000), "two are under way");
        far.send(5, 600_000);
        assert!(!far.has_place(most, 1), "three are under way");
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
