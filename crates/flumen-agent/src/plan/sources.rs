//! The sources of a plan, with their channels, interceptors and selectors.

use super::{Part, Plan, SourcePlan, read::Reader};
use flumen_core::{
    config::{ProblemKind, PropertyValue, Settings, Severity, Words, nearest_name},
    registry::{Facts, Kind, Registry},
    route::ChannelSet,
};

/// Reads all sources that the agent lists.
pub(super) fn read(reader: &mut Reader<'_>, plan: &mut Plan) {
    for name in reader.keys.names("sources") {
        if let Some(source) = read_one(reader, plan, &name) {
            plan.sources.insert(name, source);
        }
    }
}

/// Everything that is wrong with a source is told, also what comes after the first fault.
fn read_one(reader: &mut Reader<'_>, plan: &Plan, name: &str) -> Option<SourcePlan> {
    let registry = reader.context.registry.clone();
    let settings = reader.settings("sources", name)?;
    let type_name = reader.type_of(&settings);
    let channels = channels(reader, plan, &settings);
    let interceptors = interceptors(reader, &settings);
    let selector = selector(reader, &settings, channels.as_deref());
    let type_name = type_name?;
    let entry = reader.find(Kind::Source, &settings, "type", &type_name, Registry::find_source, &registry)?;
    let part = reader.check(&entry.info, settings, entry.check);
    Some(SourcePlan { part: part?, channels: channels?, interceptors: interceptors?, selector: selector? })
}

/// What is said of a channel that is named and does not run.
pub(super) struct MissingChannel {
    pub(super) what: String,
    pub(super) nearest: Option<String>,
    pub(super) cure: Option<String>,
}

impl Reader<'_> {
    /// Why a channel is not in the plan: it is wrong itself, it is not listed, or there is none of this name. Only then another
    /// one may be meant.
    pub(super) fn missing_channel(&self, plan: &Plan, channel: &str) -> MissingChannel {
        let listed =
            self.keys.lists.get("channels").is_some_and(|list| list.names.iter().any(|n| n == channel));
        let has_properties = self.keys.components.get("channels").and_then(|channels| channels.get(channel));
        if listed {
            let what = format!("channel `{channel}` has an error of its own and does not run");
            return MissingChannel { what, nearest: None, cure: None };
        }
        if let Some(settings) = has_properties {
            let what = format!("channel `{channel}` has properties and is not in the list of channels");
            let place = settings.place().map_or(String::new(), |place| format!(" ({place})"));
            let cure = format!("add `{channel}`{place} to `{}.channels`", self.agent);
            return MissingChannel { what, nearest: None, cure: Some(cure) };
        }
        let nearest = nearest_name(channel, plan.channels.keys().map(String::as_str)).map(str::to_owned);
        MissingChannel { what: format!("there is no channel `{channel}`"), nearest, cure: None }
    }
}

/// What to do about a list that had to be guessed.
pub(super) const BLANKS: &str = "separate names by blanks alone";

/// The words of a property, with what was understood of a careless list.
pub(super) fn words(reader: &mut Reader<'_>, settings: &Settings, key: &str) -> Option<Vec<String>> {
    let text = settings.text(key)?;
    match Words::<String>::parse(text) {
        Ok(words) => Some(words.0),
        Err(what) => match Words::<String>::forgive(text) {
            Some((words, understood)) => {
                let what = format!("`{text}` is read as `{understood}`");
                reader.note(Severity::Warning, settings, key, what).cure = Some(BLANKS.to_owned());
                Some(words.0)
            }
            None => {
                reader.note(Severity::Error, settings, key, what);
                None
            }
        },
    }
}

/// The source's channels that exist. Unknown ones are left out, as in Java, and told.
fn channels(reader: &mut Reader<'_>, plan: &Plan, settings: &Settings) -> Option<Vec<String>> {
    if settings.text("channels").is_none() {
        let problem = reader.note(Severity::Error, settings, "channels", "is required");
        if settings.text("channel").is_some() {
            problem.cure = Some("a source has `channels`, only a sink has `channel`".to_owned());
        }
        return None;
    }
    let mut known: Vec<String> = Vec::new();
    for channel in words(reader, settings, "channels")? {
        if known.contains(&channel) {
            reader.note(Severity::Warning, settings, "channels", format!("names `{channel}` twice"));
        } else if plan.channels.contains_key(&channel) {
            known.push(channel);
        } else {
            let missing = reader.missing_channel(plan, &channel);
            let what = format!("{}, so nothing goes there", missing.what);
            let problem = reader.note(Severity::Error, settings, "channels", what);
            (problem.nearest, problem.cure) = (missing.nearest, missing.cure);
        }
    }
    if known.len() > ChannelSet::MAX_CHANNELS {
        let what =
            format!("names {} channels; a source has at most {}", known.len(), ChannelSet::MAX_CHANNELS);
        reader.note(Severity::Error, settings, "channels", what);
        return None;
    }
    if known.is_empty() {
        reader.note(
            Severity::Error,
            settings,
            "channels",
            "leaves the source without a channel: it does not run",
        );
        return None;
    }
    Some(known)
}

