//! One header with one value for all events of a batch: what the static, host and timestamp interceptors do.

use flumen_core::event::{Batch, Text};

/// Sets a header on every event, once for each set of headers that events share. With `preserve_existing`, events that have
/// it keep theirs.
pub(super) fn set_on_all(batch: &mut Batch, name: &Text, value: &Text, preserve_existing: bool) {
    batch.edit_headers(|headers| {
        if !(preserve_existing && headers.get(name).is_some()) {
            headers.set(name.clone(), value.clone());
        }
    });
}
