//! The secrets of a plan, to keep them out of messages.

use super::{GroupPlan, Part, Plan, SourcePlan};
use flumen_core::{
    config::flat,
    registry::{EntryInfo, Kind, Registry},
};
use std::{collections::BTreeSet, fmt};

/// Shorter texts stand in many a message by chance.
const SHORTEST: usize = 4;

/// Values that no message repeats: what came from a config filter or a lookup of a secret, and what a type declares as one.
#[derive(Clone, Default)]
pub(crate) struct SecretValues(BTreeSet<String>);

/// Without the values.
impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

impl SecretValues {
    /// Those of these parts.
    pub(crate) fn of<'a>(parts: impl IntoIterator<Item = (Kind, &'a Part)>, registry: &Registry) -> Self {
        let mut values = BTreeSet::new();
        for (kind, part) in parts {
            let keys = secret_keys(kind, part.type_name, registry);
            let secret = part.settings.iter().filter(|(key, setting)| setting.secret || keys.contains(*key));
            let value = secret.map(|(_, setting)| setting.value.trim());
            values.extend(value.filter(|value| value.len() >= SHORTEST).map(str::to_owned));
        }
        Self(values)
    }

    /// Takes them out of a text.
    pub(crate) fn hide(&self, text: String) -> String {
        self.0.iter().rev().fold(text, |text, secret| match text.contains(secret) {
            true => text.replace(secret, "***"),
            false => text,
        })
    }
}

/// The keys of a type that are declared as secrets, in all their spellings.
pub(crate) fn secret_keys(kind: Kind, type_name: &str, registry: &Registry) -> BTreeSet<String> {
    let info: Option<&EntryInfo> =
        registry.infos(kind).into_iter().find(|info| info.short_name() == type_name);
    let properties = info.into_iter().flat_map(|info| flat(info.properties));
    let secret = properties.filter(|(_, property)| property.secret);
    secret
        .flat_map(|(key, property)| {
            let before = key[..key.len() - property.key.len()].to_owned();
            let others = property.aliases.iter().chain(property.deprecated);
            let others: Vec<String> = others.map(|other| format!("{before}{other}")).collect();
            others.into_iter().chain([key])
        })
        .collect()
}

impl Plan {
    /// All parts, each with its kind: channels in their order, then sources, then groups.
    pub(crate) fn parts(&self) -> Vec<(Kind, &Part)> {
        let channels =
            self.channel_order.iter().filter_map(|name| Some((Kind::Channel, self.channels.get(name)?)));
        let sources = self.sources.values().flat_map(SourcePlan::parts);
        channels.chain(sources).chain(self.groups.values().flat_map(GroupPlan::parts)).collect()
    }
}

impl SourcePlan {
    /// The source, its selector and its interceptors.
    pub(crate) fn parts(&self) -> Vec<(Kind, &Part)> {
        let own = [(Kind::Source, &self.part), (Kind::Selector, &self.selector)];
        own.into_iter().chain(self.interceptors.iter().map(|(_, part)| (Kind::Interceptor, part))).collect()
    }
}

impl GroupPlan {
    /// The processor and the sinks.
    pub(crate) fn parts(&self) -> Vec<(Kind, &Part)> {
        let sinks = self.sinks.iter().map(|sink| (Kind::Sink, &sink.part));
        [(Kind::SinkProcessor, &self.processor)].into_iter().chain(sinks).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_core::{config::Settings, registry::Facts};

    #[test]
    fn declared_and_marked_secrets_are_hidden_and_nothing_else() {
        let pairs =
            [("keystore-password", "hush-hush"), ("bind", "gate.example"), ("port", "4444"), ("x", "abc")];
        let mut settings = Settings::from_pairs("a.sources.r", &pairs);
        settings.mark_secret("bind");
        settings.mark_secret("x");
        let part = Part { type_name: "http", settings, facts: Facts::default() };
        let secrets = SecretValues::of([(Kind::Source, &part)], &crate::registry());
        let text = "hush-hush opens nothing at gate.example:4444 abc".to_owned();
        assert_eq!(secrets.hide(text), "*** opens nothing at ***:4444 abc");
        assert_eq!(format!("{secrets:?}"), "2 secrets");
    }
}
