//! Who is running and what they count: the one list that all reports read.

use super::totals::Totals;
use flumen_core::{
    channel::Channel,
    metrics::{MetricSet, Reading, Value},
    planted::{self, Bug},
    registry::{ExtraMetrics, Kind},
    supervise::State,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

/// All live components. A component is entered when it starts and leaves when a reload removes it.
#[derive(Debug, Default)]
pub struct Board {
    cards: Mutex<Cards>,
    /// The channel that a panic has left half changed, once there is one.
    broken: watch::Sender<Option<String>>,
}

#[derive(Debug, Default)]
struct Cards {
    live: BTreeMap<(Kind, String), Card>,
    /// What those counted that are not here any more.
    gone: Totals,
}

/// One component.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) type_name: &'static str,
    pub(super) started_ms: i64,
    pub(super) metrics: Arc<dyn MetricSet>,
    pub(super) extra: Vec<ExtraMetrics>,
    pub(super) channel: Option<Arc<dyn Channel>>,
    pub(super) life: Life,
    /// A channel that is being opened: nothing can be put or taken yet.
    pub(super) opening: bool,
}

/// What the supervisor knows of a component.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) state: State,
    pub(super) restarts: u64,
    pub(super) last_error: Option<String>,
    pub(super) stopped_ms: i64,
}

impl Default for Life {
    fn default() -> Self {
        Self { state: State::Stopped, restarts: 0, last_error: None, stopped_ms: 0 }
    }
}

/// What a report shows of one component.
#[derive(Debug, Clone)]
pub struct ComponentReport {
    /// Source, channel or sink.
    pub kind: Kind,
    /// Its name in the configuration.
    pub name: String,
    /// The registry's short name of its type.
    pub type_name: &'static str,
    /// When it was started, in milliseconds since 1970.
    pub started_ms: i64,
    /// When it stopped, or 0.
    pub stopped_ms: i64,
    /// `running`, `opening` (a channel), `backing-off` or `stopped`.
    pub state: &'static str,
    /// How often it was built anew after a failure.
    pub restarts: u64,
    /// Why it failed last.
    pub last_error: Option<String>,
    /// What it counts.
    pub readings: Vec<Reading>,
}

impl Board {
    pub(super) fn enter(&self, kind: Kind, name: &str, card: Card) {
        let mut cards = self.lock();
        let key = (kind, name.to_owned());
        if let Some(old) = cards.live.remove(&key) {
            cards.gone.add_gone(&old.report(&key));
        }
        cards.live.insert(key, card);
    }

    /// Takes a component off that has stopped. What it counted stays in the totals.
    pub(super) fn leave(&self, kind: Kind, name: &str) {
        let mut cards = self.lock();
        let key = (kind, name.to_owned());
        let old = cards.live.remove(&key).filter(|_| !planted::is(Bug::TotalsForgetReplacedParts));
        if let Some(old) = old {
            cards.gone.add_gone(&old.report(&key));
        }
    }

    pub(super) fn set_life(&self, kind: Kind, names: &[String], life: &Life) {
        let mut cards = self.lock();
        for name in names {
            if let Some(card) = cards.live.get_mut(&(kind, name.clone())) {
                card.life = life.clone();
            }
        }
    }

    /// Notes that a channel is being opened, or has been.
    pub(super) fn set_opening(&self, channel: &str, opening: bool) {
        if let Some(card) = self.lock().live.get_mut(&(Kind::Channel, channel.to_owned())) {
            card.opening = opening;
        }
    }

    /// Looks, after a component has failed, whether that has broken a channel.
    pub(super) fn look_for_broken_channels(&self) {
        let cards = self.lock();
        let broken = |card: &&Card| card.channel.as_ref().is_some_and(|channel| channel.is_broken());
        if let Some(channel) = cards.live.values().find(broken).and_then(|card| card.channel.as_ref()) {
            self.broken.send_replace(Some(channel.name().to_owned()));
        }
    }

    /// Waits until a channel is broken, and names it.
    pub(super) fn broken(&self) -> impl Future<Output = String> + Send + use<> {
        let mut broken = self.broken.subscribe();
        async move {
            // An error means that the agent is gone; whoever waits goes with it.
            match broken.wait_for(Option::is_some).await.map(|name| name.clone()) {
                Ok(Some(name)) => name,
                _ => std::future::pending().await,
            }
        }
    }

