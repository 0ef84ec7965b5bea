//! The channels of a plan.

use super::{Plan, read::Reader};
use flumen_core::registry::Kind;
use flumen_core::registry::Registry;

/// Reads all channels that the agent lists.
pub(super) fn read(reader: &mut Reader<'_>, plan: &mut Plan) {
    let registry = reader.context.registry.clone();
    for name in reader.keys.names("channels") {
        let Some(settings) = reader.settings("channels", &name) else { continue };
        let Some(type_name) = reader.type_of(&settings) else { continue };
        let entry =
            reader.find(Kind::Channel, &settings, "type", &type_name, Registry::find_channel, &registry);
        let Some(entry) = entry else { continue };
        if let Some(part) = reader.check(&entry.info, settings, entry.check) {
            plan.channels.insert(name.clone(), part);
            plan.channel_order.push(name);
        }
    }
}
