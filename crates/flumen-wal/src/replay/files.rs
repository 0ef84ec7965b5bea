//! Finds the data files, their metas and keys, before anything is read.

use super::{Options, ReplayError, settle::Edit};
use crate::{
    data_file::{
        self, Cipher, CipherError, DataFile, Encryption, FoundMeta, Meta, Scanner, find_meta,
        is_known_cipher, meta_name,
    },
    disk::{Disk, Mode, read_exact},
    record::v2,
};
use std::{path::Path, sync::Arc};

/// A data file that takes part in a replay.
#[derive(Debug, Clone)]
pub struct Found {
    /// Number, directory, path and length.
    pub file: DataFile,
    /// Its version: 3, or 2.
    pub version: u32,
    /// How it is encrypted.
    pub encryption: Option<Encryption>,
    /// Its cipher, if it is encrypted.
    pub cipher: Option<Arc<Cipher>>,
    /// Where Java's checkpoints found it, newest first: position and write-order id.
    pub(super) marks: [(u64, u64); 2],
    /// Whether its meta was found under its name.
    pub(super) has_meta: bool,
}

impl Found {
    /// Reads it from an offset on, where a record begins.
    ///
    /// # Errors
    /// What the disk says.
    pub fn scan(&self, disk: &dyn Disk, at: u64) -> std::io::Result<Scanner> {
        let scanner = Scanner::new(disk.open(&self.file.path, Mode::Read)?, at, self.cipher.clone())?;
        Ok(if self.version == 2 { scanner.version_2() } else { scanner })
    }
}

/// All files with something in them, by number; those that are in the way go to `aside`, and what settles metas to `edits`.
pub(super) fn find(
    disk: &dyn Disk,
    options: &Options<'_>,
    aside: &mut Vec<DataFile>,
    edits: &mut Vec<Edit>,
) -> Result<Vec<Found>, ReplayError> {
    let mut found: Vec<Found> = Vec::new();
    for file in data_file::list(disk, options.dirs)? {
        if file.len == 0 {
            continue;
        }
        let one = look(disk, options, file, edits)?;
        let Some(last) = found.last_mut().filter(|last| last.file.number == one.file.number) else {
            found.push(one);
            continue;
        };
        // Two files with one number: the one that is in the directory of its transactions stays.
        let twin = if belongs(disk, &one, options.dirs.len())? && !belongs(disk, last, options.dirs.len())? {
            std::mem::replace(last, one)
        } else {
            one
        };
        aside.push(twin.file);
    }
    Ok(found)
}

fn look(
    disk: &dyn Disk,
    options: &Options<'_>,
    file: DataFile,
    edits: &mut Vec<Edit>,
) -> Result<Found, ReplayError> {
    let dir = file.path.parent().unwrap_or(Path::new("."));
    let found_meta = find_meta(disk, dir, file.number)?;
    if let FoundMeta::Aside(_, from) = &found_meta {
        edits.push(Edit::Rename { from: from.clone(), to: dir.join(meta_name(file.number)) });
    }
    let has_meta = found_meta.meta().is_some();
    if let Some(meta) = found_meta.meta() {
        let Meta { encryption, checkpoint_position, checkpoint_order, backup_position, backup_order, .. } =
            meta.clone();
        let cipher = match &encryption {
            Some(encryption) => Some(Arc::new(cipher(options, &file, encryption)?)),
            None => None,
        };
        let marks = [(checkpoint_position, checkpoint_order), (backup_position, backup_order)];
        return Ok(Found { file, version: 3, encryption, cipher, marks, has_meta });
    }
    let head_len = u64::from(v2::FILE_HEADER_LEN).min(file.len) as usize;
    let read = || read_exact(&*disk.open(&file.path, Mode::Read)?, 0, head_len);
    // What cannot be read at a second try either is the end of this file, not of the channel.
    let head = read().or_else(|_| read()).unwrap_or_default();
    let header = v2::file_header(&head).filter(|header| header.file == file.number);
    let version = if header.is_some() { 2 } else { 3 };
    let mark = header.map_or((0, 0), |header| (header.checkpoint_position, header.checkpoint_order));
    Ok(Found { file, version, encryption: None, cipher: None, marks: [mark, (0, 0)], has_meta })
}

fn cipher(options: &Options<'_>, file: &DataFile, encryption: &Encryption) -> Result<Cipher, ReplayError> {
    let path = file.path.clone();
    let name = &encryption.cipher_provider;
    if !is_known_cipher(name) {
        return Err(ReplayError::UnknownCipher { file: path, cipher: name.clone() });
    }
    let alias = encryption.key_alias.clone();
    let key = (options.key)(&alias).ok_or(ReplayError::MissingKey { file: path.clone(), alias })?;
    Cipher::of(encryption, file.number, &key).map_err(|error| match error {
        CipherError::Length(source) => ReplayError::BadKey { file: path, source },
        CipherError::Unknown(cipher) => ReplayError::UnknownCipher { file: path, cipher },
        CipherError::WrongKey(_) => ReplayError::WrongKey { file: path },
    })
}

/// Whether the first record of a file is in the directory that its transaction id names.
fn belongs(disk: &dyn Disk, found: &Found, n_dirs: usize) -> Result<bool, ReplayError> {
    let mut scanner = found.scan(disk, 0)?;
    while let Some(item) = scanner.next_item()? {
        if let data_file::Item::Record { record, .. } = item {
            return Ok(record.stamp.transaction % n_dirs as u64 == found.file.dir as u64);
        }
    }
    Ok(false)
}
