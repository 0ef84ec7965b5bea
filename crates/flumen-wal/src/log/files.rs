//! How data files come, how they are encrypted and read, and how they go.

use super::Shared;
use crate::{
    committer::NewFile,
    data_file::{Cipher, Encryption, Meta, file_name, find_meta, meta_name},
    disk::{Disk, Mode, write_whole},
};
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How a data file is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    pub(super) cipher: Option<Arc<Cipher>>,
    pub(super) version_2: bool,
}

/// The path of a data file.
pub(super) fn path(dir: &Path, file: u32) -> PathBuf {
    dir.join(file_name(file))
}

/// Removes a data file and then its meta, and makes that durable. In this order, as Java ignores a meta without its file.
pub(super) fn remove(disk: &dyn Disk, dir: &Path, file: u32) -> io::Result<()> {
    for name in [file_name(file), meta_name(file)] {
        match disk.remove(&dir.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    disk.sync_dir(dir)
}

/// Gives a data file and its meta other names, instead of removing them: not all of it could be read, and somebody may be able to
/// bring it back.
pub(super) fn put_aside(disk: &dyn Disk, dir: &Path, file: u32) -> io::Result<()> {
    for name in [file_name(file), meta_name(file)] {
        match disk.rename(&dir.join(&name), &dir.join(format!("damaged-{name}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    disk.sync_dir(dir)
}

impl Shared {
    /// Makes an empty data file and then its meta, and then their names durable, before anything is written to it. In this
    /// order, as Java ignores an empty file without a meta, and stops at one with records. The meta of an encrypted file
    /// holds what it is decrypted with.
    pub(super) fn create(&self, new: NewFile) -> io::Result<()> {
        let dir = &self.settings.data_dirs[new.dir];
        self.disk.open(&path(dir, new.file), Mode::Create)?.sync()?;
        let encryption = self.new_encryption(new.file)?.map(|(encryption, _)| encryption);
        let meta = dir.join(meta_name(new.file));
        write_whole(
            &*self.disk,
            &meta,
            &meta.with_extension("meta.tmp"),
            &Meta::new(new.file, encryption).encode(),
        )?;
        self.disk.sync_dir(dir)
    }

    /// How a file of ours is encrypted: decided when it is first asked for.
    fn new_encryption(&self, file: u32) -> io::Result<Option<(Encryption, Arc<Cipher>)>> {
        let Some(keys) = &self.settings.encryption else { return Ok(None) };
        // Older files are whole and durable: nobody asks for them again.
        let needed = self.state().line.oldest_open_file();
        let mut made = self.ciphers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((number, encryption, cipher)) = made.iter().find(|(number, ..)| *number == file) {
            debug_assert_eq!(*number, file);
            return Ok(Some((encryption.clone(), cipher.clone())));
        }
        let (encryption, cipher) = keys.encryption_for_new(file)?;
        let cipher = Arc::new(cipher);
        made.retain(|(number, ..)| *number >= needed);
        made.push((file, encryption.clone(), cipher.clone()));
        Ok(Some((encryption, cipher)))
    }

    /// The cipher of a file of ours that may not have been made yet.
    pub(super) fn cipher_of_new(&self, file: u32) -> io::Result<Option<Arc<Cipher>>> {
        Ok(self.new_encryption(file)?.map(|(_, cipher)| cipher))
    }

    /// How a file that is there is read, by its meta.
    pub(super) fn reading_of(&self, dir: usize, file: u32) -> io::Result<Reading> {
        let found = find_meta(&*self.disk, &self.settings.data_dirs[dir], file)?;
        let Some(meta) = found.meta() else {
            return Ok(Reading { version_2: self.settings.version_2.contains(&file), ..Reading::default() });
        };
        let cipher = match (&meta.encryption, &self.settings.encryption) {
            (None, _) => None,
            (Some(encryption), Some(keys)) => Some(Arc::new(keys.cipher(encryption, file)?)),
            (Some(_), None) => {
                return Err(io::Error::other(format!("log-{file} is encrypted, and no keys are configured")));
            }
        };
        Ok(Reading { cipher, version_2: false })
    }
}
