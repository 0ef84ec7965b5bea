//! Java Flume's text for an event: headers in the order of a Java map, and a hex dump of the body.

use crate::shared::java_map;
use flumen_core::event::Event;
use std::fmt::Write;

/// Bytes in a line of the dump.
const BYTES_A_LINE: usize = 16;

/// Appends what Java's `EventHelper.dumpEvent` gives, with up to `max_bytes` of the body.
///
/// The format is that of Commons IO's `HexDump`: in each line the offset (left out in the first), sixteen bytes in hex,
/// and the same bytes as text, where all but printable ASCII is a dot. Lines but the last end with a line break.
pub(super) fn dump(event: Event<'_>, max_bytes: usize, out: &mut String) {
    out.push_str("{ headers:");
    java_map::write(event.headers, out);
    out.push_str(" body:");
    let shown = &event.body[..event.body.len().min(max_bytes)];
    if shown.is_empty() && !event.body.is_empty() {
        // Java's dump of no byte is an exception, whose text it shows.
        out.push_str("...Exception while dumping: illegal index: 0 into array of length 0");
    }
    for (n, line) in shown.chunks(BYTES_A_LINE).enumerate() {
        if n > 0 {
            let _ = write!(out, "\n{:08X}", n * BYTES_A_LINE);
        }
        for i in 0..BYTES_A_LINE {
            let _ = match line.get(i) {
                Some(byte) => write!(out, " {byte:02X}"),
                None => write!(out, "   "),
            };
        }
        out.push(' ');
        out.extend(
            line.iter().map(|&byte| if (b' '..0x7f).contains(&byte) { char::from(byte) } else { '.' }),
        );
    }
    out.push_str(" }");
}
