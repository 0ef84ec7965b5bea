//! A checked configuration: plain data that can be compared, and from which an agent is built.

mod agent_keys;
mod changes;
mod channels;
mod groups;
mod read;
mod relations;
mod secret_values;
mod sources;

pub use agent_keys::{agents, some_names};
pub use changes::Changes;
pub use read::{PlanContext, read};
pub(crate) use secret_values::{SecretValues, secret_keys};

use flumen_core::{config::Settings, group::MemberOptions, registry::Facts};
use std::collections::BTreeMap;

/// What one agent is to run. Parts with errors are not in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// The agent's name.
    pub agent: String,
    /// Its channels, by name.
    pub channels: BTreeMap<String, Part>,
    /// The channels' names in the order of the agent's list: sources reserve room in it.
    pub channel_order: Vec<String>,
    /// Its sources, by name.
    pub sources: BTreeMap<String, SourcePlan>,
    /// Its sink runners: declared groups by their names, and each sink without one under its own name.
    pub groups: BTreeMap<String, GroupPlan>,
}

impl Plan {
    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty() && self.groups.is_empty()
    }
}

/// One component: which type, with which settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The type as the registry's short name.
    pub type_name: &'static str,
    /// Its properties, `type` among them.
    pub settings: Settings,
    /// What it needs and does.
    pub facts: Facts,
}

/// A source with what stands between it and its channels.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcePlan {
    /// The source itself.
    pub part: Part,
    /// Its channels, in the order of its list.
    pub channels: Vec<String>,
    /// Its interceptors with their names, in the order of its list.
    pub interceptors: Vec<(String, Part)>,
    /// How channels are chosen.
    pub selector: Part,
}

/// Sinks that share a runner.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupPlan {
    /// How the next sink is chosen.
    pub processor: Part,
    /// The sinks, in the order of the group's list.
    pub sinks: Vec<SinkPlan>,
}

/// A sink of a group.
#[derive(Debug, Clone)]
pub struct SinkPlan {
    /// Its name.
    pub name: String,
    /// The sink itself.
    pub part: Part,
    /// The channel that it takes from.
    pub channel: String,
    /// The most events of a take.
    pub batch_size: u32,
    /// What every sink can be told.
    pub options: MemberOptions,
}

/// The options follow from the settings.
impl PartialEq for SinkPlan {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.part, &self.channel, self.batch_size)
            == (&other.name, &other.part, &other.channel, other.batch_size)
    }
}

#[cfg(test)]
mod tests;