    /// All components: sources, channels, sinks, each by name.
    pub fn report(&self) -> Vec<ComponentReport> {
        self.lock().live.iter().map(|(key, card)| card.report(key)).collect()
    }

    /// The same, and what they and all that were replaced count together.
    pub fn report_with_totals(&self) -> (Vec<ComponentReport>, Totals) {
        let cards = self.lock();
        // Against the stream, sinks first: an event that moves on meanwhile counts as in flight, and never as less than none.
        let mut report: Vec<_> = cards.live.iter().rev().map(|(key, card)| card.report(key)).collect();
        report.reverse();
        let mut totals = cards.gone.clone();
        report.iter().for_each(|component| totals.add(component));
        (report, totals)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cards> {
        self.cards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Card {
    fn report(&self, (kind, name): &(Kind, String)) -> ComponentReport {
        let mut readings = self.metrics.readings();
        readings.extend(self.channel.iter().flat_map(|channel| channel_report(&**channel)));
        let extra = self.extra.iter().flat_map(ExtraMetrics::all);
        extra.for_each(|extra| add_up(&mut readings, extra.readings()));
        ComponentReport {
            kind: *kind,
            name: name.clone(),
            type_name: self.type_name,
            started_ms: self.started_ms,
            stopped_ms: self.life.stopped_ms,
            state: match self.life.state {
                State::Running { .. } if self.opening => "opening",
                state => state.name(),
            },
            restarts: self.life.restarts,
            last_error: self.life.last_error.clone(),
            readings,
        }
    }
}

/// Adds readings. Several parts of a component can count the same (two interceptors of a source): that is one sum.
fn add_up(readings: &mut Vec<Reading>, more: Vec<Reading>) {
    for reading in more {
        let known =
            readings.iter_mut().find(|known| known.name == reading.name).map(|known| &mut known.value);
        match (known, &reading.value) {
            (Some(Value::Counter(sum)), Value::Counter(n)) => *sum += n,
            _ => readings.push(reading),
        }
    }
}

/// What is read from a channel when it is asked for, under Flume's names and ours.
#[expect(clippy::cast_precision_loss, reason = "a report shows fifteen digits")]
pub fn channel_report(channel: &dyn Channel) -> Vec<Reading> {
    let (depth, limits) = (channel.depth(), channel.limits());
    let size = (depth.queued + depth.on_loan) as f64;
    // Java divides by a capacity of 0 and so shows the largest double.
    let fill = if limits.capacity == 0 { f64::MAX } else { 100.0 * size / limits.capacity as f64 };
    let oldest_ms = depth.oldest.map_or(0.0, |since| since.elapsed().as_secs_f64() * 1000.0);
    let gauge = |name, help, value| Reading { name, help, value: Value::Gauge(value) };
    let balance = depth.stored_total as f64 - depth.removed_total as f64 - size;
    let counter = |name, help, value| Reading { name, help, value: Value::Counter(value) };
    vec![
        counter(
            "EventStoredCount",
            "Events that were stored, those found at the opening included.",
            depth.stored_total,
        ),
        counter("EventRemovedCount", "Events that left for good.", depth.removed_total),
        gauge("EventBalance", "Stored less removed less present: always 0.", balance),
        gauge("ChannelSize", "Events that are stored, those on loan to sinks included.", size),
        gauge("ChannelCapacity", "Events that fit.", limits.capacity as f64),
        Reading {
            name: "ChannelFillPercentage",
            help: "Stored events in per cent of the capacity.",
            value: Value::Fraction(fill),
        },
        gauge("ChannelBytes", "Bytes of the bodies that are stored.", depth.bytes as f64),
        gauge(
            "EventOnLoanCount",
            "Events that sinks have taken and not yet committed.",
            depth.on_loan as f64,
        ),
        gauge("EventReservedCount", "Events that sources are about to store.", depth.reserved as f64),
        gauge("OldestEventAgeMs", "How long the oldest stored event has waited, in milliseconds.", oldest_ms),
    ]
}
