//! What interceptors cost an event: those that set a header on all, and regex_extractor beside a bare loop of its pattern.

use crate::{
    Effort,
    clock::ns_each,
    flow::{interceptor, registry},
    report::Table,
};
use flumen_core::{
    event::{Batch, Headers},
    intercept::Interceptor,
};
use std::{hint::black_box, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Events in a batch.
const EVENTS: usize = 100;
/// Batches that are made before the clock starts: making and dropping them does not count. As many as are under way at a time
/// in an agent, so that memory is as warm.
const GROUP: usize = 8;
const PATTERN: &str = r"^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (\w+)";

/// Measures all.
pub(crate) fn measure(effort: Effort, table: &mut Table) {
    let mut row = |name: &str, goal: &str, ns: f64| {
        table.row(name, vec![format!("{ns:.2}"), goal.to_owned()]);
    };
    let three = [
        made("static", &[("key", "datacenter"), ("value", "north")]),
        made("host", &[]),
        made("timestamp", &[]),
    ];
    let all = median(effort, |batch| three.iter().for_each(|one| run(&**one, batch)));
    row("static + host + timestamp", "below 3 each", all);

    let extractor = made(
        "regex_extractor",
        &[
            ("regex", PATTERN),
            ("serializers", "a b c"),
            ("serializers.a.name", "day"),
            ("serializers.b.name", "time"),
            ("serializers.c.name", "level"),
        ],
    );
    let pattern = regex::bytes::Regex::new(PATTERN).expect("a good pattern");
    let mut places = pattern.capture_locations();
    let bare = median(effort, |batch| {
        for event in batch.iter() {
            black_box(pattern.captures_read(&mut places, event.body));
            black_box(&places);
        }
    });
    row("a bare regex loop, three groups", "", bare);
    row("regex_extractor, the same", "bare + 60", median(effort, |batch| run(&*extractor, batch)));

    for (name, pairs) in [
        ("regex_filter", &[("regex", "INFO|WARN")][..]),
        ("search_replace", &[("searchPattern", r"\d{2}:\d{2}:\d{2}"), ("replaceString", "-")]),
        ("remove_header", &[("withName", "file")]),
        ("uuid", &[]),
    ] {
        let one = made(name, pairs);
        row(name, "", median(effort, |batch| run(&*one, batch)));
    }
}

fn run(interceptor: &dyn Interceptor, batch: &mut Batch) {
    interceptor.intercept(batch).expect("these settings never fail");
}

fn made(name: &str, pairs: &[(&str, &str)]) -> Arc<dyn Interceptor> {
    interceptor(name, pairs, &registry())
}

/// Nanoseconds an event: the median of the rounds.
fn median(effort: Effort, mut work: impl FnMut(&mut Batch)) -> f64 {
    let groups = (effort.events / (EVENTS * GROUP * 10)).max(1);
    let read: Vec<Batch> = (0..GROUP).map(|_| batch()).collect();
    let mut round = || {
        let mut spent = Duration::ZERO;
        for _ in 0..groups {
            let mut batches = read.clone();
            let start = Instant::now();
            batches.iter_mut().for_each(&mut work);
            spent += start.elapsed();
            black_box(&batches);
        }
        ns_each(spent, groups * GROUP * EVENTS)
    };
    round();
    let mut rounds: Vec<f64> = (0..effort.rounds).map(|_| round()).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[rounds.len() / 2]
}

/// A batch as a source reads it: one buffer, one set of headers.
fn batch() -> Batch {
    let lines = (0..EVENTS)
        .map(|n| format!("2026-11-30 12:34:{:02} INFO request {n} took {} ms", n % 60, n * 7 % 113));
    let lines: Vec<String> = lines.collect();
    let mut batch = Batch::with_capacity(EVENTS);
    let segment = batch.add_segment(lines.concat().into());
    let set = batch.add_headers(Headers::from_iter([("file", "/var/log/app.log")]));
    let mut start = 0;
    for line in &lines {
        let end = start + u32::try_from(line.len()).expect("a line is short");
        batch.push_slice(set, segment, start..end);
        start = end;
    }
    batch
}
