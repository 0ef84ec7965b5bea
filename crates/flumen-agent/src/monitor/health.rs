//! Whether the agent is well: for load balancers and for those who watch.

use crate::agent::ComponentReport;
use serde_json::json;

/// The answer: whether every component runs, and a JSON text that names those that do not.
pub(super) fn render(report: &[ComponentReport]) -> (bool, String) {
    let bad: Vec<_> = report
        .iter()
        .filter(|component| component.state != "running" && component.stopped_ms == 0)
        .map(|component| {
            json!({
                "kind": component.kind.name(),
                "name": component.name,
                "state": component.state,
                "restarts": component.restarts,
                "error": component.last_error,
            })
        })
        .collect();
    let well = bad.is_empty() && !report.is_empty();
    (well, json!({ "well": well, "components": report.len(), "not running": bad }).to_string())
}
