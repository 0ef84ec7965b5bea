//! Prometheus text (exposition format 0.0.4), with the names of Flume's own exporter: `Flume_<attribute>{component="…"}`.

use crate::agent::{ComponentReport, Totals};
use flumen_core::metrics::Value;
use std::{collections::BTreeMap, fmt::Write};

/// The content type of the format.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The samples of one metric, with what Prometheus wants to know of it.
struct Family {
    kind: &'static str,
    help: &'static str,
    samples: Vec<(String, String)>,
}

/// The whole report.
pub(super) fn render((report, totals): &(Vec<ComponentReport>, Totals)) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for component in report {
        let labels = format!(
            "component=\"{}\",kind=\"{}\",type=\"{}\"",
            escape(&component.name),
            component.kind.name(),
            component.type_name
        );
        let mut add = |name: String, kind, help, value: String| {
            let family = families.entry(name).or_insert(Family { kind, help, samples: Vec::new() });
            family.samples.push((labels.clone(), value));
        };
        add(
            "StartTime".into(),
            "gauge",
            "When it was started, in milliseconds since 1970.",
            component.started_ms.to_string(),
        );
        add(
            "Up".into(),
            "gauge",
            "1 while it runs, 0 while it waits after a failure or is stopped.",
            u8::from(component.state == "running").to_string(),
        );
        add(
            "RestartCount".into(),
            "counter",
            "How often it was built anew after a failure.",
            component.restarts.to_string(),
        );
        for reading in &component.readings {
            let (name, help) = (reading.name, reading.help);
            match reading.value {
                Value::Counter(n) => add(name.into(), "counter", help, n.to_string()),
                Value::Gauge(n) | Value::Fraction(n) => add(name.into(), "gauge", help, n.to_string()),
                Value::Timer(count, sum_us) => {
                    #[expect(clippy::cast_precision_loss, reason = "a report shows fifteen digits")]
                    let seconds = sum_us as f64 / 1e6;
                    add(format!("{name}_seconds_count"), "counter", help, count.to_string());
                    add(format!("{name}_seconds_sum"), "counter", help, seconds.to_string());
                }
                Value::Text(_) => {} // Prometheus has numbers only
            }
        }
    }
    for (name, n) in totals.figures() {
        let samples = vec![("component=\"balance\",kind=\"agent\",type=\"agent\"".to_owned(), n.to_string())];
        let help = "A figure of the whole agent over its life, replaced components included.";
        families.insert(format!("Agent{name}"), Family { kind: "gauge", help, samples });
    }
    let mut text = String::new();
    for (name, family) in families {
        let Family { kind, help, samples } = family;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "# HELP Flume_{name} {}\n# TYPE Flume_{name} {kind}",
            help.replace('\\', "\\\\").replace('\n', "\\n")
        );
        for (labels, value) in samples {
            let _ = writeln!(text, "Flume_{name}{{{labels}}} {value}");
        }
    }
    text
}

/// A label value: backslash, quote and line end are escaped.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
