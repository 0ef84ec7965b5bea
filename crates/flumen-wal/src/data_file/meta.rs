//! `log-N.meta`: the version of a data file, where reading may begin, and how the file is encrypted.

use crate::{
    data_file::{cipher::is_authenticated, meta_name, sealed},
    disk::{Disk, read_whole},
    record::wire::{Short, Value, Wire, put_varint},
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The longest meta that is read.
const MAX_META: u64 = 64 << 10;

/// A meta: one protobuf message with its length before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meta {
    /// Number of the data file (field 2). Field 1 is the version, 3.
    pub file: u32,
    /// Where Java was writing at its last checkpoint in which the file was active (field 3).
    pub checkpoint_position: u64,
    /// Write-order id of that checkpoint (field 4).
    pub checkpoint_order: u64,
    /// How the file is encrypted, if it is (field 5).
    pub encryption: Option<Encryption>,
    /// What field 3 was before (field 6).
    pub backup_position: u64,
    /// What field 4 was before (field 7).
    pub backup_order: u64,
}

/// How a data file is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encryption {
    /// The cipher as it was configured: `AESCTRNOPADDING` or `AESGCM` in any case, or a Java class (field 1).
    pub cipher_provider: String,
    /// The key's name in the key store (field 2).
    pub key_alias: String,
    /// The counter block, 16 bytes; of `AESGCM` salt, check and CRC, 52 bytes (field 3).
    pub parameters: Vec<u8>,
}

impl Meta {
    /// The meta of a new file.
    pub fn new(file: u32, encryption: Option<Encryption>) -> Self {
        Self {
            file,
            checkpoint_position: 0,
            checkpoint_order: 0,
            encryption,
            backup_position: 0,
            backup_order: 0,
        }
    }

    /// As it lies on disk.
    pub fn encode(&self) -> Vec<u8> {
        let mut message = Vec::new();
        message.extend_from_slice(&[0x0d, 3, 0, 0, 0, 0x15]);
        message.extend_from_slice(&self.file.to_le_bytes());
        for (tag, value) in [(0x19, self.checkpoint_position), (0x21, self.checkpoint_order)] {
            message.push(tag);
            message.extend_from_slice(&value.to_le_bytes());
        }
        if let Some(encryption) = &self.encryption {
            let mut inner = Vec::new();
            for (tag, bytes) in [
                (0x0a, encryption.cipher_provider.as_bytes()),
                (0x12, encryption.key_alias.as_bytes()),
                (0x1a, &encryption.parameters),
            ] {
                inner.push(tag);
                put_varint(&mut inner, bytes.len() as u32);
                inner.extend_from_slice(bytes);
            }
            message.push(0x2a);
            put_varint(&mut message, inner.len() as u32);
            message.extend_from_slice(&inner);
        }
        for (tag, value) in [(0x31, self.backup_position), (0x39, self.backup_order)] {
            message.push(tag);
            message.extend_from_slice(&value.to_le_bytes());
        }
        let mut out = Vec::with_capacity(message.len() + 2);
        put_varint(&mut out, message.len() as u32);
        out.extend_from_slice(&message);
        out
    }

    /// Reads one. `None`: it is damaged, or of another version.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut wire = Wire::new(bytes);
        let mut wire = wire.delimited().ok()?;
        let mut version = None;
        let mut found = [None; 4];
        let mut file = None;
        let mut encryption = None;
        while !wire.is_empty() {
            match wire.field().ok()? {
                (1, Value::Fixed32(value)) => version = Some(value),
                (2, Value::Fixed32(value)) => file = Some(value),
                (3, Value::Fixed64(value)) => found[0] = Some(value),
                (4, Value::Fixed64(value)) => found[1] = Some(value),
                (5, Value::Bytes(bytes)) => encryption = Some(decode_encryption(bytes).ok()?),
                (6, Value::Fixed64(value)) => found[2] = Some(value),
                (7, Value::Fixed64(value)) => found[3] = Some(value),
                _ => return None,
            }
        }
        (version == Some(3)).then_some(())?;
        Some(Self {
            file: file?,
            checkpoint_position: found[0]?,
            checkpoint_order: found[1]?,
            encryption,
            backup_position: found[2].unwrap_or(0),
            backup_order: found[3].unwrap_or(0),
        })
    }
}

fn decode_encryption(bytes: &[u8]) -> Result<Encryption, Short> {
    let mut wire = Wire::new(bytes);
    let (mut cipher_provider, mut key_alias, mut parameters) = (None, None, Vec::new());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Short);
    while !wire.is_empty() {
        match wire.field()? {
            (1, Value::Bytes(bytes)) => cipher_provider = Some(text(bytes)?),
            (2, Value::Bytes(bytes)) => key_alias = Some(text(bytes)?),
            (3, Value::Bytes(bytes)) => parameters = bytes.to_vec(),
            _ => return Err(Short),
        }
    }
    let cipher_provider = cipher_provider.ok_or(Short)?;
    // Of Java's parameters nobody can tell whether they are whole.
    if is_authenticated(&cipher_provider) && !sealed::are_whole(&parameters) {
        return Err(Short);
    }
    Ok(Encryption { cipher_provider, key_alias: key_alias.ok_or(Short)?, parameters })
}

/// What was found where a meta should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundMeta {
    /// The meta.
    Right(Meta),
    /// A meta under a name that Java's renaming leaves when it is cut short.
    Aside(Meta, PathBuf),
    /// There is none that can be read.
    None,
}

impl FoundMeta {
    /// The meta, wherever it was.
    pub fn meta(&self) -> Option<&Meta> {
        match self {
            Self::Right(meta) | Self::Aside(meta, _) => Some(meta),
            Self::None => None,
        }
    }
}

/// Reads the meta of a data file: under its name, else under the names that a renaming cut short leaves (`.tmp` before
/// `.old`, and `.meta.old`, which Java writes and does not look for).
///
/// # Errors
/// A file is there and cannot be read.
pub fn find_meta(disk: &dyn Disk, dir: &Path, number: u32) -> io::Result<FoundMeta> {
    let name = meta_name(number);
    for (i, suffix) in ["", ".tmp", ".old", ".meta.old"].iter().enumerate() {
        let path = dir.join(format!("{name}{suffix}"));
        let bytes = match read_whole(disk, &path, MAX_META) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        match Meta::decode(&bytes).filter(|meta| meta.file == number) {
            Some(meta) if i == 0 => return Ok(FoundMeta::Right(meta)),
            Some(meta) => return Ok(FoundMeta::Aside(meta, path)),
            None => {}
        }
    }
    Ok(FoundMeta::None)
}
