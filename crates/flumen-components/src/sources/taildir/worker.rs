//! The thread on which files are read: it answers one order at a time.

use super::{
    file::Ack,
    tailer::{Piece, Tailer},
};
use flumen_core::source::SourceError;
use std::{thread, time::Duration};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

/// While there is always more to read, it is looked for new and renamed files so often.
pub(super) const SCAN_INTERVAL: Duration = Duration::from_secs(1);

/// The thread, as the source sees it. It ends when this is dropped, without writing positions.
pub(super) struct Worker {
    orders: mpsc::Sender<Order>,
}

enum Order {
    Open(oneshot::Sender<Result<(), SourceError>>),
    Next(Next, oneshot::Sender<Answer>),
    Look(Instant),
    Close(Vec<Ack>, Instant, oneshot::Sender<()>),
}

/// What the source wants.
pub(super) struct Next {
    /// What the channels have.
    pub(super) acks: Vec<Ack>,
    /// Whether to look for what has changed.
    pub(super) scan: bool,
    pub(super) now: Instant,
}

/// What there is.
pub(super) struct Answer {
    /// The next lines; `None`: there are no more for now.
    pub(super) piece: Option<Piece>,
    /// When to ask again at the latest.
    pub(super) wake_at: Option<Instant>,
}

impl Worker {
    /// Starts the thread and opens what the tailer needs.
    pub(super) async fn start(name: &str, tailer: Tailer) -> Result<Self, SourceError> {
        let (orders, received) = mpsc::channel(1);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(tailer, received))
            .map_err(|error| SourceError::with(format!("no thread for source {name}"), error))?;
        let worker = Self { orders };
        let (to, answer) = oneshot::channel();
        worker.order(Order::Open(to)).await?;
        answer.await.map_err(|_| gone())??;
        Ok(worker)
    }

    /// Asks for the next lines. They come later, so that putting and reading overlap.
    pub(super) async fn ask(&self, next: Next) -> Result<oneshot::Receiver<Answer>, SourceError> {
        let (to, answer) = oneshot::channel();
        self.order(Order::Next(next, to)).await?;
        Ok(answer)
    }

    /// Has it look for new and renamed files: what is rotated while the channels take nothing is found again later.
    pub(super) async fn look(&self) -> Result<(), SourceError> {
        self.order(Order::Look(Instant::now())).await
    }

    /// Writes positions, and ends the thread.
    pub(super) async fn close(self, acks: Vec<Ack>) {
        let (to, answer) = oneshot::channel();
        if self.order(Order::Close(acks, Instant::now(), to)).await.is_ok() {
            // Without an answer it has ended already.
            let _ = answer.await;
        }
    }

    async fn order(&self, order: Order) -> Result<(), SourceError> {
        self.orders.send(order).await.map_err(|_| gone())
    }
}

/// What is said when the thread has ended by itself.
pub(super) fn gone() -> SourceError {
    SourceError::new("the thread that reads files has ended")
}

fn work(mut tailer: Tailer, mut orders: mpsc::Receiver<Order>) {
    let mut last_scan = None;
    while let Some(order) = orders.blocking_recv() {
        // Nobody listens when the source was dropped: then nothing of the answer was put.
        match order {
            Order::Open(to) => {
                let _ = to.send(tailer.open().map_err(|(what, error)| SourceError::with(what, error)));
            }
            Order::Next(next, to) => {
                let _ = to.send(answer(&mut tailer, next, &mut last_scan));
            }
            Order::Look(now) => {
                last_scan = Some(now);
                tailer.scan(now);
            }
            Order::Close(acks, now, to) => {
                acks.into_iter().for_each(|ack| tailer.committed(ack));
                tailer.write_positions(now, true);
                tailer.tell_all_lost(None);
                drop(tailer);
                let _ = to.send(());
                return;
            }
        }
    }
}

fn answer(tailer: &mut Tailer, next: Next, last_scan: &mut Option<Instant>) -> Answer {
    let now = next.now;
    next.acks.into_iter().for_each(|ack| tailer.committed(ack));
    let due = last_scan.is_none_or(|last| now >= last + SCAN_INTERVAL);
    if next.scan || (due && tailer.has_more()) {
        *last_scan = Some(now);
        tailer.scan(now);
    }
    tailer.write_positions(now, false);
    let mut piece = tailer.next(now);
    if piece.is_none() && tailer.has_more() {
        piece = tailer.next(now);
    }
    Answer { piece, wake_at: tailer.wake_at() }
}
