//! The side of a put: room among what is under way to the brokers, and records of a batch.

use super::{Shared, lock};
use crate::{
    client::ClientSettings,
    datum,
    outbox::{Letter, NotSent, Outbox, Outcome, TOO_LARGE},
};
use flumen_core::{
    channel::{ChannelError, Commit, PutSlot},
    event::{Batch, BatchSize},
};
use std::{
    ops::Range,
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Events that may be under way.
const MAX_EVENTS: u64 = 100_000;
/// Bytes that may be, where `buffer.memory` does not say.
const MAX_BYTES: u64 = 64 << 20;
/// The largest record, where `max.request.size` does not say.
const MAX_RECORD: u64 = 1_000_000;
/// What a record has beside key and value.
const RECORD_OVERHEAD: usize = 512;
/// How long what is under way may take at the end.
const END: Duration = Duration::from_secs(20);

/// What is held and sent, and not confirmed.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    pub(super) events: u64,
    bytes: u64,
    max_bytes: u64,
}

impl UnderWay {
    pub(super) fn up_to(producer: &ClientSettings) -> Self {
        let kilobytes = producer.get("queue.buffering.max.kbytes").and_then(|text| text.parse::<u64>().ok());
        Self { events: 0, bytes: 0, max_bytes: kilobytes.map_or(MAX_BYTES, |kilobytes| kilobytes << 10) }
    }
}

/// Room that is held. It is given back when it is dropped.
pub(super) struct Room {
    channel: Arc<Shared>,
    size: BatchSize,
}

impl Room {
    /// Holds room, if there is. One put always fits.
    pub(super) fn reserve(channel: &Arc<Shared>, size: BatchSize) -> Option<Self> {
        lock(&channel.outbox).as_ref()?;
        let mut under_way = lock(&channel.under_way);
        let fits = under_way.events + u64::from(size.events) <= MAX_EVENTS
            && under_way.bytes + size.bytes <= under_way.max_bytes;
        if under_way.events > 0 && !fits {
            return None;
        }
        under_way.events += u64::from(size.events);
        under_way.bytes += size.bytes;
        Some(Self { channel: channel.clone(), size })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        {
            let mut under_way = lock(&self.channel.under_way);
            under_way.events = under_way.events.saturating_sub(u64::from(self.size.events));
            under_way.bytes = under_way.bytes.saturating_sub(self.size.bytes);
        }
        self.channel.confirmed.notify_all();
        self.channel.signals.freed.raise();
    }
}

impl PutSlot for Room {
    fn commit(self: Box<Self>, batch: Batch, size: BatchSize) -> Commit {
        let channel = self.channel.clone();
        let Some(outbox) = lock(&channel.outbox).clone() else {
            return Commit::done(Err(ChannelError::Closed { channel: channel.name.clone() }));
        };
        let letters = match Letters::of(&channel, &batch) {
            Ok(letters) => letters,
            Err(error) => return Commit::done(Err(error)),
        };
        let (sender, receiver) = oneshot::channel();
        let (since, name) = (Instant::now(), channel.name.clone());
        // The room is given back when the brokers have answered.
        let room = self;
        let done = move |outcome: Outcome| {
            let channel = &room.channel;
            let took = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            channel.numbers.send_ms.add(took);
            let answer = answer(channel, outcome);
            if answer.is_ok() {
                channel.metrics.put_success.add(u64::from(size.events));
            }
            drop(room);
            // Who waited may have gone.
            let _ = sender.send(answer);
        };
        letters.send(&channel, &outbox, &batch, done);
        Commit::pending(&name, receiver)
    }

    fn rollback(self: Box<Self>) {}
}

fn answer(channel: &Shared, outcome: Outcome) -> Result<(), ChannelError> {
    if let Some(why) = outcome.failure {
        return Err(channel.storage(why));
    }
    if let Some((_, why)) = outcome.refused.first() {
        return Err(channel.storage(*why));
    }
    if !outcome.too_large.is_empty() {
        return Err(channel.storage(TOO_LARGE));
    }
    Ok(())
}

/// The records of a batch, made before any is sent: it goes whole, or not at all.
struct Letters {
    values: Vec<u8>,
    /// Where each value lies; none: the body itself.
    places: Vec<Range<usize>>,
    partitions: Vec<Option<i32>>,
}

impl Letters {
    fn of(channel: &Shared, batch: &Batch) -> Result<Self, ChannelError> {
        let keys = &channel.config.keys;
        let most = channel.config.producer.get("message.max.bytes").and_then(|text| text.parse().ok());
        let most: u64 = most.unwrap_or(MAX_RECORD);
        let mut letters =
            Self { values: Vec::new(), places: Vec::new(), partitions: Vec::with_capacity(batch.len()) };
        for event in batch.iter() {
            let named = keys.partition_id_header.as_deref().and_then(|name| event.headers.get(name));
            letters.partitions.push(match named {
                Some(text) => {
                    let number = text.trim().parse().ok().filter(|number| *number >= 0);
                    Some(
                        number.ok_or_else(|| {
                            channel.storage(format!("`{text}` is no number of a partition"))
                        })?,
                    )
                }
                None => keys.default_partition_id,
            });
            let key = event.headers.get("key").map_or(0, |key| key.len());
            let mut len = event.body.len();
            if keys.parse_as_flume_event {
                let start = letters.values.len();
                datum::encode(event, &mut letters.values);
                len = letters.values.len() - start;
                letters.places.push(start..letters.values.len());
            }
            let asked = (len + key + RECORD_OVERHEAD) as u64;
            if asked > most {
                let (channel, unit) = (channel.name.clone(), "bytes of one record");
                let limit_name = "kafka.producer.max.request.size";
                return Err(ChannelError::TooLarge { channel, asked, unit, limit_name, limit: most });
            }
        }
        Ok(letters)
    }

    fn send(
        &self,
        channel: &Shared,
        outbox: &Outbox,
        batch: &Batch,
        done: impl FnOnce(Outcome) + Send + 'static,
    ) {
        let n_records = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        let serial = outbox.begin(n_records, done);
        for (at, event) in batch.iter().enumerate() {
            let index = u32::try_from(at).unwrap_or(u32::MAX);
            let letter = Letter {
                topic: &channel.config.keys.topic,
                partition: self.partitions[at],
                key: event.headers.get("key").map(|key| -> &str { key }),
                value: self.places.get(at).map_or(event.body, |place| &self.values[place.clone()]),
                ..Letter::default()
            };
            let (why, fatal) = match outbox.send(serial, index, letter) {
                Ok(()) => continue,
                Err(NotSent::Refused(why)) => (why.to_owned(), false),
                Err(NotSent::Full) => ("the client's queue is full".to_owned(), false),
                Err(NotSent::Failed { why, fatal }) => (why, fatal),
            };
            if fatal {
                channel.fail(&channel.storage(why.clone()));
            }
            return outbox.break_off(serial, n_records - index, why);
        }
        outbox.end(serial, Vec::new());
    }
}

/// Waits for the brokers to answer what is under way, for some time.
pub(super) fn wait_until_confirmed(channel: &Shared) {
    let end = Instant::now() + END;
    let mut under_way = lock(&channel.under_way);
    while under_way.events > 0 {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let events = under_way.events;
            tracing::warn!(channel = %channel.name, events, "puts were not confirmed at the end");
            return;
        }
        under_way = channel.confirmed.wait_timeout(under_way, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}
