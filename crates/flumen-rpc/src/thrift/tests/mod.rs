//! The codec against recorded and hostile bytes, and server and client against each other.

mod calls;
mod hostile;
mod recorded;

use super::*;
use bytes::Bytes;
use flumen_core::event::{Batch, Headers};

/// Events with these bodies, the first with headers of its own.
fn sample() -> Batch {
    let mut batch = Batch::new();
    batch.push([("a", "1")].into_iter().collect::<Headers>(), "hello");
    batch.push(Headers::new(), "x");
    batch
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn call(protocol: Protocol, method: Method, sequence: i32, batch: &Batch) -> Vec<u8> {
    let mut out = Vec::new();
    encode_call(&mut out, protocol, method, sequence, batch, 0..batch.len());
    out
}

/// The message of the only frame.
fn message(frame: &[u8]) -> Bytes {
    let (len, message) = frame.split_first_chunk::<4>().unwrap();
    assert_eq!(u32::from_be_bytes(*len) as usize, message.len());
    Bytes::copy_from_slice(message)
}
