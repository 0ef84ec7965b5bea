//! What the storm is made of: parts that are watched, a model of a configuration, and random edits of it.

mod edits;
pub(crate) mod ledger;
mod model;
mod parts;
pub(crate) mod wait;

pub(crate) use model::{Model, PINNED_SOURCE};

use flumen_agent::{
    agent::{Agent, World},
    conf::{ConfigText, load},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{config::Severity, registry::Registry, world::WallClock};
use flumen_java::properties::Encoding;
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// A clock that shows another time whenever it is asked: no two starts look the same.
#[derive(Debug)]
struct Ticks(AtomicI64);

impl WallClock for Ticks {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Makes agents and plans with the watched parts.
pub(crate) struct Rig {
    registry: Arc<Registry>,
    clock: Arc<dyn WallClock>,
    // The parts find it by its number, as long as it is here.
    _ledger: Arc<ledger::Ledger>,
}

impl Rig {
    pub(crate) fn new(ledger: &Arc<ledger::Ledger>) -> Self {
        let registry = flumen_agent::registry().poll_source::<parts::Numbers>().sink::<parts::Collect>();
        Self {
            registry: Arc::new(registry),
            clock: Arc::new(Ticks(AtomicI64::new(1_000))),
            _ledger: ledger.clone(),
        }
    }

    pub(crate) fn agent(&self) -> Agent {
        let world = World { clock: self.clock.clone(), seed: 1, environment: Arc::default() };
        Agent::new(self.registry.clone(), world)
    }

    pub(crate) fn plan(&self, text: &str) -> Plan {
        let context = PlanContext {
            registry: self.registry.clone(),
            environment: Arc::default(),
            clock: self.clock.clone(),
        };
        let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
        let (plan, problems) = plan::read(&load(&[text]).0, "a", &context);
        let bad = problems.iter().filter(|problem| problem.severity >= Severity::Warning);
        let told: Vec<String> = bad.map(ToString::to_string).collect();
        // A channel may be without a source for a while.
        let told: Vec<String> =
            told.into_iter().filter(|told| !told.contains("no source that runs writes to it")).collect();
        assert!(told.is_empty(), "{told:?}");
        plan
    }
}
