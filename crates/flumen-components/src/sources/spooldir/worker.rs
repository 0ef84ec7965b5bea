//! The thread on which files are read: it answers one order at a time.

use super::{file::Ack, spool::Spool};
use flumen_core::{event::Batch, source::SourceError};
use std::thread;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// The thread, as the source sees it. It ends when this is dropped.
pub(super) struct Worker(mpsc::Sender<Order>);

enum Order {
    Open(oneshot::Sender<Result<(), SourceError>>),
    Next(Next, oneshot::Sender<Option<(Batch, Ack)>>),
    Close(Vec<Ack>, oneshot::Sender<()>),
}

/// What the source wants.
pub(super) struct Next {
    /// What the channels have.
    pub(super) acks: Vec<Ack>,
    /// Whether to list the directory where no file is known.
    pub(super) look: bool,
    pub(super) now: Instant,
}

impl Worker {
    /// Starts the thread and opens the directory.
    pub(super) async fn start(name: &str, spool: Spool) -> Result<Self, SourceError> {
        let (orders, received) = mpsc::channel(1);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(spool, received))
            .map_err(|error| SourceError::with(format!("no thread for source {name}"), error))?;
        let worker = Self(orders);
        let (to, answer) = oneshot::channel();
        worker.order(Order::Open(to)).await?;
        answer.await.map_err(|_| gone())??;
        Ok(worker)
    }

    /// Asks for the next events. They come later, so that putting and reading overlap.
    pub(super) async fn ask(
        &self,
        next: Next,
    ) -> Result<oneshot::Receiver<Option<(Batch, Ack)>>, SourceError> {
        let (to, answer) = oneshot::channel();
        self.order(Order::Next(next, to)).await?;
        Ok(answer)
    }

    /// Takes note of the last acknowledgements, and ends the thread.
    pub(super) async fn close(self, acks: Vec<Ack>) {
        let (to, answer) = oneshot::channel();
        if self.order(Order::Close(acks, to)).await.is_ok() {
            // Without an answer it has ended already.
            let _ = answer.await;
        }
    }

    async fn order(&self, order: Order) -> Result<(), SourceError> {
        self.0.send(order).await.map_err(|_| gone())
    }
}

/// What is said when the thread has ended by itself.
pub(super) fn gone() -> SourceError {
    SourceError::new("the thread that reads files has ended")
}

fn work(mut spool: Spool, mut orders: mpsc::Receiver<Order>) {
    while let Some(order) = orders.blocking_recv() {
        // Nobody listens when the source was dropped: then nothing of the answer was put.
        match order {
            Order::Open(to) => {
                let _ = to.send(spool.open().map_err(|(what, error)| SourceError::with(what, error)));
            }
            Order::Next(next, to) => {
                spool.committed(next.acks);
                let _ = to.send(spool.next(next.now, next.look));
            }
            Order::Close(acks, to) => {
                spool.committed(acks);
                drop(spool);
                let _ = to.send(());
                return;
            }
        }
    }
}
