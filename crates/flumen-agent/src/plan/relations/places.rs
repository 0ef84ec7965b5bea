//! No two components may have the same port or directory.

use super::problem;
use crate::plan::{Part, Plan, PlanContext};
use flumen_core::{
    config::{Problem, Severity},
    registry::{Listening, Transport},
};
use std::path::{Path, PathBuf};

/// Where the monitor listens, if it does.
const MONITOR_PORT: &str = "flume.monitoring.port";

/// Takes out the later of two sources with one port and of two channels with one directory; tells of sinks with one directory.
pub(super) fn check(plan: &mut Plan, context: &PlanContext, problems: &mut Vec<Problem>) {
    drop_second_listeners(plan, problems);
    drop_second_owners(plan, problems);
    tell_shared_sink_directories(plan, problems);
    tell_monitor_port(plan, context, problems);
}

fn drop_second_listeners(plan: &mut Plan, problems: &mut Vec<Problem>) {
    let mut taken: Vec<(String, Listening)> = Vec::new();
    let mut drop = Vec::new();
    for (name, source) in &plan.sources {
        let clash = source.part.facts.listens.iter().find_map(|own| {
            let other = taken.iter().find(|(_, other)| clashes(own, other))?;
            Some((own, other))
        });
        if let Some((own, (other, _))) = clash {
            let transport = if own.transport == Transport::Tcp { "TCP" } else { "UDP" };
            let what = format!(
                "{transport} port {} is source `{other}`'s already, so this source does not run",
                own.port
            );
            problems.push(
                problem(Severity::Error, &source.part.settings, own.key, what)
                    .with_cure("choose another port"),
            );
            drop.push(name.clone());
        } else {
            taken.extend(source.part.facts.listens.iter().map(|own| (name.clone(), own.clone())));
        }
    }
    plan.sources.retain(|name, _| !drop.contains(name));
}

/// Whether both cannot be had: the same port (0 is any free one) on the same address, or one of them on all addresses.
fn clashes(a: &Listening, b: &Listening) -> bool {
    let all = |host: &str| matches!(host, "0.0.0.0" | "::" | "[::]" | "*" | "");
    a.port != 0
        && (a.port, a.transport) == (b.port, b.transport)
        && (a.host == b.host || all(&a.host) || all(&b.host))
}

/// Two channels in one directory would ruin each other's files.
fn drop_second_owners(plan: &mut Plan, problems: &mut Vec<Problem>) {
    let mut drop = Vec::new();
    for (i, (name, part)) in plan.channels.iter().enumerate() {
        let earlier = plan.channels.iter().take(i).filter(|(other, _)| !drop.contains(*other));
        let clash =
            earlier.filter_map(|(other, earlier)| Some((other, shared_directory(part, earlier)?))).next();
        if let Some((other, directory)) = clash {
            let what = format!(
                "{} is channel `{other}`'s already, so this channel does not run",
                directory.display()
            );
            problems.push(
                problem(Severity::Error, &part.settings, "type", what)
                    .with_cure("give each channel directories of its own"),
            );
            drop.push(name.clone());
        }
    }
    for name in &drop {
        plan.channels.remove(name);
        plan.channel_order.retain(|channel| channel != name);
        plan.sources.retain(|_, source| {
            source.channels.retain(|channel| channel != name);
            !source.channels.is_empty()
        });
        for group in plan.groups.values_mut() {
            group.sinks.retain(|sink| sink.channel != *name);
        }
    }
    plan.groups.retain(|_, group| !group.sinks.is_empty());
}

/// One within the other is no harm: nobody looks into what lies below its own.
fn shared_directory<'a>(a: &'a Part, b: &Part) -> Option<&'a Path> {
    let own = &b.facts.own_directories;
    a.facts.own_directories.iter().find(|path| own.contains(path)).map(PathBuf::as_path)
}

fn tell_shared_sink_directories(plan: &Plan, problems: &mut Vec<Problem>) {
    let sinks: Vec<_> = plan.groups.values().flat_map(|group| &group.sinks).collect();
    for (i, sink) in sinks.iter().enumerate() {
        let same = |other: &&&crate::plan::SinkPlan| {
            other.part.facts.own_directories.iter().any(|path| sink.part.facts.own_directories.contains(path))
        };
        if let Some(other) = sinks[..i].iter().find(same) {
            let what = format!(
                "writes into the directory of sink `{}`: their files lie side by side there",
                other.name
            );
            problems.push(problem(Severity::Warning, &sink.part.settings, "type", what));
        }
    }
}

fn tell_monitor_port(plan: &Plan, context: &PlanContext, problems: &mut Vec<Problem>) {
    let port = context.environment.property(MONITOR_PORT).and_then(|port| port.trim().parse::<u16>().ok());
    let Some(port) = port.filter(|port| *port != 0) else { return };
    for source in plan.sources.values() {
        let clash = |own: &&Listening| own.transport == Transport::Tcp && own.port == port;
        if let Some(own) = source.part.facts.listens.iter().find(clash) {
            let what = format!(
                "port {port} is the monitor's too (-D{MONITOR_PORT}={port}): one of them cannot listen"
            );
            problems.push(problem(Severity::Warning, &source.part.settings, own.key, what));
        }
    }
}
