//! Every component and property of Java Flume is there under its names and with its default, or known and told about.

use flumen_core::{
    config::{Effect, Property, flat},
    registry::{EntryInfo, Kind, Registry},
};
use parity::rows;

/// Java's word for a kind, in the list of components, and ours.
const KINDS: [(&str, Kind); 8] = [
    ("source", Kind::Source),
    ("sink", Kind::Sink),
    ("channel", Kind::Channel),
    ("channel_selector", Kind::Selector),
    ("sink_processor", Kind::SinkProcessor),
    ("interceptor", Kind::Interceptor),
    ("event_deserializer", Kind::Deserializer),
    ("event_serializer", Kind::Serializer),
];

/// Java's word for a kind, in the list of properties, the kind, and what its keys begin with there and not here.
const GROUPS: [(&str, Kind, &str); 8] = [
    ("source", Kind::Source, ""),
    ("sink", Kind::Sink, ""),
    ("channel", Kind::Channel, ""),
    ("selector", Kind::Selector, "selector."),
    ("processor", Kind::SinkProcessor, "processor."),
    ("interceptor", Kind::Interceptor, ""),
    ("deserializer", Kind::Deserializer, "deserializer."),
    ("serializer", Kind::Serializer, "serializer."),
];

/// Properties that are in Java's list and on purpose not among ours: component, property, why.
const NOT_OURS: &[(&str, &str, &str)] = &[
    ("deserializer/blob", "deserializer", "the property that names it"),
    ("processor/failover", "sinks", "a property of the group, which every processor has"),
    ("processor/load_balance", "sinks", "a property of the group, which every processor has"),
    ("processor/load_balance", "processor.sinks", "the guide's table names it; Java never reads it"),
    ("processor/load_balance", "processor.selector.*", "settings of Java classes"),
    ("sink/file_roll", "sink.pathManager.*", "settings of Java classes"),
];

/// Defaults that differ on purpose or are computed: component, property, why.
const OTHER_DEFAULTS: &[(&str, &str, &str)] = &[
    ("channel/file", "checkpointDir", "computed: in the home directory"),
    ("channel/file", "dataDirs", "computed: in the home directory"),
    ("channel/kafka", "readSmallestOffset", "unset leaves earliest, in Java too"),
    ("channel/memory", "byteCapacity", "computed from the heap or the machine, like Java's"),
    ("interceptor/timestamp", "header", "no version of Flume reads it, and here it is told so"),
    ("selector/load_balancing", "selector.type", "the plan chooses replicating where a source names none"),
    ("selector/multiplexing", "selector.type", "the plan chooses replicating where a source names none"),
    ("selector/replicating", "selector.type", "the plan chooses replicating where a source names none"),
    ("sink/avro", "maxIoWorkers", "a connection needs no thread"),
    ("sink/file_roll", "batchSize", "another spelling of sink.batchSize, which has the default"),
    ("sink/kafka", "requiredAcks", "another spelling of kafka.producer.acks, which is all by default"),
    ("source/avro", "threads", "calls are tasks, not threads"),
];

/// Properties of any component whose defaults are the process-wide settings, or Java's own.
const PROCESS_WIDE: &[&str] = &[
    "keystore",
    "keystore-password",
    "keystore-type",
    "truststore",
    "truststore-password",
    "truststore-type",
    "exclude-protocols",
];

fn find<'a>(registry: &'a Registry, kind: Kind, name: &str) -> Option<&'a EntryInfo> {
    registry.infos(kind).into_iter().find(|info| info.is_named(name))
}

#[test]
fn every_component_is_there_or_known() {
    let registry = flumen_agent::registry();
    let mut missing = Vec::new();
    for row in rows("lists/components.tsv") {
        let Some((_, kind)) = KINDS.iter().find(|(java, _)| *java == row[0]) else { continue };
        let [_, alias, class] = &row[..] else { panic!("{row:?}") };
        for name in [alias, class].into_iter().filter(|name| *name != "-") {
            if find(&registry, *kind, name).is_none() && registry.find_absent(*kind, name).is_none() {
                missing.push(format!("{kind} {name}"));
            }
        }
        if let (Some(by_alias), Some(by_class)) =
            (find(&registry, *kind, alias), find(&registry, *kind, class))
        {
            assert_eq!(by_alias.short_name(), by_class.short_name(), "{alias} and {class} are one type");
        }
    }
    assert!(missing.is_empty(), "neither there nor known: {missing:#?}");
}

