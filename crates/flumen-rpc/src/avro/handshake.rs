//! The handshake: by hashes two peers find out whether they know each other's protocol, and exchange texts if not.

use super::{
    protocol::{HASH, MAX_TEXT_BYTES, TEXT},
    wire::{Reader, WireError, put_bytes},
};

/// A metadata entry by which a client asks, and a server says, that calls of a connection are stored in the order in which they
/// are sent, and that none is stored behind one that failed. Java has no such entry and overlooks it.
const KEEPS_ORDER: &[u8] = b"flumen-keeps-order";

/// What a client says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeRequest {
    /// The MD5 of the client's protocol.
    pub client_hash: [u8; 16],
    /// The client's protocol, where the server did not know the hash.
    pub client_protocol: Option<Vec<u8>>,
    /// What the client takes for the MD5 of the server's protocol.
    pub server_hash: [u8; 16],
    /// Whether the client asks for calls to be stored in order.
    pub keeps_order: bool,
}

/// What a server says first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeResponse {
    /// How far the hashes were known.
    pub matched: Match,
    /// The server's protocol, unless the client knows it.
    pub server_protocol: Option<Vec<u8>>,
    /// The MD5 of it.
    pub server_hash: Option<[u8; 16]>,
    /// Whether calls are stored in order.
    pub keeps_order: bool,
}

/// How far hashes were known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// Both protocols are known: the call is carried out.
    Both,
    /// The server knows the client's protocol, not the other way round: the call is carried out.
    Client,
    /// The server does not know the client's protocol: it wants the text, and the call again.
    None,
}

impl HandshakeRequest {
    /// Reads it from the front of a client's first message.
    ///
    /// # Errors
    /// It is none.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let client_hash = hash(reader)?;
        let client_protocol = match option(reader)? {
            true => Some(text(reader)?),
            false => None,
        };
        let server_hash = hash(reader)?;
        Ok(Self { client_hash, client_protocol, server_hash, keeps_order: meta(reader)? })
    }

    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.client_hash);
        put_option(self.client_protocol.as_deref(), out);
        out.extend_from_slice(&self.server_hash);
        // Java always sends a map here, if an empty one.
        out.push(2);
        put_meta(self.keeps_order, out);
    }
}

impl HandshakeResponse {
    /// Java's rule for a client whose protocol is known, or is not.
    pub fn to(request: &HandshakeRequest, client_is_known: bool) -> Self {
        let server_is_known = request.server_hash == HASH;
        let matched = match (client_is_known, server_is_known) {
            (true, true) => Match::Both,
            (true, false) => Match::Client,
            (false, _) => Match::None,
        };
        let tell = matched != Match::Both;
        Self {
            matched,
            server_protocol: tell.then(|| TEXT.as_bytes().to_vec()),
            server_hash: tell.then_some(HASH),
            keeps_order: request.keeps_order,
        }
    }

    /// Reads it from the front of a server's first message.
    ///
    /// # Errors
    /// It is none.
    pub fn read(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let matched = match reader.long()? {
            0 => Match::Both,
            1 => Match::Client,
            2 => Match::None,
            other => return Err(WireError::Branch(other, "a handshake's match")),
        };
        let server_protocol = match option(reader)? {
            true => Some(text(reader)?),
            false => None,
        };
        let server_hash = match option(reader)? {
            true => Some(hash(reader)?),
            false => None,
        };
        Ok(Self { matched, server_protocol, server_hash, keeps_order: meta(reader)? })
    }

    /// Appends it.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(match self.matched {
            Match::Both => 0,
            Match::Client => 2,
            Match::None => 4,
        });
        put_option(self.server_protocol.as_deref(), out);
        match self.server_hash {
            Some(hash) => {
                out.push(2);
                out.extend_from_slice(&hash);
            }
            None => out.push(0),
        }
        if self.keeps_order {
            out.push(2);
            put_meta(true, out);
        } else {
            out.push(0);
        }
    }
}

fn hash(reader: &mut Reader<'_>) -> Result<[u8; 16], WireError> {
    let mut hash = [0; 16];
    hash.copy_from_slice(reader.fixed(16)?);
    Ok(hash)
}

/// The branch of a union of null and something else.
fn option(reader: &mut Reader<'_>) -> Result<bool, WireError> {
    match reader.long()? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(WireError::Branch(other, "a handshake's union")),
    }
}

fn text(reader: &mut Reader<'_>) -> Result<Vec<u8>, WireError> {
    let text = reader.bytes()?;
    if text.len() > MAX_TEXT_BYTES { Err(WireError::TooMany("bytes of protocol")) } else { Ok(text.to_vec()) }
}

fn put_option(text: Option<&[u8]>, out: &mut Vec<u8>) {
    match text {
        Some(text) => {
            out.push(2);
            put_bytes(out, text);
        }
        None => out.push(0),
    }
}

/// Whether the optional metadata has our entry.
fn meta(reader: &mut Reader<'_>) -> Result<bool, WireError> {
    let mut keeps_order = false;
    if option(reader)? {
        reader.map(|name, _| keeps_order |= name == KEEPS_ORDER)?;
    }
    Ok(keeps_order)
}

fn put_meta(keeps_order: bool, out: &mut Vec<u8>) {
    if keeps_order {
        out.push(2);
        put_bytes(out, KEEPS_ORDER);
        put_bytes(out, &[]);
    }
    out.push(0);
}
