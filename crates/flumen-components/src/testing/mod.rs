//! For tests: what components are built with, and the events of recorded results.

mod log;
mod wait;

pub(crate) use log::{Kept, logged};
pub(crate) use wait::{LIMIT, until};

use base64ct::{Base64, Encoding};
use flumen_core::{
    channel::{Channel, ChannelLimits, Signal},
    event::{Batch, Headers},
    metrics::{SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{BuildContext, Environment, ExtraMetrics, Registry, SinkContext, SourceContext},
    testing::{Everywhere, ScriptedChannel},
    world::SetClock,
};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

/// What a component `name` of agent `a` is built with, on a clock that stands at `now_ms`.
pub(crate) fn context(name: &str, now_ms: i64) -> BuildContext {
    BuildContext {
        agent: "a".into(),
        name: name.into(),
        clock: Arc::new(SetClock::at(now_ms)),
        seed: 1,
        environment: Arc::new(Environment::default()),
        registry: Arc::new(crate::register(Registry::new())),
        extra: ExtraMetrics::default(),
    }
}

/// What a sink of a channel is built with.
pub(crate) fn sink_context(now_ms: i64, durable_channel: bool) -> SinkContext {
    SinkContext {
        common: context("k", now_ms),
        metrics: Arc::new(SinkMetrics::default()),
        wake: Arc::new(Signal::default()),
        durable_channel,
    }
}

/// What a source is built with.
pub(crate) fn source_context() -> SourceContext {
    SourceContext { common: context("r", 0), metrics: Arc::new(SourceMetrics::default()) }
}

/// A durable channel for so many events, which makes a put wait for 20 ms.
pub(crate) fn channel(capacity: u64, transaction_capacity: u32) -> Arc<ScriptedChannel> {
    let keep_alive = Duration::from_millis(20);
    let limits = ChannelLimits { capacity, transaction_capacity, byte_slots: None, keep_alive };
    Arc::new(ScriptedChannel::with_limits("c", limits).durable())
}

/// What a source puts into these channels with, all of them required.
pub(crate) fn processor(channels: &[&Arc<ScriptedChannel>]) -> ChannelProcessor {
    let order: Vec<usize> = (0..channels.len()).collect();
    let selector = Arc::new(Everywhere(channels.len()));
    let channels = channels.iter().map(|channel| (*channel).clone() as Arc<dyn Channel>).collect();
    ChannelProcessor::new(Vec::new(), selector, channels, &order, Arc::default())
}

/// A file of results that real Flume gave.
pub(crate) fn fixture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/fixtures")).join(name)
}

/// The values of a file with one JSON text a line.
pub(crate) fn json_lines<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An event as results have it: `{"headers": {…}, "body": "…"}`.
#[derive(Debug, Deserialize)]
pub(crate) struct RecordedEvent {
    headers: Pairs,
    body: String,
}

impl RecordedEvent {
    /// Adds it to a batch. A null header value becomes the empty string.
    pub(crate) fn push(&self, batch: &mut Batch) {
        let pairs =
            self.headers.0.iter().map(|(name, value)| (name.as_str(), value.as_deref().unwrap_or_default()));
        batch.push(Headers::from_iter(pairs), self.body());
    }

    pub(crate) fn body(&self) -> Vec<u8> {
        Base64::decode_vec(&self.body).unwrap()
    }

    /// Puts the headers into the order in which Java printed them in `text`. The order of names that share a place in
    /// Java's table is that of insertion, which recorded results do not tell.
    pub(crate) fn sort_headers(&mut self, text: &[u8]) {
        let place = |name: &str, value: &Option<String>| {
            let shown = format!("{name}={}", value.as_deref().unwrap_or("null"));
            text.windows(shown.len()).position(|part| part == shown.as_bytes())
        };
        self.headers.0.sort_by_cached_key(|(name, value)| place(name, value));
    }
}

/// Puts headers into the order in which Java has written them, as [`RecordedEvent::sort_headers`] does, of events that lie end
/// to end in Avro's coding.
pub(crate) fn sort_coded_headers(events: &mut [RecordedEvent], data: &[u8]) {
    use crate::shared::avro_file::take_number;
    fn text<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
        let len = usize::try_from(take_number(rest).unwrap()).unwrap();
        let (text, after) = rest.split_at(len);
        *rest = after;
        text
    }
    let mut rest = data;
    for event in events {
        let mut names: Vec<&[u8]> = Vec::new();
        loop {
            let count = take_number(&mut rest).unwrap();
            for _ in 0..count {
                names.push(text(&mut rest));
                text(&mut rest);
            }
            if count == 0 {
                break;
            }
        }
        assert_eq!(text(&mut rest), event.body());
        event.headers.0.sort_by_key(|(name, _)| names.iter().position(|known| *known == name.as_bytes()));
    }
}

/// A JSON object in the order in which it is written.
#[derive(Debug, Default)]
struct Pairs(Vec<(String, Option<String>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Self::default())
    }
}

impl<'de> Visitor<'de> for Pairs {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(pair) = map.next_entry()? {
            self.0.push(pair);
        }
        Ok(self)
    }
}

/// Events with these bodies and no headers.
pub(crate) fn batch_of(bodies: &[&str]) -> Batch {
    let mut batch = Batch::new();
    for body in bodies {
        batch.push(Headers::new(), body.as_bytes().to_vec());
    }
    batch
}

/// The bodies as text.
pub(crate) fn bodies(batch: &Batch) -> Vec<String> {
    batch.iter().map(|event| String::from_utf8(event.body.to_vec()).unwrap()).collect()
}
