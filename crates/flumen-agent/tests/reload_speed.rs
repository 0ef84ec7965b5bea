//! A reload of one component among a hundred is done in an instant, and the others do not notice.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_agent::{
    agent::{Agent, World},
    conf::{ConfigText, load},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{
    metrics::Value,
    registry::{Kind, Registry},
    world::SetClock,
};
use std::{fmt::Write, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Flows that wait for connections; with the one that counts they have a hundred components and two.
const IDLE_FLOWS: usize = 33;
/// A tenth of a second on a quiet machine.
const LIMIT: Duration = Duration::from_secs(1);

fn plan(registry: &Arc<Registry>, batch_size: u32) -> Plan {
    let mut text = "a.sources.r.type = seq\na.sources.r.channels = c\na.channels.c.type = memory\na.sinks.k.type = null\n\
                    a.sinks.k.channel = c\n"
        .to_owned();
    let mut lists = ["r".to_owned(), "c".to_owned(), "k".to_owned()];
    for i in 0..IDLE_FLOWS {
        let batch_size = if i == 17 { batch_size } else { 100 };
        let _ = write!(
            text,
            "a.sources.r{i}.type = netcat\na.sources.r{i}.bind = 127.0.0.1\na.sources.r{i}.port = 0\na.sources.r{i}.channels = c{i}\n\
             a.channels.c{i}.type = memory\na.sinks.k{i}.type = null\na.sinks.k{i}.channel = c{i}\na.sinks.k{i}.batchSize = {batch_size}\n"
        );
        for (list, letter) in lists.iter_mut().zip(["r", "c", "k"]) {
            let _ = write!(list, " {letter}{i}");
        }
    }
    let _ = write!(text, "a.sources = {}\na.channels = {}\na.sinks = {}\n", lists[0], lists[1], lists[2]);
    let context = PlanContext {
        registry: registry.clone(),
        environment: Arc::default(),
        clock: Arc::new(SetClock::default()),
    };
    let (plan, problems) = plan::read(&load(&[ConfigText::latin_1("flume.conf", &text)]).0, "a", &context);
    assert_eq!(problems, []);
    plan
}

/// What the counting flow has delivered, and how often any component was built anew.
fn delivered(agent: &Agent) -> (u64, u64) {
    let report = agent.board().report();
    let sink = report.iter().find(|component| component.kind == Kind::Sink && component.name == "k").unwrap();
    let count = sink.readings.iter().find(|reading| reading.name == "EventDrainSuccessCount").unwrap();
    let Value::Counter(count) = count.value else { panic!("no counter: {:?}", count.value) };
    (count, report.iter().map(|component| component.restarts).sum())
}

async fn more_than(agent: &Agent, events: u64) {
    while delivered(agent).0 <= events {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_a_hundred_components_is_changed_in_an_instant_and_the_others_go_on() {
    let registry = Arc::new(flumen_agent::registry());
    let world = World { clock: Arc::new(SetClock::default()), seed: 1, environment: Arc::default() };
    let mut agent = Agent::new(registry.clone(), world);
    assert!(agent.apply(plan(&registry, 100)).await.problems.is_empty());
    more_than(&agent, 0).await;
    for batch_size in [50, 60, 70] {
        let next = plan(&registry, batch_size);
        let (before, _) = delivered(&agent);
        let started = Instant::now();
        let applied = agent.apply(next).await;
        let took = started.elapsed();
        assert!(applied.changes.groups_started.iter().eq(["k17"]), "{:?}", applied.changes);
        assert!(applied.changes.sources_started.is_empty() && applied.changes.channels_built.is_empty());
        assert!(took < LIMIT, "{took:?}");
        more_than(&agent, before).await;
    }
    assert_eq!(delivered(&agent).1, 0, "nothing was built anew");
    agent.stop(Duration::ZERO).await;
}
