//! How the blocks of a file are packed, by the names that Java's library knows.

use super::{MOST_BLOCK_BYTES, NotAvro};
use flate2::{Decompress, FlushDecompress, Status};
use std::io::{self, Read, Write};

/// The level that Java's library takes where none is given.
const XZ_LEVEL: u32 = 6;
const ZSTANDARD_LEVEL: i32 = 3;
/// What an xz block may need for its dictionary, in KiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// What is made room for at first.
const FIRST_ROOM: usize = 1 << 10;
/// Bytes of the checksum behind a snappy block.
const CRC_BYTES: usize = 4;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Null,
    Deflate,
    Snappy,
    Bzip2,
    Xz,
    Zstandard,
}

impl Codec {
    pub(crate) const ALL: [Self; 6] =
        [Self::Null, Self::Deflate, Self::Snappy, Self::Bzip2, Self::Xz, Self::Zstandard];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Deflate => "deflate",
            Self::Snappy => "snappy",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Zstandard => "zstandard",
        }
    }

    /// The codec of this name, in the one case that Java knows.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|codec| codec.name() == name)
    }

    /// Packs a block.
    pub(crate) fn pack(self, data: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Null => Ok(data.to_vec()),
            Self::Deflate => {
                let level = flate2::Compression::default();
                let mut out = flate2::write::DeflateEncoder::new(Vec::new(), level);
                out.write_all(data)?;
                out.finish()
            }
            Self::Snappy => {
                let mut out = snap::raw::Encoder::new().compress_vec(data)?;
                out.extend_from_slice(&crc32fast::hash(data).to_be_bytes());
                Ok(out)
            }
            Self::Bzip2 => {
                let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
                out.write_all(data)?;
                out.finish()
            }
            Self::Xz => {
                let options = lzma_rust2::XzOptions::with_preset(XZ_LEVEL);
                let mut out = lzma_rust2::XzWriter::new(Vec::new(), options)?;
                out.write_all(data)?;
                out.finish()
            }
            Self::Zstandard => zstd::bulk::compress(data, ZSTANDARD_LEVEL),
        }
    }

    /// Unpacks a block, up to [`MOST_BLOCK_BYTES`].
    pub(crate) fn unpack(self, data: Vec<u8>) -> Result<Vec<u8>, NotAvro> {
        let unpacked = match self {
            Self::Null => return Ok(data),
            Self::Deflate => inflate(&data),
            Self::Snappy => return snappy(&data),
            Self::Bzip2 => all_of(bzip2::read::MultiBzDecoder::new(&*data)),
            Self::Xz => all_of(lzma_rust2::XzReader::new_mem_limit(&*data, true, XZ_MEMORY_KIB)),
            Self::Zstandard => zstd::stream::read::Decoder::new(&*data).and_then(all_of),
        };
        unpacked
            .map_err(|error| NotAvro::new(format!("a block of codec {} is damaged: {error}", self.name())))
    }
}

fn all_of(unpacking: impl Read) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    unpacking.take(MOST_BLOCK_BYTES as u64 + 1).read_to_end(&mut out)?;
    if out.len() > MOST_BLOCK_BYTES {
        return Err(too_much());
    }
    Ok(out)
}

/// The library's reader takes a stream that is cut for one that ends.
fn inflate(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut inflating = Decompress::new(false);
    let mut out = Vec::with_capacity((data.len() * 4).clamp(FIRST_ROOM, MOST_BLOCK_BYTES));
    loop {
        let passed = usize::try_from(inflating.total_in()).unwrap_or(data.len());
        let before = (passed, out.len());
        let status = inflating.decompress_vec(&data[passed..], &mut out, FlushDecompress::None)?;
        if status == Status::StreamEnd {
            return Ok(out);
        }
        if out.len() == out.capacity() {
            if out.len() >= MOST_BLOCK_BYTES {
                return Err(too_much());
            }
            out.reserve(out.len().min(MOST_BLOCK_BYTES - out.len()));
        } else if before == (usize::try_from(inflating.total_in()).unwrap_or(data.len()), out.len()) {
            return Err(io::Error::other("it is cut"));
        }
    }
}

fn too_much() -> io::Error {
    io::Error::other(format!("it unpacks to more than {MOST_BLOCK_BYTES} bytes"))
}

fn snappy(data: &[u8]) -> Result<Vec<u8>, NotAvro> {
    let bad = |why: &str| NotAvro::new(format!("a block of codec snappy is damaged: {why}"));
    let (packed, crc) =
        data.split_last_chunk::<CRC_BYTES>().ok_or_else(|| bad("it has no room for a checksum"))?;
    let len = snap::raw::decompress_len(packed).map_err(|error| bad(&error.to_string()))?;
    // A copy of snappy makes 64 bytes of 3 at most.
    if len > MOST_BLOCK_BYTES || len / 32 > packed.len() {
        return Err(bad("it says that it unpacks to more than it can"));
    }
    let unpacked =
        snap::raw::Decoder::new().decompress_vec(packed).map_err(|error| bad(&error.to_string()))?;
    if crc32fast::hash(&unpacked).to_be_bytes() != *crc {
        return Err(bad("the checksum is another one"));
    }
    Ok(unpacked)
}
