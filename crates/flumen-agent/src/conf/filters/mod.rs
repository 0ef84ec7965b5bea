//! Config filters: placeholders `${filter["key"]}` in the settings of components, filled from the environment, a program or a
//! Hadoop credential store.

mod env;
mod external;
mod hadoop;
mod place;
#[cfg(test)]
mod tests;

use super::Entries;
use flumen_core::{
    config::{Configuration, Place, Problem, Property, Settings, Severity, nearest_name},
    registry::{EntryInfo, Environment, Kind, Registry},
};
use futures_util::{StreamExt, stream};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

/// Values that are asked for at the same time.
const AT_ONCE: usize = 8;

/// What filters ask.
#[derive(Debug, Clone)]
pub struct FilterContext {
    /// Variables.
    pub environment: Arc<Environment>,
    /// Where a password file is looked for.
    pub conf_dirs: Vec<PathBuf>,
}

/// A filter that is ready to answer.
#[derive(Debug)]
enum Filter {
    Env(env::EnvFilter),
    External(external::ExternalFilter),
    Hadoop(hadoop::HadoopFilter),
}

/// `type` is read by whoever chooses the filter.
const COMMON: &[&[Property]] = &[&[Property {
    key: "type",
    kind: "type name",
    required: true,
    doc: "What kind of config filter it is.",
    ..Property::NEW
}]];

fn info<C: Configuration>(
    names: &'static [&'static str],
    summary: &'static str,
    implementation: &'static str,
) -> EntryInfo {
    EntryInfo {
        kind: Kind::ConfigFilter,
        names,
        summary,
        properties: C::PROPERTIES,
        common: COMMON,
        implementation,
    }
}

/// Adds the filters to the registry, for lists and documentation.
pub fn register(registry: Registry) -> Registry {
    registry.config_filter(env::info()).config_filter(external::info()).config_filter(hadoop::info())
}

/// Fills the placeholders of an agent's components. What cannot be filled stays as it is, with a warning.
pub async fn apply(entries: &mut Entries, agent: &str, context: &FilterContext) -> Vec<Problem> {
    let mut problems = Vec::new();
    let wanted: Vec<(usize, Vec<place::Placeholder>)> = entries
        .list
        .iter()
        .enumerate()
        .filter(|(_, entry)| is_component(&entry.key, agent) && entry.value.contains("${"))
        .map(|(i, entry)| (i, place::find(&entry.value)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    let filters = build(entries, agent, context, &mut problems).await;
    let asked: BTreeSet<(String, String)> = wanted
        .iter()
        .flat_map(|(_, found)| found)
        .filter(|one| filters.contains_key(&one.filter))
        .map(|one| (one.filter.clone(), one.key.clone()))
        .collect();
    let answers: BTreeMap<(String, String), Result<String, String>> = stream::iter(asked)
        .map(|(filter, key)| {
            let filters = &filters;
            async move {
                let answer = match &filters[&filter] {
                    Filter::Env(env) => env.value(&key),
                    Filter::External(external) => external.value(&key).await,
                    Filter::Hadoop(hadoop) => hadoop.value(&key).await,
                };
                ((filter, key), answer)
            }
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    for (i, found) in wanted {
        let entry = &mut entries.list[i];
        let value = std::mem::take(&mut entry.value);
        let mut tell = |what: String| {
            problems.push(Problem::new(Severity::Warning, &entry.key, Some(entry.at.clone()), what));
        };
        let mut out = String::with_capacity(value.len());
        let mut at = 0;
        for one in found {
            out.push_str(&value[at..one.start]);
            at = one.end;
            let whole = &value[one.start..one.end];
            match answers.get(&(one.filter.clone(), one.key)) {
                Some(Ok(answer)) => {
                    out.push_str(answer);
                    entry.secret = true;
                    entry.looked_up = true;
                    continue;
                }
                Some(Err(why)) => tell(format!("`{whole}` stays as it is: {why}")),
                None => {
                    let nearest = nearest_name(&one.filter, filters.keys().map(String::as_str));
                    let hint = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
                    tell(format!(
                        "`{whole}` stays as it is: there is no config filter `{}`{hint}",
                        one.filter
                    ));
                }
            }
            out.push_str(whole);
        }
        out.push_str(&value[at..]);
        entry.value = out;
    }
    problems
}

/// Whether a key is a setting of a component, where placeholders count.
fn is_component(key: &str, agent: &str) -> bool {
    let Some(rest) = key.strip_prefix(agent).and_then(|rest| rest.strip_prefix('.')) else { return false };
    ["sources.", "channels.", "sinks.", "sinkgroups."].iter().any(|kind| rest.starts_with(kind))
}

/// Makes the agent's filters. One that cannot be made is told and left out.
async fn build(
    entries: &Entries,
    agent: &str,
    context: &FilterContext,
    problems: &mut Vec<Problem>,
) -> BTreeMap<String, Filter> {
    let list = format!("{agent}.configfilters");
    let Some(names) = entries.list.iter().find(|entry| entry.key == list) else { return BTreeMap::new() };
    let mut settings: BTreeMap<&str, Settings> = names
        .value
        .split([' ', '\t', ',', '\n'])
        .filter(|name| !name.is_empty())
        .map(|name| (name, Settings::new(&format!("{list}.{name}"))))
        .collect();
    for entry in &entries.list {
        if let Some(rest) = entry.key.strip_prefix(&list).and_then(|rest| rest.strip_prefix('.'))
            && let Some((name, key)) = rest.split_once('.')
            && let Some(settings) = settings.get_mut(name)
        {
            settings.set(key, entry.value.as_str(), Some(entry.at.clone()));
        }
    }
    let mut filters = BTreeMap::new();
    for (name, settings) in settings {
        if let Some(filter) = one(&settings, &names.at, context, problems).await {
            filters.insert(name.to_owned(), filter);
        }
    }
    filters
}

async fn one(
    settings: &Settings,
    listed: &Place,
    context: &FilterContext,
    problems: &mut Vec<Problem>,
) -> Option<Filter> {
    let place = |key: &str| settings.get(key).and_then(|setting| setting.at.clone());
    let Some(type_name) = settings.text("type") else {
        let at = settings.place().unwrap_or(listed).clone();
        problems.push(Problem::new(Severity::Error, settings.full_key("type"), Some(at), "is required"));
        return None;
    };
    let infos = [env::info(), external::info(), hadoop::info()];
    let Some(which) = infos.iter().position(|info| info.is_named(type_name.trim())) else {
        let what = format!("unknown config filter type `{type_name}`");
        let mut problem = Problem::new(Severity::Error, settings.full_key("type"), place("type"), what);
        problem.nearest = nearest_name(type_name, infos.iter().map(EntryInfo::short_name)).map(str::to_owned);
        let cure = if type_name.contains('.') {
            "custom Java classes cannot be loaded; there are"
        } else {
            "there are"
        };
        problems.push(problem.with_cure(format!("{cure} env, external, hadoop")));
        return None;
    };
    let (filter, told) = match which {
        0 => env::read(settings, context),
        1 => external::read(settings),
        _ => hadoop::read(settings, context).await,
    };
    problems.extend(told);
    filter
}

fn config_of<C: Configuration>(settings: &Settings) -> (Option<C>, Vec<Problem>) {
    flumen_core::config::read::<C>(settings, COMMON)
}