fn interceptors(reader: &mut Reader<'_>, settings: &Settings) -> Option<Vec<(String, Part)>> {
    let registry = reader.context.registry.clone();
    if settings.text("interceptors").is_none() {
        unlisted_interceptors(reader, settings, &[]);
        return Some(Vec::new());
    }
    let names = words(reader, settings, "interceptors")?;
    let mut parts = Vec::new();
    let mut good = true;
    for name in &names {
        let own = settings.part(&format!("interceptors.{name}."));
        let part = reader.type_of(&own).and_then(|type_name| {
            let find = Registry::find_interceptor;
            let entry = reader.find(Kind::Interceptor, &own, "type", &type_name, find, &registry)?;
            reader.check(&entry.info, own.clone(), entry.check)
        });
        match part {
            Some(part) => parts.push((name.clone(), part)),
            None => good = false,
        }
    }
    unlisted_interceptors(reader, settings, &names);
    good.then_some(parts)
}

/// Interceptors with properties that the list does not name do nothing.
fn unlisted_interceptors(reader: &mut Reader<'_>, settings: &Settings, names: &[String]) {
    let mut told: Vec<String> = Vec::new();
    let keys: Vec<String> = settings.part("interceptors.").iter().map(|(key, _)| key.to_owned()).collect();
    for key in keys {
        let name = key.split('.').next().unwrap_or_default().to_owned();
        if !names.contains(&name) && !told.contains(&name) {
            let what = format!("`interceptors` does not name `{name}`: it does nothing");
            let problem = reader.note(Severity::Warning, settings, &format!("interceptors.{key}"), what);
            problem.nearest = nearest_name(&name, names.iter().map(String::as_str)).map(str::to_owned);
            if problem.nearest.is_some() {
                problem.kind = ProblemKind::UnknownKey;
            }
            told.push(name);
        }
    }
}

/// The selector. Where the channels have an error, what is wrong with its own settings is told all the same.
fn selector(reader: &mut Reader<'_>, settings: &Settings, channels: Option<&[String]>) -> Option<Part> {
    let registry = reader.context.registry.clone();
    let own = settings.part("selector.");
    let type_name = own.text("type").unwrap_or("replicating").to_owned();
    let entry = reader.find(Kind::Selector, &own, "type", &type_name, Registry::find_selector, &registry)?;
    let part = reader.check(&entry.info, own, entry.check)?;
    let channels = channels?;
    // Selectors are pure: building one here tells whether it names channels that the source does not have.
    let context = reader.context.build_context(reader.agent, "selector");
    if let Err(error) = (entry.build)(&part.settings, channels, &context) {
        let error = error.to_string();
        // The error names the key below the source: it is told where that stands.
        let own_key = error.strip_prefix("selector.").and_then(|rest| rest.split_once(": "));
        let own_key = own_key.filter(|(key, _)| part.settings.get(key).is_some());
        let (key, what) = own_key.unwrap_or(("type", &error));
        let named = what.split('`').nth(1).unwrap_or_default();
        let given = settings.text("channels").unwrap_or_default();
        let left_out = given.split([' ', '\t', ',']).any(|name| name == named);
        let problem = reader.note(Severity::Error, &part.settings, key, what);
        if left_out {
            problem.cure = Some(format!("`channels` names `{named}`, but that channel does not run"));
        } else {
            problem.nearest = nearest_name(named, channels.iter().map(String::as_str)).map(str::to_owned);
        }
        return None;
    }
    for (key, advice) in (entry.advice)(&part.settings, channels) {
        reader.note(Severity::Warning, &part.settings, &key, advice);
    }
    Some(Part { facts: Facts::default(), ..part })
}
