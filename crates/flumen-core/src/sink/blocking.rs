//! A sink over a client that blocks, on a thread of its own.

use super::{DeliverError, Delivery, Sink};
use crate::event::Batch;
use std::thread;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// A sink whose client blocks (a database driver, a file on a slow disk).
pub trait BlockingSink: Send + 'static {
    /// See [`Sink::deliver`]. It runs to its end even when nobody waits for the answer any more.
    fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError>;

    /// See [`Sink::next_deadline`]; asked at the beginning and after each call.
    fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// See [`Sink::on_deadline`].
    fn on_deadline(&mut self) -> Result<(), DeliverError> {
        Ok(())
    }

    /// See [`Sink::settled`]; asked after each call.
    fn settled(&mut self) -> Result<u32, DeliverError> {
        Ok(0)
    }

    /// See [`Sink::close`].
    fn close(&mut self) -> Result<(), DeliverError> {
        Ok(())
    }
}

/// Runs a [`BlockingSink`] on a thread of its own, which starts with the first batch and ends with this.
#[derive(Debug)]
pub struct Blocking<B> {
    name: String,
    /// Here until the thread starts.
    sink: Option<B>,
    orders: Option<mpsc::Sender<Order>>,
    deadline: Option<Instant>,
    settled: Result<u32, DeliverError>,
}

enum Order {
    Deliver(Batch, oneshot::Sender<Report<Delivery>>),
    Deadline(oneshot::Sender<Report<()>>),
    Close(oneshot::Sender<Report<()>>),
}

/// The answer to an order, and what the sink says of itself after it.
struct Report<T> {
    answer: Result<T, DeliverError>,
    deadline: Option<Instant>,
    settled: Result<u32, DeliverError>,
}

impl<B: BlockingSink> Blocking<B> {
    /// The sink, with a name for its thread (at most 15 bytes of it show in `ps`).
    pub fn new(name: &str, sink: B) -> Self {
        let deadline = sink.next_deadline();
        Self { name: name.to_owned(), sink: Some(sink), orders: None, deadline, settled: Ok(0) }
    }

    async fn order<T>(
        &mut self,
        make: impl FnOnce(oneshot::Sender<Report<T>>) -> Order,
    ) -> Result<T, DeliverError> {
        let gone = || DeliverError::rebuild("the thread of the sink has ended");
        if let Some(sink) = self.sink.take() {
            self.orders = Some(start(&self.name, sink)?);
        }
        let (sender, receiver) = oneshot::channel();
        // Room for one order: it is there as soon as the one before, given up or not, has begun.
        self.orders.as_ref().ok_or_else(gone)?.send(make(sender)).await.map_err(|_| gone())?;
        let report = receiver.await.map_err(|_| gone())?;
        self.deadline = report.deadline;
        self.settled = match (std::mem::replace(&mut self.settled, Ok(0)), report.settled) {
            (Ok(before), Ok(now)) => Ok(before + now),
            (Err(error), _) | (_, Err(error)) => Err(error),
        };
        report.answer
    }
}

impl<B: BlockingSink> Sink for Blocking<B> {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let batch = batch.clone();
        self.order(|answer| Order::Deliver(batch, answer)).await
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    async fn on_deadline(&mut self) -> Result<(), DeliverError> {
        self.order(Order::Deadline).await
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        std::mem::replace(&mut self.settled, Ok(0))
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        if self.orders.is_none() {
            return Ok(());
        }
        self.order(Order::Close).await
    }
}

fn start<B: BlockingSink>(name: &str, mut sink: B) -> Result<mpsc::Sender<Order>, DeliverError> {
    let (orders, mut received) = mpsc::channel::<Order>(1);
    let work = move || {
        while let Some(order) = received.blocking_recv() {
            match order {
                Order::Deliver(batch, to) => report(&mut sink, to, |sink| sink.deliver(&batch)),
                Order::Deadline(to) => report(&mut sink, to, B::on_deadline),
                Order::Close(to) => report(&mut sink, to, B::close),
            }
        }
    };
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map(|_| orders)
        .map_err(|error| DeliverError::backoff(format!("no thread for sink {name}")).because(error))
}

/// Runs one order and answers. A panic ends the thread without an answer, and so asks for a fresh sink.
fn report<B: BlockingSink, T>(
    sink: &mut B,
    to: oneshot::Sender<Report<T>>,
    run: impl FnOnce(&mut B) -> Result<T, DeliverError>,
) {
    let answer = run(sink);
    let (deadline, settled) = (sink.next_deadline(), sink.settled());
    // Nobody listens when the delivery was given up: then the events are delivered again.
    let _ = to.send(Report { answer, deadline, settled });
}

#[cfg(test)]
mod tests;
