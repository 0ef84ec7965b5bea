//! Writes a plan's settings to the log, on request (`-Dorg.apache.flume.log.printconfig=true`). Secrets are masked, inside
//! URLs too.

use crate::{
    logging,
    plan::{Part, Plan, secret_keys},
};
use flumen_core::registry::{Kind, Registry};
use std::collections::BTreeSet;

/// One line for each setting, in the order of kinds and names.
pub(super) fn lines(plan: &Plan, registry: &Registry) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |kind: Kind, part: &Part| {
        let secret = secret_keys(kind, part.type_name, registry);
        for (key, setting) in part.settings.iter() {
            let value = match setting.secret || secret.contains(key) {
                true => logging::MASK.into(),
                false => logging::mask(key, &setting.value),
            };
            lines.push(format!("{} = {value}", part.settings.full_key(key)));
        }
    };
    for (kind, part) in plan.parts() {
        add(kind, part);
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{conf, plan};
    use flumen_core::registry::Environment;
    use flumen_java::properties::Encoding;
    use std::sync::Arc;

    #[test]
    fn fix_110_secrets_are_masked_and_the_rest_is_whole() {
        let text = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.channels = c\n\
            a.sources.r.my-password = p\na.channels.c.type = memory\na.channels.c.capacity = 200\na.channels.c.transactionCapacity = 77\n\
            a.sinks.k.type = null\na.sinks.k.channel = c\na.sinks.k.url = http://u:p@h/\n";
        let text = conf::ConfigText { name: "f".into(), bytes: text.into(), encoding: Encoding::Latin1 };
        let (mut entries, _) = conf::load(&[text]);
        let filtered =
            entries.list.iter_mut().find(|entry| entry.key == "a.channels.c.transactionCapacity").unwrap();
        filtered.secret = true;
        let registry = Arc::new(crate::registry());
        let context = plan::PlanContext {
            registry: registry.clone(),
            environment: Arc::new(Environment::default()),
            clock: Arc::new(crate::commands::SystemClock),
        };
        let (plan, _) = plan::read(&entries, "a", &context);
        let lines = lines(&plan, &registry);
        for want in [
            "a.channels.c.capacity = 200",
            "a.channels.c.transactionCapacity = *****",
            "a.sources.r.my-password = *****",
            "a.sinks.k.url = http://u:*****@h/",
        ] {
            assert!(lines.iter().any(|line| line == want), "{want}: {lines:?}");
        }
    }
}