/// Whether Java's key is one of the properties: by itself, as another spelling, or below a prefix.
fn knows(properties: &[(String, &'static Property)], key: &str) -> bool {
    // A free part or remainder stands for any name.
    let sample = key.replace("<sinkName>", "x").replace('*', "x");
    let sample = match (sample.find('<'), sample.find('>')) {
        (Some(open), Some(close)) => format!("{}x{}", &sample[..open], &sample[close + 1..]),
        _ => sample,
    };
    let remainder = key.strip_suffix('*');
    properties.iter().any(|(own, property)| {
        // Java hands a remainder on to a library; ours are listed one by one.
        if remainder.is_some_and(|before| own.starts_with(before)) {
            return true;
        }
        let spellings = property.aliases.iter().chain(property.deprecated).copied();
        own == &sample
            || (property.prefix && sample.starts_with(own.as_str()))
            || spellings.into_iter().any(|spelling| spelling == sample)
    })
}

fn all_properties(info: &EntryInfo) -> Vec<(String, &'static Property)> {
    let common = info.common.iter().flat_map(|list| flat(list));
    flat(info.properties).into_iter().chain(common).collect()
}

#[test]
fn every_property_of_what_is_there_is_known_with_its_default() {
    let registry = flumen_agent::registry();
    let (mut faults, mut n_checked) = (Vec::new(), 0);
    for row in rows("lists/properties.tsv") {
        let [component, property, _, default] = &row[..] else { panic!("{row:?}") };
        let Some((group, name)) = component.split_once('/') else { continue };
        let Some((_, kind, prefix)) = GROUPS.iter().find(|(java, ..)| *java == group) else { continue };
        let infos = match name {
            "*" => registry.infos(*kind),
            // The list's own name for a type that Flume knows by class name only.
            "uuid" => find(&registry, *kind, "org.apache.flume.sink.solr.morphline.UUIDInterceptor$Builder")
                .into_iter()
                .collect(),
            name => find(&registry, *kind, name).into_iter().collect(),
        };
        let key = property.strip_prefix(prefix).unwrap_or(property);
        let listed =
            |list: &[(&str, &str, &str)]| list.iter().any(|(c, p, _)| c == component && p == property);
        if listed(NOT_OURS) {
            continue;
        }
        for info in infos {
            n_checked += 1;
            let properties = all_properties(info);
            if !knows(&properties, key) {
                faults.push(format!("{component}: {property} is not known"));
                continue;
            }
            let own = properties.iter().find(|(own, _)| own == key);
            let (Some((_, own)), false) = (own, default == "(none)" || listed(OTHER_DEFAULTS)) else {
                continue;
            };
            // What does nothing has no default, and what is refused none either.
            if PROCESS_WIDE.contains(&key) || own.effect != Effect::Works {
                continue;
            }
            let default = default.trim_matches('"');
            if !own.default.unwrap_or_default().eq_ignore_ascii_case(default) {
                faults.push(format!(
                    "{component}: {property} defaults to {:?}, in Java to {default:?}",
                    own.default
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(n_checked > 80, "only {n_checked} properties were compared");
}

#[test]
fn every_default_can_be_read() {
    let registry = flumen_agent::registry();
    let empty = flumen_core::config::Settings::new("t");
    let mut faults = Vec::new();
    let mut check =
        |name: &str, check: fn(&flumen_core::config::Settings) -> (_, Vec<flumen_core::config::Problem>)| {
            let _: (Option<flumen_core::registry::Facts>, _) = {
                let (facts, problems) = check(&empty);
                let bad = problems.into_iter().filter(|problem| problem.what != "is required");
                faults.extend(bad.map(|problem| format!("{name}: {problem}")));
                (facts, ())
            };
        };
    for info in registry.infos(Kind::Source) {
        check(info.short_name(), registry.find_source(info.short_name()).unwrap().check);
    }
    for info in registry.infos(Kind::Channel) {
        check(info.short_name(), registry.find_channel(info.short_name()).unwrap().check);
    }
    for info in registry.infos(Kind::Sink) {
        check(info.short_name(), registry.find_sink(info.short_name()).unwrap().check);
    }
    for info in registry.infos(Kind::Interceptor) {
        check(info.short_name(), registry.find_interceptor(info.short_name()).unwrap().check);
    }
    for info in registry.infos(Kind::Serializer) {
        check(info.short_name(), registry.find_serializer(info.short_name()).unwrap().check);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Whether a property as `components --json` prints it has this key: by itself, by another spelling, or below its prefix.
fn json_knows(property: &serde_json::Value, key: &str) -> bool {
    let own = property["key"].as_str().unwrap_or("");
    let part = own.rsplit_once('.').map_or("", |(part, _)| part);
    let other = |name: &serde_json::Value| {
        let name = name.as_str().unwrap_or("");
        key == name || key.strip_prefix(part).is_some_and(|rest| rest.trim_start_matches('.') == name)
    };
    let lists = [&property["aliases"], &property["deprecated"]];
    own == key
        || property["prefix"] == true && key.starts_with(own)
        || lists.into_iter().filter_map(|list| list.as_array()).flatten().any(other)
}

/// What programs read of us says the same as the lists.
#[test]
fn what_components_prints_as_json_has_every_row_of_the_lists() {
    let printed = flumen_agent::commands::components::to_json(&flumen_agent::registry());
    let list = |name: &str| printed[name].as_array().unwrap();
    let named = |one: &serde_json::Value, kind: &str, name: &str| {
        let names = one["names"].as_array().unwrap();
        one["kind"] == kind && names.iter().any(|own| own.as_str().unwrap().eq_ignore_ascii_case(name))
    };
    let mut faults = Vec::new();
    for row in rows("lists/components.tsv") {
        let Some((_, kind)) = KINDS.iter().find(|(java, _)| *java == row[0]) else { continue };
        for name in row[1..].iter().filter(|name| *name != "-") {
            if !list("types").iter().chain(list("absent")).any(|one| named(one, kind.name(), name)) {
                faults.push(format!("{kind} {name} is not printed"));
            }
        }
    }
    let mut n_checked = 0;
    for row in rows("lists/properties.tsv") {
        let [component, property, ..] = &row[..] else { panic!("{row:?}") };
        let Some((group, name)) = component.split_once('/') else { continue };
        let Some((_, kind, prefix)) = GROUPS.iter().find(|(java, ..)| *java == group) else { continue };
        if NOT_OURS.iter().any(|(c, p, _)| c == component && p == property) || property.contains(['*', '<']) {
            continue;
        }
        let key = property.strip_prefix(prefix).unwrap_or(property);
        for one in list("types")
            .iter()
            .filter(|one| one["kind"] == kind.name() && (name == "*" || named(one, kind.name(), name)))
        {
            n_checked += 1;
            let own = one["properties"].as_array().unwrap().iter().chain(one["common"].as_array().unwrap());
            if !own.into_iter().any(|property| json_knows(property, key)) {
                faults.push(format!("{component}: {property} is not printed of {}", one["names"][0]));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(n_checked > 200, "only {n_checked} properties were compared");
}
