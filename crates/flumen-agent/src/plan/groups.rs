//! The sinks of a plan, and the groups that they form.

use super::{GroupPlan, Part, Plan, SinkPlan, read::Reader, sources::words};
use flumen_core::{
    config::{Bytes, Millis, Origin, ProblemKind, Settings, Severity, View, nearest_name},
    group::MemberOptions,
    registry::{Facts, Kind, Registry, SINK_PROPERTIES},
};
use std::collections::BTreeMap;

/// What a sink takes at once where it does not say.
const DEFAULT_BATCH_SIZE: u32 = 100;

/// Reads all sinks that the agent lists, and puts them into their groups; each other one runs alone.
pub(super) fn read(reader: &mut Reader<'_>, plan: &mut Plan) {
    let mut sinks: BTreeMap<String, SinkPlan> = BTreeMap::new();
    for name in reader.keys.names("sinks") {
        if let Some(sink) = read_sink(reader, plan, &name) {
            sinks.insert(name, sink);
        }
    }
    let mut owner: BTreeMap<String, String> = BTreeMap::new();
    for name in reader.keys.names("sinkgroups") {
        read_group(reader, plan, &name, &mut sinks, &mut owner);
    }
    for (name, sink) in sinks {
        if let Some(group) = alone(reader, sink) {
            // A group may have taken the name; the sink's own is then made different for reports.
            let name = if plan.groups.contains_key(&name) { format!("sink:{name}") } else { name };
            plan.groups.insert(name, group);
        }
    }
}

fn read_sink(reader: &mut Reader<'_>, plan: &Plan, name: &str) -> Option<SinkPlan> {
    let registry = reader.context.registry.clone();
    let settings = reader.settings("sinks", name)?;
    let type_name = reader.type_of(&settings);
    let channel = channel(reader, plan, &settings);
    let options = options(reader, &settings);
    let type_name = type_name?;
    let entry = reader.find(Kind::Sink, &settings, "type", &type_name, Registry::find_sink, &registry)?;
    let part = reader.check(&entry.info, settings, entry.check)?;
    let batch_size = part.facts.batch_size.unwrap_or(DEFAULT_BATCH_SIZE);
    Some(SinkPlan { name: name.to_owned(), part, channel: channel?, batch_size, options: options? })
}

fn channel(reader: &mut Reader<'_>, plan: &Plan, settings: &Settings) -> Option<String> {
    let Some(channel) = reader.name_in(settings, "channel") else {
        let problem = reader.note(Severity::Error, settings, "channel", "is required");
        if settings.text("channels").is_some() {
            problem.cure = Some("a sink has `channel`, only a source has `channels`".to_owned());
        }
        return None;
    };
    if plan.channels.contains_key(&channel) {
        return Some(channel);
    }
    let missing = reader.missing_channel(plan, &channel);
    let what = format!("{}, so the sink does not run", missing.what);
    let problem = reader.note(Severity::Error, settings, "channel", what);
    (problem.nearest, problem.cure) = (missing.nearest, missing.cure);
    if channel.contains(char::is_whitespace) {
        problem.cure = Some("a sink takes from one channel".to_owned());
    }
    None
}

fn options(reader: &mut Reader<'_>, settings: &Settings) -> Option<MemberOptions> {
    let mut view = View::new(settings);
    let property = |key: &str| SINK_PROPERTIES.iter().find(|p| p.key == key).expect("a sink property");
    let linger = view.value::<Millis>(property("batchLinger"));
    let max_held_batches = view.value::<usize>(property("maxHeldBatches"));
    let max_held_bytes = view.value::<Bytes>(property("maxHeldBytes"));
    reader.problems.extend(view.into_problems());
    Some(MemberOptions {
        linger: linger?.duration(),
        max_held_batches: max_held_batches?.max(1),
        max_held_bytes: max_held_bytes?.0.max(1),
        origin: Origin::default(),
    })
}

