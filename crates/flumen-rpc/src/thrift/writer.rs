//! Writes the parts of which messages are made, in either protocol.

use super::{Fault, Protocol};

/// Message types.
pub(super) const CALL: u8 = 1;
pub(super) const REPLY: u8 = 2;
pub(super) const EXCEPTION: u8 = 3;

/// A message that is written. Fields must come in the order of their numbers.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) protocol: Protocol,
}

impl Writer<'_> {
    pub(super) fn message(&mut self, kind: u8, name: &str, sequence: i32) {
        match self.protocol {
            Protocol::Compact => {
                self.out.extend([0x82, 1 | kind << 5]);
                self.varint(sequence.cast_unsigned());
                self.binary(name.as_bytes());
            }
            Protocol::Binary => {
                self.out.extend([0x80, 1, 0, kind]);
                self.binary(name.as_bytes());
                self.out.extend(sequence.to_be_bytes());
            }
        }
    }

    /// The header of a field of bytes, a struct, a list and so on. `delta` is how much its number is above that of the field
    /// before, 1 to 15.
    pub(super) fn field(&mut self, number: u8, delta: u8, compact: u8, binary: u8) {
        match self.protocol {
            Protocol::Compact => self.out.push(delta << 4 | compact),
            Protocol::Binary => self.out.extend([binary, 0, number]),
        }
    }

    pub(super) fn stop(&mut self) {
        self.out.push(0);
    }

    /// The beginning of a list of structs.
    pub(super) fn list_of_structs(&mut self, count: u32) {
        match self.protocol {
            Protocol::Compact if count < 15 => self.out.push((count as u8) << 4 | 12),
            Protocol::Compact => {
                self.out.push(15 << 4 | 12);
                self.varint(count);
            }
            Protocol::Binary => {
                self.out.push(12);
                self.out.extend(count.to_be_bytes());
            }
        }
    }

    /// The beginning of a map from text to text.
    pub(super) fn map_of_text(&mut self, count: u32) {
        match self.protocol {
            Protocol::Compact => {
                self.varint(count);
                if count > 0 {
                    self.out.push(8 << 4 | 8);
                }
            }
            Protocol::Binary => {
                self.out.extend([11, 11]);
                self.out.extend(count.to_be_bytes());
            }
        }
    }

    /// Bytes or a text. A message is shorter than 2 GiB.
    pub(super) fn binary(&mut self, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).expect("a message is shorter than 4 GiB");
        match self.protocol {
            Protocol::Compact => self.varint(len),
            Protocol::Binary => self.out.extend(len.to_be_bytes()),
        }
        self.out.extend_from_slice(bytes);
    }

    /// The result of a method: field 0, which the compact protocol cannot write as a difference.
    pub(super) fn result(&mut self, number: i32) {
        match self.protocol {
            Protocol::Compact => {
                self.out.extend([5, 0]);
                self.zigzag(number);
            }
            Protocol::Binary => {
                self.out.extend([8, 0, 0]);
                self.out.extend(number.to_be_bytes());
            }
        }
        self.stop();
    }

    /// The struct of an exception: its text and its number.
    pub(super) fn fault(&mut self, fault: Fault, text: &str) {
        self.field(1, 1, 8, 11);
        self.binary(text.as_bytes());
        self.field(2, 1, 5, 8);
        match self.protocol {
            Protocol::Compact => self.zigzag(fault.number()),
            Protocol::Binary => self.out.extend(fault.number().to_be_bytes()),
        }
        self.stop();
    }

    fn zigzag(&mut self, number: i32) {
        self.varint((number << 1 ^ number >> 31).cast_unsigned());
    }

    fn varint(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }
}
