//! Files that sources keep beside what they read.

use flumen_components::sources::taildir;

/// A position file and the marks beside it, with a line `---` between: what was read is written, and read again the same.
pub(super) fn positions(input: &[u8]) {
    let separator = b"\n---\n";
    let at = input.windows(separator.len()).position(|part| part == separator);
    let (content, marks) = at.map_or((input, &[][..]), |at| (&input[..at], &input[at + separator.len()..]));
    let written = taildir::read_and_write(content, marks);
    assert_eq!(taildir::read_and_write(&written, b""), written, "what was written is read as it is");
}
