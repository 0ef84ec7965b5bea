//! A sink that delivers to the observer, in part, late, twice, not at all, or into thin air.

use crate::{
    events,
    observer::{Observer, observer},
};
use flumen_core::{
    config::{Configuration, Property, View},
    event::Batch,
    registry::{BuildError, Facts, SinkContext, SinkType},
    sink::{DeliverError, Delivery, Sink},
};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};

/// What the configuration says of it.
#[derive(Debug)]
pub(crate) struct Script {
    world: u64,
    batch_size: u32,
}

impl Configuration for Script {
    const PROPERTIES: &'static [Property] = &[
        Property { key: "world", kind: "number", doc: "Its observer.", default: Some("0"), ..Property::NEW },
        Property { key: "batchSize", kind: "number", doc: "Events.", default: Some("1"), ..Property::NEW },
    ];

    fn read(view: &mut View<'_>) -> Option<Self> {
        let [world, batch_size] = Self::PROPERTIES else { return None };
        Some(Self { world: view.value(world)?, batch_size: view.value(batch_size)? })
    }
}

/// See the module.
pub(crate) struct ScriptedSink {
    observer: Arc<Observer>,
    name: Arc<str>,
    /// What is sent and not yet safe, and when it is.
    held: VecDeque<(Vec<u64>, Instant)>,
    deadline: Option<Instant>,
}

impl SinkType for ScriptedSink {
    const NAMES: &'static [&'static str] = &["scripted"];
    const SUMMARY: &'static str = "Delivers to an observer.";
    type Config = Script;

    fn build(config: Script, context: &SinkContext) -> Result<Self, BuildError> {
        let name = context.common.name.clone();
        Ok(Self { observer: observer(config.world), name, held: VecDeque::new(), deadline: None })
    }

    fn facts(config: &Script) -> Facts {
        Facts { batch_size: Some(config.batch_size), batch_size_key: "batchSize", ..Facts::default() }
    }
}

impl ScriptedSink {
    /// What is held is back in the channel after every error.
    fn fail(&mut self, error: DeliverError) -> DeliverError {
        self.held.clear();
        self.deadline = None;
        error
    }

    fn failure(&mut self) -> DeliverError {
        let error = match self.observer.chance(2) {
            0 => DeliverError::backoff("the script says so"),
            _ => DeliverError::rebuild("the script says so"),
        };
        self.fail(error)
    }

    fn settle(&mut self, all: bool) -> u32 {
        let mut n_batches = 0;
        while let Some((numbers, due)) = self.held.pop_front() {
            if !all && due > Instant::now() {
                self.held.push_front((numbers, due));
                break;
            }
            self.observer.delivered(&self.name, &numbers);
            n_batches += 1;
        }
        self.deadline = self.held.front().map(|(_, due)| *due);
        n_batches
    }
}

impl Sink for ScriptedSink {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let numbers: Vec<u64> =
            batch.iter().filter_map(|event| self.observer.read(events::number(event))).collect();
        self.observer.handed(&self.name, &numbers);
        if self.observer.is_wrong() {
            // What is wrong may go on for ever without any time passing.
            return std::future::pending().await;
        }
        let all = Delivery::all(batch);
        if self.observer.is_storm() {
            return Err(self.failure());
        }
        let act = if self.observer.is_over() { 99 } else { self.observer.chance(60) };
        if !self.held.is_empty() && !matches!(act, 0..=3 | 8..=14) {
            // Batches leave in their order: behind what is held, this one is held too.
            let (_, last) = self.held[self.held.len() - 1];
            self.held.push_back((numbers, last));
            return Ok(Delivery::held(batch));
        }
        match act {
            0 if self.held.is_empty() => {
                let done = self.observer.chance(numbers.len() as u64 + 1);
                self.observer.delivered(&self.name, &numbers[..usize::try_from(done).unwrap_or(0)]);
                return Ok(Delivery::first(u32::try_from(done).unwrap_or(0)));
            }
            1 if self.held.is_empty() => {
                // Refused for good is where an event may end, too.
                self.observer.delivered(&self.name, &numbers);
                return Ok(Delivery { discarded: vec![(0, "the script says so")], ..all });
            }
            5 => {
                // It has arrived, and nobody knows.
                self.observer.delivered(&self.name, &numbers);
                self.observer.excused(&self.name, &numbers);
                return Err(self.failure());
            }
            6 | 7 => {
                self.observer.delivered(&self.name, &numbers);
                self.observer.excused(&self.name, &numbers);
                sleep(Duration::from_millis(self.observer.chance(9_000))).await;
                self.observer.not_excused(&self.name, &numbers);
                return Ok(all);
            }
            8 => {
                sleep(Duration::from_secs(self.observer.chance(90))).await;
                return Err(self.failure());
            }
            9..=14 => {
                let due = Instant::now() + Duration::from_millis(self.observer.chance(5_000));
                let due = self.held.back().map_or(due, |(_, last)| due.max(*last));
                self.held.push_back((numbers, due));
                self.deadline = self.held.front().map(|(_, due)| *due);
                return Ok(Delivery::held(batch));
            }
            0..=3 => return Err(self.failure()),
            _ => {}
        }
        self.observer.delivered(&self.name, &numbers);
        Ok(Delivery { pause: act == 4, ..all })
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }

    async fn on_deadline(&mut self) -> Result<(), DeliverError> {
        // Early, when the runner holds too much; then all of it is made safe.
        if !self.observer.is_over() && self.observer.chance(20) == 0 {
            return Err(self.failure());
        }
        for (_, due) in &mut self.held {
            *due = Instant::now();
        }
        self.deadline = None;
        Ok(())
    }

    fn settled(&mut self) -> Result<u32, DeliverError> {
        if !self.held.is_empty() && !self.observer.is_over() && self.observer.chance(200) == 0 {
            return Err(self.failure());
        }
        Ok(self.settle(false))
    }

    async fn close(&mut self) -> Result<(), DeliverError> {
        if self.observer.chance(3) == 0 {
            return Err(self.failure());
        }
        for (_, due) in &mut self.held {
            *due = Instant::now();
        }
        Ok(())
    }
}
