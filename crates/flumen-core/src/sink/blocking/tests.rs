//! The adapter for blocking clients: one thread, one order at a time, answers that belong together.

use super::*;
use crate::testing::{number_of, numbered};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

/// Says what it was told to do, and waits for the answer that the test gives.
struct Gated {
    told: SyncSender<String>,
    answers: Receiver<Result<Delivery, DeliverError>>,
    settled: u32,
    closed: bool,
}

struct Gate {
    told: Receiver<String>,
    answers: SyncSender<Result<Delivery, DeliverError>>,
}

fn gated() -> (Blocking<Gated>, Gate) {
    let (told, told_to) = sync_channel(16);
    let (answers, answers_to) = sync_channel(16);
    let sink = Gated { told, answers: answers_to, settled: 0, closed: false };
    (Blocking::new("gated", sink), Gate { told: told_to, answers })
}

impl Gate {
    fn next(&self) -> String {
        self.told.recv_timeout(Duration::from_secs(20)).expect("the sink says what it does")
    }

    fn answer(&self, answer: Result<Delivery, DeliverError>) {
        self.answers.send(answer).unwrap();
    }
}

impl Gated {
    fn tell(&self, what: impl Into<String>) {
        // The test may be over.
        let _ = self.told.send(what.into());
    }
}

impl BlockingSink for Gated {
    fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        self.tell(format!("deliver {}", number_of(batch.get(0).unwrap())));
        let answer = self.answers.recv().unwrap();
        self.settled += 1;
        answer
    }
    fn next_deadline(&self) -> Option<Instant> {
        (!self.closed).then(|| Instant::now() + Duration::from_secs(u64::from(self.settled)))
    }
    fn on_deadline(&mut self) -> Result<(), DeliverError> {
        self.tell("deadline");
        Ok(())
    }
    fn settled(&mut self) -> Result<u32, DeliverError> {
        if self.settled == 3 {
            return Err(DeliverError::backoff("lost"));
        }
        Ok(self.settled)
    }
    fn close(&mut self) -> Result<(), DeliverError> {
        self.closed = true;
        self.tell("close");
        Ok(())
    }
}

impl Drop for Gated {
    fn drop(&mut self) {
        self.tell(format!("gone from {}", thread::current().name().unwrap_or_default()));
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(futures_util::task::noop_waker_ref()))
}

#[tokio::test]
async fn orders_are_done_on_a_thread_of_their_own_which_ends_with_the_sink() {
    let (mut sink, gate) = gated();
    gate.answer(Ok(Delivery::first(1)));
    assert_eq!(Sink::deliver(&mut sink, &numbered(4..6)).await.unwrap(), Delivery::first(1));
    Sink::on_deadline(&mut sink).await.unwrap();
    assert!(Sink::next_deadline(&sink).is_some());
    Sink::close(&mut sink).await.unwrap();
    assert!(Sink::next_deadline(&sink).is_none(), "asked after each call");
    assert_eq!(
        (gate.next(), gate.next(), gate.next()),
        ("deliver 4".into(), "deadline".into(), "close".into())
    );
    drop(sink);
    assert_eq!(gate.next(), "gone from gated");
}

#[tokio::test]
async fn what_is_settled_adds_up_until_it_is_asked_for() {
    let (mut sink, gate) = gated();
    for _ in 0..2 {
        gate.answer(Ok(Delivery::first(1)));
        Sink::deliver(&mut sink, &numbered(0..1)).await.unwrap();
    }
    assert_eq!(Sink::settled(&mut sink).unwrap(), 1 + 2);
    assert_eq!(Sink::settled(&mut sink).unwrap(), 0);
    gate.answer(Err(DeliverError::backoff("refused")));
    assert_eq!(Sink::deliver(&mut sink, &numbered(0..1)).await.unwrap_err().reason, "refused");
    assert_eq!(Sink::settled(&mut sink).unwrap_err().reason, "lost");
}

#[tokio::test]
async fn a_delivery_that_is_given_up_ends_before_the_next_order_begins() {
    let (mut sink, gate) = gated();
    let batch = numbered(0..1);
    {
        let mut given_up = Box::pin(Sink::deliver(&mut sink, &batch));
        let polled = poll(given_up.as_mut());
        assert!(polled.is_pending());
    }
    assert_eq!(gate.next(), "deliver 0");
    let batch = numbered(1..2);
    let mut next = Box::pin(Sink::deliver(&mut sink, &batch));
    assert!(poll(next.as_mut()).is_pending());
    gate.answer(Ok(Delivery::first(9)));
    gate.answer(Ok(Delivery::first(1)));
    assert_eq!(next.await.unwrap(), Delivery::first(1), "each order has its own answer");
    assert_eq!(gate.next(), "deliver 1");
}

#[tokio::test]
async fn a_panic_of_the_client_asks_for_a_fresh_sink() {
    let (mut sink, gate) = gated();
    drop(gate.answers);
    let error = Sink::deliver(&mut sink, &numbered(0..1)).await.unwrap_err();
    assert_eq!(error.retry, crate::sink::Retry::Rebuild);
    let error = Sink::deliver(&mut sink, &numbered(0..1)).await.unwrap_err();
    assert_eq!(error.retry, crate::sink::Retry::Rebuild, "and so does every later order");
}

#[tokio::test]
async fn closing_a_sink_that_never_delivered_starts_no_thread() {
    let (mut sink, gate) = gated();
    Sink::close(&mut sink).await.unwrap();
    drop(sink);
    assert!(gate.next().starts_with("gone from sink::blocking"), "dropped on this thread, and never closed");
}
