//! How events become bytes of a file, and bytes of a file become events.

use crate::event::Event;

/// Turns events into the bytes of one file. A fresh one serves each file.
pub trait EventSerializer: Send {
    /// What stands before the first event of a new file.
    ///
    /// # Errors
    /// It cannot be written.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        let _ = out;
        Ok(())
    }

    /// Appends one event.
    ///
    /// # Errors
    /// This event cannot be written; `out` is as it was. Other events still can.
    fn write(&mut self, event: Event<'_>, out: &mut Vec<u8>) -> Result<(), SerializeError>;

    /// Appends what must be there before the bytes so far are handed to the system: a block that is gathered, say.
    ///
    /// # Errors
    /// It cannot be written.
    fn flush(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        let _ = out;
        Ok(())
    }

    /// What stands after the last event of a file.
    ///
    /// # Errors
    /// It cannot be written.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), SerializeError> {
        let _ = out;
        Ok(())
    }
}

/// Why an event or a file cannot be written.
#[derive(Debug, Clone, thiserror::Error)]
#[error("serializer {serializer}: {reason}")]
pub struct SerializeError {
    /// The serializer's short name.
    pub serializer: &'static str,
    /// What is wrong, and the way out.
    pub reason: String,
}