/// A group with the sinks that are left of it. One bad sink never takes the others away (Java drops them all).
fn read_group(
    reader: &mut Reader<'_>,
    plan: &mut Plan,
    name: &str,
    sinks: &mut BTreeMap<String, SinkPlan>,
    owner: &mut BTreeMap<String, String>,
) {
    let Some(settings) = reader.settings("sinkgroups", name) else { return };
    let Some(members) = words(reader, &settings, "sinks") else {
        reader.note(
            Severity::Error,
            &settings,
            "sinks",
            "is required; the group does not exist, sinks run alone",
        );
        return;
    };
    let listed = reader.keys.names("sinks");
    let mut taken = Vec::new();
    for member in members {
        if let Some(other) = owner.get(&member) {
            let what = format!("sink `{member}` is in group `{other}` already, and stays there");
            reader.note(Severity::Error, &settings, "sinks", what).cure =
                Some("a sink is in one group: name it in one of the two".to_owned());
        } else if let Some(sink) = sinks.remove(&member) {
            owner.insert(member, name.to_owned());
            taken.push(sink);
        } else if listed.contains(&member) {
            let what = format!("sink `{member}` cannot be built; the group runs without it");
            reader.note(Severity::Warning, &settings, "sinks", what);
        } else {
            let nearest = nearest_name(&member, listed.iter().map(String::as_str)).map(str::to_owned);
            let what = format!("there is no sink `{member}`; the group runs without it");
            reader.note(Severity::Error, &settings, "sinks", what).nearest = nearest;
        }
    }
    if taken.is_empty() {
        reader.note(
            Severity::Error,
            &settings,
            "sinks",
            "leaves the group without a sink: it does not exist",
        );
        return;
    }
    reader.unknown_group_keys(&settings);
    match processor(reader, &settings, &taken) {
        Some(processor) => {
            plan.groups.insert(name.to_owned(), GroupPlan { processor, sinks: taken });
        }
        None => {
            let what = "the group cannot be built; its sinks run alone";
            reader.note(Severity::Warning, &settings, "processor.type", what);
            sinks.extend(taken.into_iter().map(|sink| (sink.name.clone(), sink)));
        }
    }
}

impl Reader<'_> {
    fn unknown_group_keys(&mut self, settings: &Settings) {
        let keys: Vec<String> = settings.iter().map(|(key, _)| key.to_owned()).collect();
        for key in keys {
            if key != "sinks" && !key.starts_with("processor.") {
                let problem = self.note(Severity::Warning, settings, &key, "unknown property");
                problem.kind = ProblemKind::UnknownKey;
                problem.nearest = nearest_name(&key, ["sinks", "processor.type"]).map(str::to_owned);
            }
        }
    }
}

fn processor(reader: &mut Reader<'_>, settings: &Settings, sinks: &[SinkPlan]) -> Option<Part> {
    let registry = reader.context.registry.clone();
    let own = settings.part("processor.");
    let type_name = own.text("type").unwrap_or("default").to_owned();
    let entry =
        reader.find(Kind::SinkProcessor, &own, "type", &type_name, Registry::find_processor, &registry)?;
    let part = reader.check(&entry.info, own, entry.check)?;
    let names: Vec<String> = sinks.iter().map(|sink| sink.name.clone()).collect();
    let context = reader.context.build_context(reader.agent, "processor");
    if let Err(error) = (entry.build)(&part.settings, &names, &context) {
        reader.note(Severity::Error, &part.settings, "type", error.to_string());
        return None;
    }
    for (key, advice) in (entry.advice)(&part.settings, &names) {
        reader.note(Severity::Warning, &part.settings, &key, advice);
    }
    Some(part)
}

/// A sink without a group, under the default processor.
fn alone(reader: &mut Reader<'_>, sink: SinkPlan) -> Option<GroupPlan> {
    let entry = reader.context.registry.find_processor("default");
    debug_assert!(entry.is_some(), "a default sink processor is registered");
    let settings = Settings::new(&sink.part.settings.full_key("processor"));
    let processor = Part { type_name: entry?.info.short_name(), settings, facts: Facts::default() };
    Some(GroupPlan { processor, sinks: vec![sink] })
}
