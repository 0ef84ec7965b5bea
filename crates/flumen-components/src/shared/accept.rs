//! What sources do when a connection cannot be accepted: they count, tell it once, and go on.

use flumen_core::{metrics::SourceMetrics, seldom::Seldom};
use std::{io, sync::Arc, time::Duration};

/// The pause after a failed accept: without file descriptors it would fail again at once.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Failed accepts of one source.
#[derive(Debug)]
pub(crate) struct FailedAccepts {
    source: Arc<str>,
    warnings: Seldom,
}

impl FailedAccepts {
    pub(crate) fn new(source: Arc<str>) -> Self {
        Self { source, warnings: Seldom::default() }
    }

    /// Counts one, and tells it if that has not just been done. Pause [`ACCEPT_PAUSE`] after it.
    pub(crate) fn note(&self, error: &io::Error, metrics: &SourceMetrics) {
        metrics.generic_fail.add(1);
        let Some(unsaid) = self.warnings.due() else { return };
        tracing::warn!(
            source = %self.source,
            %error,
            unsaid,
            "cannot accept connections, trying again; connections wait meanwhile{}. The next warning comes in a minute at \
             the earliest, GenericProcessingFail counts all",
            if is_descriptor_limit(error) { ": raise the limit of open files (ulimit -n, LimitNOFILE=)" } else { "" }
        );
    }
}

/// `EMFILE` and `ENFILE`: the process or the machine has no file descriptors left.
fn is_descriptor_limit(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}
