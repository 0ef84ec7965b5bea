//! What a log is told when it starts.

use crate::{
    committer::{Blocks, Counters},
    data_file::{Cipher, Encryption, is_authenticated},
    place::Run,
};
use std::{collections::BTreeMap, fmt, io, path::PathBuf, sync::Arc};

/// The settings of a log.
#[derive(Debug, Clone)]
pub struct LogSettings {
    /// Where our checkpoints are.
    pub checkpoint_dir: PathBuf,
    /// Where the data files are; at least one.
    pub data_dirs: Vec<PathBuf>,
    /// Bytes of a data file; at most 2 GiB, which is what Java can address.
    pub max_file_bytes: u64,
    /// Bytes that must stay free below each data directory.
    pub minimum_free_bytes: u64,
    /// Bytes that copies of events may take in memory.
    pub memory_bytes: u64,
    /// Writes with their syncs that are in flight in each data directory.
    pub writes_in_flight: usize,
    /// How large runs are placed. Encrypted files have it as if there were none.
    pub blocks: Option<Blocks>,
    /// For the names of threads.
    pub name: String,
    /// Keys, where files are encrypted.
    pub encryption: Option<Keys>,
    /// Data files of version 2, which have no meta.
    pub version_2: Vec<u32>,
}

/// The keys of encrypted files.
#[derive(Clone)]
pub struct Keys {
    /// The cipher's name, as it is written into metas.
    pub cipher_provider: String,
    /// Name of the key for new files.
    pub active_key: String,
    /// A key by its name, as it is stored in a meta.
    pub key: Arc<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>,
    /// Fills a buffer with random bytes.
    pub random: Arc<dyn Fn(&mut [u8]) -> io::Result<()> + Send + Sync>,
}

impl LogSettings {
    /// Bytes that a record of ours is longer on disk than in clear.
    pub(super) fn overhead(&self) -> u32 {
        let seals = |keys: &Keys| is_authenticated(&keys.cipher_provider);
        if self.encryption.as_ref().is_some_and(seals) { TAG_LEN } else { 0 }
    }
}

/// Bytes of the tag behind a sealed record.
const TAG_LEN: u32 = 16;

impl Keys {
    /// The cipher of a file.
    ///
    /// # Errors
    /// There is no such key, or it is none for AES.
    pub fn cipher(&self, encryption: &Encryption, file: u32) -> io::Result<Cipher> {
        let key = self.key(&encryption.key_alias)?;
        Cipher::of(encryption, file, &key).map_err(io::Error::other)
    }

    /// Encryption for a new file, with the active key.
    ///
    /// # Errors
    /// There is no such key, or it is none for AES, or there is no randomness.
    pub fn encryption_for_new(&self, file: u32) -> io::Result<(Encryption, Cipher)> {
        let key = self.key(&self.active_key)?;
        Cipher::for_new(&self.cipher_provider, &self.active_key, file, &key, &*self.random)
    }

    fn key(&self, alias: &str) -> io::Result<Vec<u8>> {
        (self.key)(alias).ok_or_else(|| io::Error::other(format!("no key `{alias}` in the key store")))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("active_key", &self.active_key).finish_non_exhaustive()
    }
}

/// Where recovery has ended.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The highest transaction id.
    pub transaction: u64,
    /// The highest write-order id.
    pub order: u64,
    /// The highest file number.
    pub file: u32,
    /// The events that wait, in the order of delivery.
    pub runs: Vec<Run>,
    /// The data files that are there, each with the position of its directory.
    pub files: Vec<(u32, usize)>,
    /// For a file whose takes name a younger file, the youngest of these.
    pub takes_of: BTreeMap<u32, u32>,
    /// Data files of version 2.
    pub version_2: Vec<u32>,
    /// Data files that events waited in, and that are not there: when they come back, they are read.
    pub missing: Vec<u32>,
    /// Data files with events that could not be read: they are put aside, and not removed.
    pub damaged: Vec<u32>,
    /// The sequence number of the youngest checkpoint of ours.
    pub checkpoint: u64,
    /// Now, in the caller's time.
    pub since: u64,
}

impl Start {
    pub(super) fn counters(&self) -> Counters {
        Counters { transaction: self.transaction, order: self.order, file: self.file }
    }
}

/// Who wants to know what. All are called from the log's threads, without a lock.
pub struct Hooks {
    /// Events have come into memory, and can be taken.
    pub readable: Box<dyn Fn() + Send + Sync>,
    /// The log has failed, and refuses everything from now on. Called once.
    pub failed: Box<dyn Fn() + Send + Sync>,
    /// So many events could not be read any more, and are lost.
    pub lost: Box<dyn Fn(u32) + Send + Sync>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hooks")
    }
}
