//! What a new plan changes of an old one: which parts stop, which start, and which are not touched.

use super::Plan;
use flumen_core::{
    planted::{self, Bug},
    registry::Registry,
};
use std::collections::BTreeSet;

/// The difference between two plans, by name of part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Channels that take new limits while they run.
    pub channels_reconfigured: BTreeSet<String>,
    /// Channels that are new, or must be built anew under the same name.
    pub channels_built: BTreeSet<String>,
    /// Channels that go, or make way for one of the same name.
    pub channels_removed: BTreeSet<String>,
    /// Sources that stop.
    pub sources_stopped: BTreeSet<String>,
    /// Sources that start.
    pub sources_started: BTreeSet<String>,
    /// Sink groups that stop.
    pub groups_stopped: BTreeSet<String>,
    /// Sink groups that start.
    pub groups_started: BTreeSet<String>,
}

impl Changes {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Plan {
    /// What must be done to get from this plan to the next one.
    pub fn changes_to(&self, next: &Plan, registry: &Registry) -> Changes {
        let mut changes = Changes::default();
        for (name, old) in &self.channels {
            match next.channels.get(name) {
                None => _ = changes.channels_removed.insert(name.clone()),
                Some(new) if new == old => {}
                Some(new) => {
                    let live = registry.find_channel(old.type_name).map_or(&[][..], |entry| entry.live_keys);
                    let keys = old.settings.iter().chain(new.settings.iter()).map(|(key, _)| key);
                    let mut changed = keys.filter(|key| old.settings.get(key) != new.settings.get(key));
                    let can_change = !planted::is(Bug::ReloadBuildsChangedChannelsAnew);
                    if can_change && old.type_name == new.type_name && changed.all(|key| live.contains(&key))
                    {
                        changes.channels_reconfigured.insert(name.clone());
                    } else {
                        changes.channels_removed.insert(name.clone());
                        changes.channels_built.insert(name.clone());
                    }
                }
            }
        }
        let new = next.channels.keys().filter(|name| !self.channels.contains_key(*name));
        changes.channels_built.extend(new.cloned());

        // What is attached to a channel that is another object now must be attached again.
        let moved = |channel: &String| changes.channels_built.contains(channel);
        for (name, old) in &self.sources {
            if next.sources.get(name).is_none_or(|new| new != old || new.channels.iter().any(&moved)) {
                changes.sources_stopped.insert(name.clone());
            }
        }
        for (name, old) in &self.groups {
            if next
                .groups
                .get(name)
                .is_none_or(|new| new != old || new.sinks.iter().any(|s| moved(&s.channel)))
            {
                changes.groups_stopped.insert(name.clone());
            }
        }
        let start = |stopped: &BTreeSet<String>, was: bool, name: &String| !was || stopped.contains(name);
        changes.sources_started = next
            .sources
            .keys()
            .filter(|name| start(&changes.sources_stopped, self.sources.contains_key(*name), name))
            .cloned()
            .collect();
        changes.groups_started = next
            .groups
            .keys()
            .filter(|name| start(&changes.groups_stopped, self.groups.contains_key(*name), name))
            .cloned()
            .collect();
        changes
    }
}
