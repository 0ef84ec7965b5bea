//! What moves through an agent: events, and the batches that carry them.

mod batch;
mod edit;
mod headers;
mod text;

pub use batch::{Batch, BatchSize, Emit, SLOT_BYTES};
pub use edit::{HeadersMut, OwnHeaders};
pub use headers::{EventHeaders, Headers};
pub use text::Text;

/// An event of a batch, borrowed: string headers and an opaque body.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// Names and values that travel with the body. Names are unique.
    pub headers: EventHeaders<'a>,
    /// The payload. Flumen never looks into it unless a component is told to.
    pub body: &'a [u8],
}

#[cfg(test)]
mod tests;
