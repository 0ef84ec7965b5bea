//! Headers as Java prints a map: `{k1=v1, k2=v2}`, in the order of its hash table.

use flumen_core::event::EventHeaders;
use flumen_java::text::hash_order::{Made, order};

/// Appends the headers of an event.
pub(crate) fn write(headers: EventHeaders<'_>, out: &mut String) {
    let entries: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
    let names: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    out.push('{');
    for (n, place) in order(&names, Made::Empty).into_iter().enumerate() {
        if n > 0 {
            out.push_str(", ");
        }
        let (name, value) = entries[place];
        out.push_str(name);
        out.push('=');
        out.push_str(value);
    }
    out.push('}');
}
