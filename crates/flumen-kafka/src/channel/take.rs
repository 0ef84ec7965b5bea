//! The side of a take: reading begins with the first one, since a channel without sinks needs no consumer.

use super::{Shared, lock};
use crate::{
    client::complete,
    inbox::{Form, Inbox, Mark, Piece, Plan, Topics},
    zookeeper,
};
use flumen_core::{
    channel::{ChannelError, Commit, TakeLease},
    event::Batch,
};
use std::sync::{Arc, atomic::Ordering};
use tokio::{runtime::Handle, task::spawn_blocking};

/// Events that are read ahead.
const AHEAD_EVENTS: u64 = 20_000;
/// Bytes of their bodies.
const AHEAD_BYTES: u64 = 32 << 20;

/// Whether it is being read.
#[derive(Debug, Default)]
pub(super) enum Reading {
    /// Nobody has taken yet.
    #[default]
    Not,
    /// The consumer is being made.
    Begins,
    /// It reads.
    Running(Inbox),
    /// It could not be made.
    Failed(String),
}

/// Events on loan.
pub(super) struct Lease {
    channel: Arc<Shared>,
    inbox: Arc<crate::inbox::Shared>,
    marks: Vec<Mark>,
}

impl Lease {
    /// Lends events. The first call begins to read.
    pub(super) fn take(channel: &Arc<Shared>, max: u32) -> Result<Option<(Self, Batch)>, ChannelError> {
        let mut reading = lock(&channel.reading);
        match &*reading {
            Reading::Begins => Ok(None),
            Reading::Not => {
                *reading = Reading::Begins;
                drop(reading);
                begin(channel.clone());
                Ok(None)
            }
            Reading::Failed(_) => {
                let Reading::Failed(why) = std::mem::take(&mut *reading) else { return Ok(None) };
                Err(channel.storage(why))
            }
            Reading::Running(inbox) => match inbox.take(max as usize) {
                Ok(None) => Ok(None),
                Ok(Some(Piece { batch, marks })) => {
                    let (channel, inbox) = (channel.clone(), inbox.shared().clone());
                    Ok(Some((Self { channel, inbox, marks }, batch)))
                }
                Err(why) => {
                    // The next take makes a new one.
                    *reading = Reading::Not;
                    Err(channel.storage(why))
                }
            },
        }
    }
}

impl TakeLease for Lease {
    fn commit(self: Box<Self>, n_events: u32, rest: Batch) -> Commit {
        let mut done = self.marks;
        let left = done.split_off((n_events as usize).min(done.len()));
        self.channel.n_removed.fetch_add(done.len() as u64, Ordering::Relaxed);
        self.channel.metrics.take_success.add(done.len() as u64);
        if !left.is_empty() {
            self.inbox.give_back(Piece { batch: rest, marks: left });
        }
        Commit::pending(&self.channel.name, self.inbox.done_and_told(&done))
    }

    fn rollback(self: Box<Self>, batch: Batch) {
        self.channel.numbers.rollbacks.add(1);
        self.inbox.give_back(Piece { batch, marks: self.marks });
    }
}

/// Makes the consumer on a thread that may wait.
fn begin(channel: Arc<Shared>) {
    let runtime = Handle::current();
    let work = move || {
        let made = make(&channel, &runtime);
        {
            let mut reading = lock(&channel.reading);
            *reading = match made {
                // Closed meanwhile: dropped again.
                Ok(_) if channel.closed.load(Ordering::Acquire) => Reading::Not,
                Ok(inbox) => Reading::Running(inbox),
                Err(why) => Reading::Failed(why),
            };
        }
        channel.signals.stored.raise();
    };
    // Nobody waits for it: the signal tells.
    drop(spawn_blocking(work));
}

fn make(channel: &Arc<Shared>, runtime: &Handle) -> Result<Inbox, String> {
    let keys = &channel.config.keys;
    let config = complete(&channel.config.consumer, &channel.environment)?;
    if let (Some(addresses), true) = (&keys.zookeeper, keys.migrate_zookeeper_offsets) {
        runtime.block_on(zookeeper::migrate(addresses, &config, &keys.group, &keys.topic))?;
    }
    let plan = Plan {
        name: channel.name.clone(),
        topics: Topics::Named(vec![keys.topic.clone()]),
        form: Form {
            whole: keys.parse_as_flume_event,
            topic: None,
            places: false,
            record_headers: Vec::new(),
        },
        max_events: AHEAD_EVENTS,
        max_bytes: AHEAD_BYTES,
    };
    let weak = Arc::downgrade(channel);
    let stored = move || {
        if let Some(channel) = weak.upgrade() {
            channel.signals.stored.raise();
        }
    };
    Inbox::start(&config, plan, channel.reports(), Arc::new(stored), channel.counts.clone())
}
