//! Flume's JSON: one object, `TYPE.name` to an object of attributes, every value a string (compat page of the metrics).

use crate::agent::{ComponentReport, Totals};
use flumen_core::{
    metrics::{Reading, Value},
    registry::Kind,
};
use serde_json::{Map, Value as Json};

/// The whole report.
pub(super) fn render((report, totals): &(Vec<ComponentReport>, Totals)) -> String {
    let mut all = Map::new();
    for component in report {
        all.insert(
            format!("{}.{}", type_word(component.kind), component.name),
            Json::Object(attributes(component)),
        );
    }
    let balance =
        totals.figures().into_iter().map(|(name, n)| (name.to_owned(), Json::String(n.to_string())));
    all.insert("AGENT.balance".to_owned(), Json::Object(balance.collect()));
    Json::Object(all).to_string()
}

/// Flume's word for a kind.
pub(super) fn type_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Source => "SOURCE",
        Kind::Channel => "CHANNEL",
        Kind::Sink => "SINK",
        Kind::Interceptor => "INTERCEPTOR",
        Kind::Selector | Kind::SinkProcessor | Kind::Deserializer | Kind::ConfigFilter => "OTHER",
        Kind::Serializer => "SERIALIZER",
    }
}

fn attributes(component: &ComponentReport) -> Map<String, Json> {
    let mut attributes = Map::new();
    let mut add = |name: &str, value: String| _ = attributes.insert(name.to_owned(), Json::String(value));
    add("Type", type_word(component.kind).to_owned());
    add("StartTime", component.started_ms.to_string());
    add("StopTime", component.stopped_ms.to_string());
    add("State", component.state.to_owned());
    add("RestartCount", component.restarts.to_string());
    for (name, value) in component.readings.iter().flat_map(texts) {
        add(&name, value);
    }
    attributes
}

/// A reading as names and texts; a timer is two.
pub(super) fn texts(reading: &Reading) -> Vec<(String, String)> {
    let name = reading.name.to_owned();
    match &reading.value {
        Value::Counter(n) => vec![(name, n.to_string())],
        Value::Gauge(n) => vec![(name, number(*n))],
        Value::Fraction(n) => vec![(name, flumen_java::number::double_to_string(*n))],
        Value::Text(text) => vec![(name, text.clone())],
        Value::Timer(count, sum_us) => {
            vec![(format!("{name}Count"), count.to_string()), (format!("{name}Us"), sum_us.to_string())]
        }
    }
}

/// A whole number without a point, as Java's `long`.
pub(super) fn number(n: f64) -> String {
    if n.fract() == 0.0 && n.abs() < 1e15 { format!("{n:.0}") } else { n.to_string() }
}
