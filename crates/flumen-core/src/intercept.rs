//! What rewrites events between a source and its channels.

use crate::event::Batch;
use std::fmt::Debug;

/// Rewrites a batch in place (`edit_headers`, `edit_each`, `retain`, `expand`). Shared by all of a source's tasks.
pub trait Interceptor: Debug + Send + Sync + 'static {
    /// Rewrites the batch.
    ///
    /// # Errors
    /// The batch cannot be handled at all. It must then be as it was, or as good as that: the source offers it again.
    /// One event that cannot be handled is no error; it stays as it is or is dropped, as the interceptor's page says.
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError>;
}

/// Why an interceptor cannot handle a batch.
#[derive(Debug, Clone, thiserror::Error)]
#[error("interceptor {interceptor}: {reason}")]
pub struct InterceptError {
    /// The interceptor's name.
    pub interceptor: String,
    /// What is wrong, and the way out.
    pub reason: String,
}
