//! How events become bytes of a file, and bytes of a file become events.

use crate::event::{Batch, Event, Headers};
use std::io;

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

/// Turns the bytes of one file into events. A fresh one serves each file.
pub trait EventDeserializer: Send {
    /// Goes to a place that [`Self::place`] of an earlier one has told for the same file; the default place is its start.
    ///
    /// # Errors
    /// The file cannot be read, or is none of this kind.
    fn start(&mut self, input: &dyn Input, text: &TextInput, place: Place) -> Result<(), DeserializeError>;

    /// Adds the next events to `batch`, with these headers and perhaps some of their own. None: there are no more.
    ///
    /// # Errors
    /// The file cannot be read, or what follows is no event. `batch` has the events before it, and the place is behind them.
    fn read(
        &mut self,
        input: &dyn Input,
        headers: &Headers,
        most: Most,
        batch: &mut Batch,
    ) -> Result<(), DeserializeError>;

    /// Where the next event is.
    fn place(&self) -> Place;
}

/// What a deserializer reads from.
pub trait Input {
    /// Reads once into the spare room of `buffer`, from `offset` on. 0: nothing is there.
    ///
    /// # Errors
    /// It cannot be read.
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize>;
}

impl Input for [u8] {
    fn read_at(&self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.get(offset..)).unwrap_or_default();
        let n = rest.len().min(buffer.capacity() - buffer.len());
        buffer.extend_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// How a file's bytes are text, for deserializers that read text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextInput {
    /// The charset, by any name that Java knows.
    pub charset: String,
    /// What to do with bytes that are no text in it.
    pub on_bad: OnBadText,
}

/// What to do with bytes that are no text: Flume's `decodeErrorPolicy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnBadText {
    /// The file cannot be read on.
    Fail,
    /// U+FFFD stands for them.
    Replace,
    /// They are left out.
    Ignore,
}

/// A place between two events of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Events behind it that were read already: of a block that can only be read from its start.
    pub skip: u64,
}

/// How much to read at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Events.
    pub events: usize,
    /// Bytes of their bodies; the event that reaches it is the last.
    pub bytes: usize,
}

/// Why a file cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum DeserializeError {
    /// Reading failed: it may go better later.
    #[error(transparent)]
    Input(#[from] io::Error),
    /// What is there is no event: the file has to be mended.
    #[error("at byte {offset}: {reason}")]
    Bad {
        /// Where in the file.
        offset: u64,
        /// What is wrong, and the way out.
        reason: String,
    },
}
