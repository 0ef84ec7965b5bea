//! Behaviours of Java Flume's own tests, about what is counted and about groups of sinks.

use super::*;
use crate::agent::board::{Board, Card, Life};
use flumen_core::{metrics::SinkMetrics, registry::ExtraMetrics, supervise::State};

fn card(started_ms: i64, metrics: Arc<SinkMetrics>) -> Card {
    Card {
        type_name: "null",
        started_ms,
        metrics,
        extra: vec![ExtraMetrics::default()],
        channel: None,
        life: Life { state: State::Stopped, restarts: 0, last_error: None, stopped_ms: 0 },
        opening: false,
    }
}

fn of(board: &Board, name: &str) -> (i64, i64, u64) {
    let report = board.report().remove(0);
    let value = report.readings.iter().find(|reading| reading.name == name).map(|reading| &reading.value);
    let Some(Value::Counter(n)) = value else { panic!("{name} is {value:?}") };
    (report.started_ms, report.stopped_ms, *n)
}

#[test]
fn mon_01_a_sink_counts_from_zero_under_javas_names() {
    let board = Board::default();
    board.enter(Kind::Sink, "k", card(5, Arc::default()));
    for name in [
        "ConnectionCreatedCount",
        "ConnectionClosedCount",
        "ConnectionFailedCount",
        "BatchEmptyCount",
        "BatchUnderflowCount",
        "BatchCompleteCount",
        "EventDrainAttemptCount",
        "EventDrainSuccessCount",
    ] {
        assert_eq!(of(&board, name), (5, 0, 0), "{name}");
    }
}

#[test]
fn mon_02_a_stop_keeps_the_counts_and_a_new_start_begins_anew() {
    let board = Board::default();
    let metrics = Arc::new(SinkMetrics::default());
    board.enter(Kind::Sink, "k", card(5, metrics.clone()));
    metrics.drained.add(7);
    assert_eq!(of(&board, "EventDrainSuccessCount"), (5, 0, 7));
    let stopped = Life { state: State::Stopped, restarts: 0, last_error: None, stopped_ms: 9 };
    board.set_life(Kind::Sink, &["k".to_owned()], &stopped);
    assert_eq!(of(&board, "EventDrainSuccessCount"), (5, 9, 7));
    board.enter(Kind::Sink, "k", card(11, Arc::default()));
    assert_eq!(of(&board, "EventDrainSuccessCount"), (11, 0, 0));
    // The figures of the whole agent go on.
    let (_, totals) = board.report_with_totals();
    assert_eq!(totals.get(Kind::Sink, "EventDrainSuccessCount"), 7);
    board.leave(Kind::Sink, "k");
    assert_eq!(board.report_with_totals().1.get(Kind::Sink, "EventDrainSuccessCount"), 7);
}

#[tokio::test(start_paused = true)]
async fn mon_02_a_changed_component_starts_later_and_at_zero() {
    let clock = Arc::new(SetClock::at(1_000));
    let world = World { clock: clock.clone(), seed: 1, environment: Arc::default() };
    let mut agent = Agent::new(registry(), world);
    agent.apply(flow("count", "good", "a.sinks.k.store = mon 2\n")).await;
    until("events", || reading(&agent, Kind::Sink, "k", "EventDrainSuccessCount") > 20).await;
    clock.set(2_000);
    agent.apply(flow("count", "failing", "a.sinks.k.store = mon 2\n")).await;
    let report = agent.board().report().into_iter().find(|component| component.name == "k").unwrap();
    assert_eq!((report.started_ms, report.stopped_ms), (2_000, 0));
    assert_eq!(reading(&agent, Kind::Sink, "k", "EventDrainSuccessCount"), 0);
    agent.stop(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn snk_04_all_sinks_of_a_failover_group_are_started_and_not_only_the_active_one() {
    let text = "a.sources = r\na.channels = c\na.sinks = s1 s2 s3\na.sinkgroups = g\na.sources.r.type = count\n\
        a.sources.r.channels = c\na.channels.c.type = memory\na.sinkgroups.g.sinks = s1 s2 s3\n\
        a.sinkgroups.g.processor.type = failover\na.sinkgroups.g.processor.priority.s1 = 3\n\
        a.sinkgroups.g.processor.priority.s2 = 2\na.sinkgroups.g.processor.priority.s3 = 1\n\
        a.sinkgroups.g.processor.maxpenalty = 10000\n";
    let sink = |name: &str| {
        format!(
            "a.sinks.{name}.type = collect\na.sinks.{name}.channel = c\na.sinks.{name}.store = snk 4 {name}\n"
        )
    };
    let agent = start(plan(&format!("{text}{}{}{}", sink("s1"), sink("s2"), sink("s3")))).await;
    until("events at the first", || stored("snk 4 s1").len() > 5).await;
    let sinks: Vec<_> =
        agent.board().report().into_iter().filter(|component| component.kind == Kind::Sink).collect();
    assert_eq!(sinks.len(), 3);
    for sink in sinks {
        assert_eq!((sink.state, sink.started_ms, sink.stopped_ms), ("running", 1_000, 0), "{}", sink.name);
    }
    assert!(stored("snk 4 s2").is_empty() && stored("snk 4 s3").is_empty());
    agent.stop(Duration::ZERO).await;
}

#[test]
fn snk_03_the_avro_sink_is_known_by_both_its_names() {
    let registry = registry();
    for name in ["avro", "org.apache.flume.sink.AvroSink"] {
        let known = registry.find_sink(name).is_some() || registry.find_absent(Kind::Sink, name).is_some();
        assert!(known, "{name}");
    }
}
