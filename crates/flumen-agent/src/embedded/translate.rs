//! Properties of an embedded agent, made into those of an agent: names are given, and what is not allowed is refused.

use std::collections::BTreeMap;

const SOURCES: &[&str] = &["embedded", "org.apache.flume.agent.embedded.EmbeddedSource"];
const CHANNELS: &[&str] = &[
    "memory",
    "file",
    "org.apache.flume.channel.MemoryChannel",
    "org.apache.flume.channel.file.FileChannel",
];
const SINKS: &[&str] = &["avro", "org.apache.flume.sink.AvroSink"];
const PROCESSORS: &[&str] = &[
    "default",
    "failover",
    "load_balance",
    "org.apache.flume.sink.DefaultSinkProcessor",
    "org.apache.flume.sink.FailoverSinkProcessor",
    "org.apache.flume.sink.LoadBalancingSinkProcessor",
];

/// What the source of an agent is called.
pub(super) fn source_name(agent: &str) -> String {
    format!("source-{agent}")
}

/// The properties of an agent of this name, in the order in which they stand in a file.
///
/// # Errors
/// Everything that is wrong, in words that name the key.
pub(super) fn translate(
    agent: &str,
    mut properties: BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, Vec<String>> {
    let mut wrong = Vec::new();
    if agent.is_empty() || agent.contains('.') {
        wrong.push(format!("`{agent}` is no name of an agent: it must be a word without dots"));
    }
    properties.entry("source.type".to_owned()).or_insert_with(|| SOURCES[0].to_owned());
    let sinks = properties.remove("sinks").unwrap_or_default();
    let sinks: Vec<&str> = sinks.split_whitespace().collect();
    if sinks.is_empty() {
        wrong.push("sinks: is required".to_owned());
    }
    for sink in &sinks {
        if ["source", "channel", "processor", "sinks"].contains(sink) {
            wrong.push(format!("sinks: a sink cannot be called `{sink}`"));
        }
    }
    let mut check = |key: String, allowed: &[&str]| match properties.get(&key).map(|kind| kind.trim()) {
        None => wrong.push(format!("{key}: is required")),
        Some(kind) if !allowed.iter().any(|name| name.eq_ignore_ascii_case(kind)) => {
            let short: Vec<&str> = allowed.iter().copied().filter(|name| !name.contains('.')).collect();
            wrong.push(format!("{key}: an embedded agent has {}, and not `{kind}`", short.join(", ")));
        }
        Some(_) => {}
    };
    check("source.type".to_owned(), SOURCES);
    check("channel.type".to_owned(), CHANNELS);
    check("processor.type".to_owned(), PROCESSORS);
    sinks.iter().for_each(|sink| check(format!("{sink}.type"), SINKS));
    let (source, channel, group) =
        (source_name(agent), format!("channel-{agent}"), format!("sink-group-{agent}"));
    let mut pairs = vec![
        (format!("{agent}.sources"), source.clone()),
        (format!("{agent}.channels"), channel.clone()),
        (format!("{agent}.sinks"), sinks.join(" ")),
        (format!("{agent}.sinkgroups"), group.clone()),
        (format!("{agent}.sources.{source}.channels"), channel.clone()),
        (format!("{agent}.sinkgroups.{group}.sinks"), sinks.join(" ")),
    ];
    pairs.extend(sinks.iter().map(|sink| (format!("{agent}.sinks.{sink}.channel"), channel.clone())));
    for (key, value) in &properties {
        let (part, rest) = key.split_once('.').unwrap_or((key, ""));
        let key = match part {
            _ if rest.is_empty() => {
                wrong.push(format!("{key}: unknown property"));
                continue;
            }
            "source" => format!("{agent}.sources.{source}.{rest}"),
            "channel" => format!("{agent}.channels.{channel}.{rest}"),
            "processor" => format!("{agent}.sinkgroups.{group}.processor.{rest}"),
            sink if sinks.contains(&sink) => format!("{agent}.sinks.{sink}.{rest}"),
            _ => {
                wrong.push(format!("{key}: unknown property"));
                continue;
            }
        };
        pairs.push((key, value.clone()));
    }
    if wrong.is_empty() { Ok(pairs) } else { Err(wrong) }
}
