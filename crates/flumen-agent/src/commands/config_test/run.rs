//! Runs cases through the real way from a source to its channels.

use super::{
    Outcome, errors,
    file::{Case, Expected, TestFile},
};
use crate::{
    agent::build::{Channels, processor},
    commands::Program,
    plan::{Plan, SecretValues},
};
use flumen_core::{
    channel::Channel,
    config::{Problem, Settings},
    event::{Batch, Event, Headers},
    metrics::{ChannelMetrics, SourceMetrics},
    registry::{BuildContext, ChannelContext, ExtraMetrics},
    world::SetClock,
};
use std::{collections::BTreeMap, sync::Arc};
use tokio::runtime::Runtime;

/// The most events of a case.
const MOST_EVENTS: u32 = 1_000_000;

/// Runs all cases. The plan may have faults in parts that no case uses.
pub(super) fn all(
    program: &Program,
    runtime: &Runtime,
    plan: &Plan,
    problems: &[Problem],
    file: &TestFile,
) -> Result<Vec<Outcome>, String> {
    let secrets = SecretValues::of(plan.parts(), &program.registry);
    let run = |case: &Case| {
        if !plan.sources.contains_key(&case.source) {
            let why = errors(problems);
            let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
            return Err(format!("case `{}`: there is no source `{}`{why}", case.name, case.source));
        }
        let differences = runtime.block_on(one(program, plan, case)).unwrap_or_else(|error| vec![error]);
        let differences = differences.into_iter().map(|difference| secrets.hide(difference)).collect();
        Ok(Outcome { name: case.name.clone(), differences })
    };
    file.cases.iter().map(run).collect()
}

async fn one(program: &Program, plan: &Plan, case: &Case) -> Result<Vec<String>, String> {
    let source = &plan.sources[&case.source];
    let context = BuildContext {
        agent: plan.agent.as_str().into(),
        name: case.source.as_str().into(),
        clock: Arc::new(SetClock::at(case.clock)),
        seed: 0,
        environment: program.environment.clone(),
        registry: program.registry.clone(),
        extra: ExtraMetrics::default(),
    };
    let mut channels = Channels::new();
    for name in &source.channels {
        channels.insert(name.clone(), roomy_channel(name, &context)?);
    }
    let unknown = case.expect.keys().find(|name| !channels.contains_key(*name));
    if let Some(name) = unknown {
        return Err(format!("source `{}` has no channel `{name}`", case.source));
    }
    let out = processor(source, plan, &channels, &context, Arc::new(SourceMetrics::default()));
    let out = out.map_err(|error| error.to_string())?;
    let mut batch = Batch::new();
    for event in &case.events {
        batch.push(
            event.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect::<Headers>(),
            event.body.clone(),
        );
    }
    out.put(batch).await.map_err(|error| error.to_string())?;
    Ok(differences(case, &channels))
}

/// A memory channel in which everything has room.
fn roomy_channel(name: &str, context: &BuildContext) -> Result<Arc<dyn Channel>, String> {
    let entry = context.registry.find_channel("memory").ok_or("there is no memory channel")?;
    let most = MOST_EVENTS.to_string();
    let mut settings = Settings::new(name);
    settings.set("capacity", most.as_str(), None);
    settings.set("transactionCapacity", most.as_str(), None);
    let common = BuildContext { name: name.into(), ..context.clone() };
    let context = ChannelContext { common, metrics: Arc::new(ChannelMetrics::default()) };
    (entry.build)(&settings, &context).map_err(|error| error.to_string())
}

fn differences(case: &Case, channels: &Channels) -> Vec<String> {
    let none = Vec::new();
    let mut differences = Vec::new();
    for (name, channel) in channels {
        let expected = case.expect.get(name).unwrap_or(&none);
        let got = match channel.try_take(MOST_EVENTS) {
            Ok(taken) => taken.map(|taken| taken.batch().clone()).unwrap_or_default(),
            Err(error) => {
                differences.push(error.to_string());
                continue;
            }
        };
        if got.len() != expected.len() {
            differences.push(format!(
                "channel {name}: {} events expected, {} came",
                expected.len(),
                got.len()
            ));
        }
        for (i, event) in got.iter().enumerate() {
            match expected.get(i) {
                Some(expected) => differences.extend(
                    compare(event, expected, case.other_headers)
                        .into_iter()
                        .map(|what| format!("channel {name}, event {}: {what}", i + 1)),
                ),
                None => differences.push(format!(
                    "channel {name}, event {}: not expected: {}",
                    i + 1,
                    shown(event)
                )),
            }
        }
    }
    differences
}

fn compare(event: Event<'_>, expected: &Expected, other_headers: bool) -> Vec<String> {
    let mut differences = Vec::new();
    let got: BTreeMap<&str, &str> =
        event.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for (name, value) in &expected.headers {
        match got.get(name.as_str()) {
            Some(got) if got == value => {}
            Some(got) => differences.push(format!("header {name}: {value:?} expected, {got:?} came")),
            None => differences.push(format!("header {name}: {value:?} expected, there is none")),
        }
    }
    if !other_headers {
        let more = got.iter().filter(|(name, _)| !expected.headers.contains_key(**name));
        differences.extend(more.map(|(name, value)| format!("header {name}: not expected, it is {value:?}")));
    }
    if let Some(body) = &expected.body
        && body.as_bytes() != event.body
    {
        differences.push(format!("body: {body:?} expected, {:?} came", String::from_utf8_lossy(event.body)));
    }
    differences
}

fn shown(event: Event<'_>) -> String {
    let headers: Vec<String> = event.headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{:?} with headers [{}]", String::from_utf8_lossy(event.body), headers.join(", "))
}
