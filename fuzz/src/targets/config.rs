//! Configuration text: as properties, and as a whole plan.

use flumen_agent::{conf, plan};
use flumen_core::{registry::Environment, world::SetClock};
use flumen_java::properties::{self, Encoding};
use std::sync::{Arc, OnceLock};

/// Text in both encodings.
pub(super) fn properties(input: &[u8]) {
    let _ = properties::sniff(input);
    for encoding in [Encoding::Latin1, Encoding::Utf8] {
        let loaded = properties::load(input, encoding);
        assert!(loaded.pairs.iter().all(|pair| pair.line >= pair.first_line && pair.first_line >= 1));
    }
}

fn context() -> &'static plan::PlanContext {
    static CONTEXT: OnceLock<plan::PlanContext> = OnceLock::new();
    CONTEXT.get_or_init(|| plan::PlanContext {
        registry: Arc::new(flumen_agent::registry()),
        environment: Arc::new(Environment::default()),
        clock: Arc::new(SetClock::default()),
    })
}

/// A whole configuration, with lookups, checked as `flumen check` does.
pub(super) fn plan(input: &[u8]) {
    plan_of(conf::ConfigText {
        name: "flume.conf".into(),
        bytes: input.to_vec(),
        encoding: Encoding::Latin1,
    });
}

/// The plan of a text.
pub(super) fn plan_of(text: conf::ConfigText) {
    let context = context();
    let (entries, _) = conf::load(&[text]);
    let (plan, problems) = plan::read(&entries, "a", context);
    for problem in &problems {
        assert!(problem.to_string().len() < 100_000, "a message is short");
    }
    let again = plan.changes_to(&plan, &context.registry);
    assert!(again.is_empty(), "a plan does not differ from itself");
}
