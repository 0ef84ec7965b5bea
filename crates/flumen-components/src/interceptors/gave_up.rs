//! Events that an interceptor cannot handle: they pass, are counted, and are told of now and then.

use flumen_core::{metrics::Counter, registry::BuildContext, seldom::Seldom};
use std::{fmt::Display, sync::Arc};

flumen_core::metrics! {
    /// What interceptors count that can fail on an event.
    struct GaveUpMetrics {
        /// Events that an interceptor could not handle and passed on as they were.
        gave_up: Counter = "EventInterceptFailCount",
    }
}

/// Counts and tells. A source goes on: an event that Java's interceptor throws at would be offered again without end.
#[derive(Debug)]
pub(super) struct GaveUp {
    interceptor: Arc<str>,
    metrics: Arc<GaveUpMetrics>,
    warnings: Seldom,
}

impl GaveUp {
    /// For the interceptor that is built with this.
    pub(super) fn new(context: &BuildContext) -> Self {
        let metrics = Arc::new(GaveUpMetrics::default());
        context.extra.add(metrics.clone());
        Self { interceptor: context.name.clone(), metrics, warnings: Seldom::default() }
    }

    /// One event that cannot be handled, and why.
    pub(super) fn note(&self, reason: &dyn Display) {
        self.metrics.gave_up.add(1);
        if self.warnings.due().is_some() {
            let total = self.metrics.gave_up.get();
            tracing::warn!(
                interceptor = %self.interceptor,
                total,
                "an event passes as it is: {reason}; the next warning comes in a minute at the earliest"
            );
        }
    }
}
