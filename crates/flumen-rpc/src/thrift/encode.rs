//! Writes calls and answers, each with the length of its frame in front.

use super::{
    Fault, Method, Protocol, Status,
    writer::{CALL, EXCEPTION, REPLY, Writer},
};
use flumen_core::event::{Batch, EventHeaders};
use std::ops::Range;

/// Appends to `out` the frame of a call with these events: for [`Method::Append`] the first one of the range.
///
/// # Panics
/// The range lies outside of the batch, or is empty for `append`.
pub fn encode_call(
    out: &mut Vec<u8>,
    protocol: Protocol,
    method: Method,
    sequence: i32,
    batch: &Batch,
    range: Range<usize>,
) {
    framed(out, |out| {
        let mut writer = Writer { out, protocol };
        writer.message(CALL, method.name(), sequence);
        match method {
            Method::Append => {
                writer.field(1, 1, 12, 12);
                event(&mut writer, batch, range.start, &mut None);
            }
            Method::AppendBatch => {
                writer.field(1, 1, 9, 15);
                writer
                    .list_of_structs(u32::try_from(range.len()).expect("a batch has fewer than 2^32 events"));
                let mut before = None;
                for index in range {
                    event(&mut writer, batch, index, &mut before);
                }
            }
        }
        writer.stop();
    });
}

/// The headers that were written last, and where: most events of a batch share theirs.
type Written<'a> = Option<(EventHeaders<'a>, Range<usize>)>;

fn event<'a>(writer: &mut Writer<'_>, batch: &'a Batch, index: usize, before: &mut Written<'a>) {
    let event = batch.get(index).expect("the range lies within the batch");
    match before {
        Some((headers, range)) if headers.is_same_place(&event.headers) => {
            writer.out.extend_from_within(range.clone());
        }
        _ => {
            let start = writer.out.len();
            writer.field(1, 1, 11, 13);
            let count = event.headers.len();
            writer.map_of_text(u32::try_from(count).expect("an event has fewer than 2^32 headers"));
            for (name, value) in event.headers.iter() {
                writer.binary(name.as_bytes());
                writer.binary(value.as_bytes());
            }
            *before = Some((event.headers, start..writer.out.len()));
        }
    }
    writer.field(2, 1, 8, 11);
    writer.binary(event.body);
    writer.stop();
}

/// Appends the frame of an answer: a status, or what went wrong in its place. Of `fault` the first 1,000 characters are sent.
pub fn encode_reply(
    out: &mut Vec<u8>,
    protocol: Protocol,
    method: &str,
    sequence: i32,
    answer: Result<Status, (Fault, &str)>,
) {
    framed(out, |out| {
        let mut writer = Writer { out, protocol };
        match answer {
            Ok(status) => {
                writer.message(REPLY, method, sequence);
                writer.result(status.number());
            }
            Err((fault, text)) => {
                writer.message(EXCEPTION, method, sequence);
                let end = text.char_indices().nth(1_000).map_or(text.len(), |(at, _)| at);
                writer.fault(fault, &text[..end]);
            }
        }
    });
}

/// Writes a frame around what `write` appends.
fn framed(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend([0; 4]);
    write(out);
    let len = u32::try_from(out.len() - start - 4).expect("a frame is shorter than 4 GiB");
    out[start..start + 4].copy_from_slice(&len.to_be_bytes());
}
