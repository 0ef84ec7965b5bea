//! Runs a component again and again, as its life (`flumen_core::supervise`) says.

use super::board::{Board, Life};
use crate::plan::SecretValues;
use flumen_core::{
    config::Origin,
    planted::{self, Bug},
    registry::Kind,
    source::{Shutdown, ShutdownHandle},
    supervise::{Action, Happening},
    world::WallClock,
};
use futures_util::FutureExt;
use std::{future::Future, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};

/// How a run of a component ended.
#[derive(Debug)]
pub(super) enum End {
    /// It was told to stop, or has nothing more to do.
    Finished,
    /// It failed: a fresh one is wanted, after a pause.
    Failed(String),
}

/// Which components a task stands for, in reports and messages. A group of sinks is several of them.
#[derive(Debug, Clone)]
pub(super) struct Who {
    pub(super) kind: Kind,
    pub(super) names: Vec<String>,
    pub(super) board: Arc<Board>,
    pub(super) clock: Arc<dyn WallClock>,
    /// What no message of theirs repeats.
    pub(super) secrets: SecretValues,
    /// Where it stands in its files.
    pub(super) origin: Origin,
}

/// A supervised task. Dropping it aborts the component.
#[derive(Debug)]
pub(super) struct Task {
    shutdown: ShutdownHandle,
    join: JoinHandle<()>,
    who: Who,
}

impl Task {
    /// Starts a component. `run` builds a fresh instance at each call and runs it until the shutdown.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that spawns components; each ends with its Task"
    )]
    pub(super) fn start<F, R>(who: Who, run: F) -> Self
    where
        F: FnMut(Shutdown) -> R + Send + 'static,
        R: Future<Output = End> + Send + 'static,
    {
        let (handle, shutdown) = Shutdown::new();
        let join = tokio::spawn(supervise(who.clone(), run, shutdown));
        Self { shutdown: handle, join, who }
    }

    /// Asks it to stop, without waiting.
    pub(super) fn request_stop(&self) {
        self.shutdown.request();
    }

    /// Waits for the stop; after `limit` the component is aborted. Says whether that was necessary.
    pub(super) async fn stop(mut self, limit: Duration) -> bool {
        self.request_stop();
        let in_time = timeout(limit, &mut self.join).await.is_ok();
        if !in_time {
            tracing::warn!(
                "{} {} did not stop within {} s and is cut off",
                self.who.kind,
                self.who.names.join(", "),
                limit.as_secs()
            );
            self.join.abort();
            // It ends at its next await; until then its leases are not back.
            let _ = timeout(limit, &mut self.join).await;
        }
        !in_time
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.join.abort();
    }
}

async fn supervise<F, R>(who: Who, mut run: F, mut shutdown: Shutdown)
where
    F: FnMut(Shutdown) -> R,
    R: Future<Output = End> + Send,
{
    let mut life = Life::default();
    let mut happening = Happening::Wanted;
    loop {
        match life.state.on(happening, Instant::now()) {
            Action::Build => {
                who.board.set_life(who.kind, &who.names, &life);
                let end = AssertUnwindSafe(run(shutdown.clone())).catch_unwind().await;
                happening = match end {
                    Ok(End::Finished) => Happening::Finished,
                    Ok(End::Failed(reason)) => failed(&who, &mut life, reason),
                    Err(panic) => failed(&who, &mut life, panic_text(&*panic)),
                };
                if shutdown.is_requested() {
                    happening = Happening::Finished;
                }
            }
            Action::WaitUntil(_) if planted::is(Bug::FailedComponentsStayDown) => return,
            Action::WaitUntil(until) => {
                who.board.set_life(who.kind, &who.names, &life);
                happening = tokio::select! {
                    biased;
                    () = shutdown.requested() => Happening::Unwanted,
                    () = sleep_until(until) => Happening::Due,
                };
            }
            Action::Cancel | Action::Nothing => {
                life.stopped_ms = who.clock.now_ms();
                who.board.set_life(who.kind, &who.names, &life);
                return;
            }
        }
    }
}

fn failed(who: &Who, life: &mut Life, reason: String) -> Happening {
    let names = who.names.join(", ");
    let reason = who.origin.tell(&who.secrets.hide(reason));
    tracing::error!("{} {names} failed and is built anew after a pause: {reason}", who.kind);
    life.restarts += 1;
    life.last_error = Some(reason);
    who.board.look_for_broken_channels();
    Happening::Failed
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("without a message"))
}
