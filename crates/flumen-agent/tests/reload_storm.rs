//! Reloads under load, by the thousand: what an edit does not name goes on undisturbed, nothing that was acknowledged is
//! lost, an edit that cannot be done changes nothing, and a stop in the middle of one always ends.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

mod storm;

use flumen_agent::agent::{Agent, ComponentReport};
use flumen_core::{metrics::Value, registry::Kind};
use std::{collections::BTreeMap, fmt::Write, time::Duration};
use storm::wait::pause;
use storm::{Model, PINNED_SOURCE, Rig, ledger::Ledger};
use tokio::time::{Instant, timeout};

/// Storms, each with its own seed, and edits of each: two thousand in all.
const STORMS: u64 = 40;
const EDITS: usize = 50;

/// A component as reports know it.
type Id = (Kind, String);

fn reports(agent: &Agent) -> BTreeMap<Id, ComponentReport> {
    agent.board().report().into_iter().map(|report| ((report.kind, report.name.clone()), report)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a test counts to a million")]
fn number(report: &ComponentReport, name: &str) -> f64 {
    match report.readings.iter().find(|reading| reading.name == name).unwrap().value {
        Value::Counter(n) => n as f64,
        Value::Gauge(n) => n,
        ref other => panic!("{name} is {other:?}"),
    }
}

/// What an untouched component must show after an edit: the same start, no restart, and nothing counted back.
fn assert_untouched(before: &ComponentReport, after: &ComponentReport, edit: &str) {
    let what = format!("{} {} after: {edit}", before.kind, before.name);
    assert_eq!((after.started_ms, after.restarts), (before.started_ms, before.restarts), "{what}");
    assert_ne!(after.state, "backing-off", "{what}");
    for reading in before.readings.iter().filter(|reading| matches!(reading.value, Value::Counter(_))) {
        let (old, new) = (number(before, reading.name), number(after, reading.name));
        assert!(new >= old, "{what}: {} went from {old} to {new}", reading.name);
    }
}

/// Nothing goes missing in the figures of the whole agent, and none goes back, whatever was replaced.
fn assert_balanced(agent: &Agent, before: &mut BTreeMap<&'static str, i64>, edit: &str) {
    let (_, totals) = agent.board().report_with_totals();
    let figures: BTreeMap<_, _> = totals.figures().into_iter().collect();
    assert_eq!(figures["EventBalance"], 0, "after: {edit}: {figures:?}");
    let in_flight = totals.get(Kind::Source, "EventInFlightCount");
    assert_eq!(figures["EventsInFlight"], in_flight, "after: {edit}: {figures:?}");
    for name in ["EventReceivedCount", "EventStoredCount", "EventRemovedCount", "EventDeliveredCount"] {
        assert!(figures[name] >= before.get(name).copied().unwrap_or(0), "{name} after: {edit}: {figures:?}");
    }
    *before = figures;
}

/// One storm: random edits of a model, applied while sources put and sinks take.
async fn storm(seed: u64) {
    let ledger = Ledger::new(seed);
    let rig = Rig::new(&ledger);
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut model = Model::new();
    let mut agent = rig.agent();
    let applied = agent.apply(rig.plan(&model.text(seed))).await;
    assert!(applied.problems.is_empty(), "{:?}", applied.problems);
    let mut pinned_count = 0.0;
    let mut figures = BTreeMap::new();
    for _ in 0..EDITS {
        pause(Duration::from_millis(rng.u64(2..20))).await;
        let old = model.clone();
        let edit = model.edit(&mut rng);
        let (before, plan_before) = (reports(&agent), agent.plan().clone());
        let applied = agent.apply(rig.plan(&model.text(seed))).await;
        if edit.is_broken {
            assert!(!applied.problems.is_empty(), "nothing is said of: {edit}");
            assert!(applied.changes.is_empty(), "{edit}: {:?}", applied.changes);
            assert_eq!(*agent.plan(), plan_before, "{edit}");
            model = old.clone();
        } else {
            assert!(applied.problems.is_empty(), "{edit}: {:?}", applied.problems);
        }
        let after = reports(&agent);
        let touched = model.touched_since(&old);
        assert_eq!(after.keys().cloned().collect::<Vec<_>>(), model.components(), "{edit}");
        for (id, report) in before.iter().filter(|(id, _)| !touched.contains(id)) {
            if let Some(now) = after.get(id) {
                assert_untouched(report, now, &edit.to_string());
            }
        }
        for channel in after.values().filter(|report| report.kind == Kind::Channel) {
            assert!(number(channel, "EventBalance").abs() < 0.5, "{} after: {edit}", channel.name);
        }
        assert_balanced(&agent, &mut figures, &edit.to_string());
        // A flow that no edit names goes on counting.
        pause(Duration::from_millis(5)).await;
        let pinned = &reports(&agent)[&(Kind::Source, PINNED_SOURCE.to_owned())];
        let count = number(pinned, "EventReceivedCount");
        assert!(count > pinned_count, "the flow that nobody touched stands still after: {edit}");
        pinned_count = count;
    }
    // The last reload is given up at some moment, as by a signal to stop.
    model.mend_sinks();
    agent.apply(rig.plan(&model.text(seed))).await;
    pause(Duration::from_millis(50)).await;
    let edit = model.edit(&mut rng);
    let cut_at = Duration::from_millis(rng.u64(0..8));
    let given_up = timeout(cut_at, agent.apply(rig.plan(&model.text(seed)))).await.is_err();
    let stopped = timeout(Duration::from_secs(600), agent.stop(Duration::from_secs(60))).await;
    let report =
        stopped.unwrap_or_else(|_| panic!("seed {seed}: no stop {cut_at:?} after the begin of: {edit}"));
    let left = report.left.iter().map(|left| (left.channel.clone(), left.events)).collect();
    ledger.assert_nothing_lost(&left, given_up);
}

#[test]
fn fix_94_cfg_19_two_thousand_edits_under_load_lose_nothing_and_touch_only_what_they_name() {
    for seed in 0..STORMS {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().start_paused(true).build().unwrap();
        runtime.block_on(storm(seed));
    }
}

/// 33 flows, and one sink more.
fn hundred(ledger: u64, rows_of_the_last: u32) -> String {
    let names = |what: &str| (0..33).map(|i| format!("{what}{i}")).collect::<Vec<_>>().join(" ");
    let (sources, channels, sinks) = (names("s"), names("c"), names("k"));
    let mut text = format!("a.sources = {sources}\na.channels = {channels}\na.sinks = {sinks} last\n");
    for i in 0..33 {
        let (source, channel) = (format!("a.sources.s{i}"), format!("c{i}"));
        writeln!(text, "{source}.type = numbers\n{source}.channels = {channel}").unwrap();
        writeln!(text, "{source}.lands = {channel}\n{source}.ledger = {ledger}").unwrap();
        writeln!(text, "a.channels.{channel}.type = memory").unwrap();
    }
    let sinks = (0..33).map(|i| (format!("k{i}"), i, 1)).chain([("last".to_owned(), 0, rows_of_the_last)]);
    for (name, channel, rows) in sinks {
        let sink = format!("a.sinks.{name}");
        writeln!(text, "{sink}.type = collect\n{sink}.channel = c{channel}\n{sink}.from = c{channel}")
            .unwrap();
        writeln!(text, "{sink}.ledger = {ledger}\n{sink}.rows = {rows}").unwrap();
    }
    text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reload_of_one_component_of_a_hundred_touches_that_one() {
    let ledger = Ledger::new(1_000);
    let rig = Rig::new(&ledger);
    let mut agent = rig.agent();
    agent.apply(rig.plan(&hundred(1_000, 1))).await;
    pause(Duration::from_millis(50)).await;
    let before = reports(&agent);
    assert_eq!(before.len(), 100);
    let begin = Instant::now();
    let applied = agent.apply(rig.plan(&hundred(1_000, 2))).await;
    println!("a reload of one component of a hundred took {:?}", begin.elapsed());
    assert_eq!(applied.changes.groups_started.iter().collect::<Vec<_>>(), ["last"]);
    assert!(applied.changes.sources_started.is_empty() && applied.changes.channels_built.is_empty());
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let after = reports(&agent);
        for (id, report) in &before {
            match id.1.as_str() {
                "last" => assert!(after[id].started_ms > report.started_ms),
                _ => assert_untouched(report, &after[id], "one sink is another"),
            }
        }
        let received = |report: &ComponentReport| number(report, "EventReceivedCount");
        let sources = before.iter().filter(|(id, _)| id.0 == Kind::Source);
        if sources.into_iter().all(|(id, report)| received(&after[id]) > received(report)) {
            break;
        }
        assert!(Instant::now() < deadline, "sources stand still after the reload");
        pause(Duration::from_millis(5)).await;
    }
    let left = agent.stop(Duration::from_secs(20)).await.left;
    let left = left.iter().map(|left| (left.channel.clone(), left.events)).collect();
    ledger.assert_nothing_lost(&left, false);
}
