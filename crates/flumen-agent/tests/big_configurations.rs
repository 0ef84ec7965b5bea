//! Large configurations are read in an instant, whether they are right or wrong.

use flumen_agent::{
    conf::{ConfigText, load},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{config::Problem, registry::Environment, world::SetClock};
use std::{fmt::Write, sync::Arc, time::Duration};

/// A second, and room for a machine that others keep busy.
const LIMIT: Duration = Duration::from_secs(10);

fn read(text: &str, agent: &str) -> (Plan, Vec<Problem>, Duration) {
    let context = PlanContext {
        registry: Arc::new(flumen_agent::registry()),
        environment: Arc::new(Environment::default()),
        clock: Arc::new(SetClock::default()),
    };
    let started = tokio::time::Instant::now();
    let text = ConfigText::latin_1("flume.conf", text);
    let (entries, _) = load(&[text]);
    let (plan, problems) = plan::read(&entries, agent, &context);
    (plan, problems, started.elapsed())
}

fn flow(text: &mut String, agent: &str, i: usize, channel: &str) {
    let _ = writeln!(text, "{agent}.sources.r{i}.type = seq\n{agent}.sources.r{i}.channels = {channel}");
    let _ = writeln!(text, "{agent}.channels.c{i}.type = memory");
    let _ = writeln!(text, "{agent}.sinks.k{i}.type = null\n{agent}.sinks.k{i}.channel = {channel}");
}

fn lists(text: &mut String, agent: &str, n: usize) {
    for (list, letter) in [("sources", "r"), ("channels", "c"), ("sinks", "k")] {
        let names: Vec<String> = (0..n).map(|i| format!("{letter}{i}")).collect();
        let _ = writeln!(text, "{agent}.{list} = {}", names.join(" "));
    }
}

#[test]
fn three_hundred_agents_in_ten_thousand_lines() {
    let mut text = String::new();
    for agent in 0..300 {
        let agent = format!("agent{agent}");
        lists(&mut text, &agent, 6);
        (0..6).for_each(|i| flow(&mut text, &agent, i, &format!("c{i}")));
    }
    assert!(text.lines().count() > 9_000);
    let (plan, problems, took) = read(&text, "agent299");
    assert_eq!((plan.sources.len(), problems.len()), (6, 0));
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn one_agent_of_six_thousand_components() {
    let mut text = String::new();
    lists(&mut text, "a", 2_000);
    (0..2_000).for_each(|i| flow(&mut text, "a", i, &format!("c{i}")));
    let (plan, problems, took) = read(&text, "a");
    assert_eq!((plan.groups.len(), problems.len()), (2_000, 0));
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn an_agent_where_everything_is_wrong() {
    let mut text = String::new();
    lists(&mut text, "a", 2_000);
    (2_000..4_000).for_each(|i| flow(&mut text, "a", i, "none"));
    let (plan, problems, took) = read(&text, "a");
    assert!(plan.is_empty());
    assert!(problems.len() > 10_000, "{}", problems.len());
    assert!(took < LIMIT, "{took:?}");
}
