//! The settings of the file channel, with Java Flume's defaults and its leniency.

use super::keys;
use flumen_core::{
    channel::ChannelLimits,
    config::{Commas, Configuration, Property, View},
    registry::{BuildError, Environment, Facts},
};
use flumen_wal::{
    data_file::is_authenticated,
    log::{Blocks, LogSettings},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

/// The largest data file: Java's positive 32-bit numbers less 500 MiB.
const MAX_FILE_BYTES: i64 = 1_623_195_647;
/// Java never goes below this.
const LEAST_FREE_BYTES: i64 = 1 << 20;
/// Writes with their syncs that are under way at once in each data directory.
const WRITES_IN_FLIGHT: usize = 4;
/// Larger runs are written past the system's cache: copying into it costs five times as much as the disk's own work. Of the
/// smallest one a sixteenth is lost to what fills its blocks.
const BLOCKS: Blocks = Blocks { size: 4096, from: 32 << 10 };
/// Java's checkpoint cannot hold more events.
const MAX_CAPACITY: i32 = 268_434_426;

/// What the file channel is told. `transactionCapacity` is never above `capacity`.
#[derive(Debug, Clone)]
pub struct FileConfig(Keys);

#[derive(Debug, Clone, Configuration)]
struct Keys {
    /// Directory of the checkpoint and of the channel's lock. By default `.flume/file-channel/checkpoint` in the home
    /// directory, where only one channel can be.
    checkpoint_dir: Option<PathBuf>,
    /// Directories of the data files, separated by commas. On disks of their own they share the load. By default
    /// `.flume/file-channel/data` in the home directory.
    data_dirs: Option<Commas>,
    /// Events that fit, those under way to and from the channel included.
    #[property(default = "1000000", on_bad = default)]
    capacity: i32,
    /// Events that a source may put or a sink may take at once; at most `capacity`.
    #[property(default = "10000", on_bad = default)]
    transaction_capacity: i32,
    /// Seconds that a put waits for room.
    #[property(key = "keep-alive", default = "3", on_bad = default)]
    keep_alive: i32,
    /// Milliseconds between checkpoints, at least 1000. A checkpoint makes the next start quick, and nothing else.
    #[property(default = "30000", on_bad = default)]
    checkpoint_interval: i64,
    /// Bytes of a data file; at most 1623195647.
    #[property(default = "1623195647", on_bad = default)]
    max_file_size: i64,
    /// Bytes that must stay free below the data directories: with less, puts are refused, and takes go on. At least 1048576.
    #[property(default = "524288000", on_bad = default)]
    minimum_required_space: i64,
    /// Whether a checkpoint is written when the channel stops.
    #[property(default = "true", on_bad = default)]
    checkpoint_on_close: bool,
    /// Accepted: Flumen always keeps two checkpoints, one of which is whole at any time.
    #[property(default = "false", on_bad = default)]
    use_dual_checkpoints: bool,
    /// Directory of Java Flume's second checkpoint. It is read when a Java directory is taken over, and not written.
    backup_checkpoint_dir: Option<PathBuf>,
    /// Accepted: there is no second checkpoint of Java's form to compress.
    #[property(default = "false", on_bad = default)]
    compress_backup_checkpoint: bool,
    /// Accepted: there is one way of reading the data files, in the order of their writing.
    #[property(key = "use-log-replay-v1", default = "false", on_bad = default)]
    use_log_replay_v1: bool,
    /// Accepted: reading the data files is fast always.
    #[property(key = "use-fast-replay", default = "false", on_bad = default)]
    use_fast_replay: bool,
    /// Accepted: every commit is synced, many with one sync. (Java syncs every commit with either setting, too.)
    #[property(default = "true", on_bad = default)]
    fsync_per_transaction: bool,
    /// Accepted: nothing waits for a timer to be synced.
    #[property(default = "5", on_bad = default)]
    fsync_interval: i32,
    /// Accepted: Flume 1.2 to 1.4 limited the wait for a lock by it, which is not there.
    #[property(key = "write-timeout", default = "3", on_bad = default)]
    write_timeout: i32,
    /// Accepted: Flume 1.2 to 1.4 limited the wait for a lock by it, which is not there.
    #[property(key = "checkpoint-timeout", default = "600", on_bad = default)]
    checkpoint_timeout: i32,
    /// Bytes of memory for copies of the events that are next to be taken. What is beyond waits on disk only.
    #[property(default = "67108864", on_bad = default)]
    memory_bytes: i64,
    /// Whether directories that Java Flume has left behind without a clean stop are taken over although it cannot be seen
    /// whether a Java process still uses them. (Where it can be seen, it is seen, and this is not needed.)
    #[property(default = "false", on_bad = default)]
    adopt: bool,
    /// Alias of the key that new data files are encrypted with. Required with `encryption.keyProvider`, and only with it.
    #[property(key = "encryption.activeKey")]
    active_key: Option<String>,
    /// How new data files are encrypted: `AESCTRNOPADDING`, which Java Flume can read, or `AESGCM`, which it cannot read and
    /// which notices every change. Each file says how it is encrypted. Required with `encryption.keyProvider`, and only with it.
    #[property(key = "encryption.cipherProvider")]
    cipher_provider: Option<String>,
    /// `JCEKSFILE`: keys come from a key store. Switches encryption on.
    #[property(key = "encryption.keyProvider")]
    key_provider: Option<String>,
    /// The key store. Required with `JCEKSFILE`.
    #[property(key = "encryption.keyProvider.keyStoreFile")]
    key_store_file: Option<PathBuf>,
    /// File with the password of the key store. Required with `JCEKSFILE`.
    #[property(key = "encryption.keyProvider.keyStorePasswordFile")]
    key_store_password_file: Option<PathBuf>,
    /// Aliases of keys, separated by blanks. Required with `JCEKSFILE`.
    #[property(key = "encryption.keyProvider.keys")]
    keys: Option<String>,
    /// `<alias>.passwordFile`: file with the password of one key, where it is not that of the key store.
    #[property(prefix = "encryption.keyProvider.keys.")]
    key_passwords: BTreeMap<String, PathBuf>,
}

/// Where the keys of encrypted data files come from.
#[derive(Debug, Clone)]
pub(super) struct Encryption {
    pub(super) active_key: String,
    pub(super) cipher: String,
    pub(super) key_store: PathBuf,
    pub(super) password_file: PathBuf,
    pub(super) aliases: Vec<String>,
    /// Password files by alias.
    pub(super) passwords: BTreeMap<String, PathBuf>,
}

impl Configuration for FileConfig {
    const PROPERTIES: &'static [Property] = Keys::PROPERTIES;

    fn read(view: &mut View<'_>) -> Option<Self> {
        let mut keys = Keys::read(view)?;
        positive(view, "capacity", &mut keys.capacity, 1_000_000);
        positive(view, "transactionCapacity", &mut keys.transaction_capacity, 10_000);
        positive(view, "checkpointInterval", &mut keys.checkpoint_interval, 30_000);
        positive(view, "memoryBytes", &mut keys.memory_bytes, 64 << 20);
        if keys.max_file_size <= 0 {
            positive(view, "maxFileSize", &mut keys.max_file_size, MAX_FILE_BYTES);
        }
        let mut good = true;
        if keys.capacity > MAX_CAPACITY {
            let what = format!(
                "{} events are more than Java's checkpoint holds ({MAX_CAPACITY}): lower it",
                keys.capacity
            );
            view.error("capacity", what);
            good = false;
        }
        if keys.transaction_capacity > keys.capacity {
            let (most, capacity) = (keys.transaction_capacity, keys.capacity);
            let what = format!(
                "{most} events a transaction are more than `capacity` ({capacity}); lower it, or raise `capacity`"
            );
            view.error("transactionCapacity", what);
            good = false;
        }
        if keys.use_dual_checkpoints {
            match &keys.backup_checkpoint_dir {
                None => {
                    view.error(
                        "backupCheckpointDir",
                        "`useDualCheckpoints` needs it: set it, or leave both out",
                    );
                    good = false;
                }
                Some(dir) if Some(dir) == keys.checkpoint_dir.as_ref() => {
                    view.error("backupCheckpointDir", "it must differ from `checkpointDir`");
                    good = false;
                }
                Some(_) => {}
            }
        }
        good &= check_encryption(view, &keys);
        good.then_some(Self(keys))
    }
}

fn positive<T: PartialOrd + From<u8> + std::fmt::Display>(
    view: &mut View<'_>,
    key: &str,
    value: &mut T,
    default: T,
) {
    if *value <= T::from(0) {
        view.warn(key, format!("{value} is not above 0: {default} is used"));
        *value = default;
    }
}

fn check_encryption(view: &mut View<'_>, keys: &Keys) -> bool {
    let mut good = true;
    let mut missing = |key: &str, there: bool, why: &str| {
        if !there {
            view.error(key, why);
            good = false;
        }
    };
    let Some(provider) = &keys.key_provider else {
        let alone =
            "it needs `encryption.keyProvider`: set that, or leave this out, else events are stored in clear";
        missing("encryption.activeKey", keys.active_key.is_none(), alone);
        missing("encryption.cipherProvider", keys.cipher_provider.is_none(), alone);
        return good;
    };
    let known =
        provider.eq_ignore_ascii_case("JCEKSFILE") || provider.ends_with("JCEFileKeyProvider$Builder");
    missing("encryption.keyProvider", known, "this provider is not known: use `JCEKSFILE`");
    let why = "encryption needs it";
    missing("encryption.activeKey", keys.active_key.is_some(), why);
    missing("encryption.cipherProvider", keys.cipher_provider.is_some(), why);
    missing("encryption.keyProvider.keyStoreFile", keys.key_store_file.is_some(), why);
    missing("encryption.keyProvider.keyStorePasswordFile", keys.key_store_password_file.is_some(), why);
    missing("encryption.keyProvider.keys", keys.keys.is_some(), why);
    good
}

impl FileConfig {
    /// The limits that the settings mean.
    pub fn limits(&self) -> ChannelLimits {
        let keys = &self.0;
        ChannelLimits {
            capacity: u64::from(keys.capacity.unsigned_abs()),
            transaction_capacity: keys.transaction_capacity.unsigned_abs(),
            byte_slots: None,
            keep_alive: Duration::from_secs(u64::try_from(keys.keep_alive).unwrap_or(0)),
        }
    }

    fn checkpoint_dir(&self, environment: &Environment) -> PathBuf {
        self.0.checkpoint_dir.clone().unwrap_or_else(|| home(environment).join("checkpoint"))
    }

    fn data_dirs(&self, environment: &Environment) -> Vec<PathBuf> {
        self.data_dirs_below(&home(environment))
    }

    fn data_dirs_below(&self, home: &Path) -> Vec<PathBuf> {
        let given = self
            .0
            .data_dirs
            .iter()
            .flat_map(|dirs| &dirs.0)
            .map(|dir| dir.trim())
            .filter(|dir| !dir.is_empty());
        let given: Vec<PathBuf> = given.map(PathBuf::from).collect();
        if given.is_empty() { vec![home.join("data")] } else { given }
    }

    /// The settings of the log, for a channel of this name. The key store is read, if one is named.
    ///
    /// # Errors
    /// The key store or one of its keys cannot be read.
    pub fn log_settings(&self, name: &str, environment: &Environment) -> Result<LogSettings, BuildError> {
        Ok(LogSettings {
            checkpoint_dir: self.checkpoint_dir(environment),
            data_dirs: self.data_dirs(environment),
            max_file_bytes: self.max_file_bytes(),
            minimum_free_bytes: self.minimum_free_bytes(),
            memory_bytes: self.memory_bytes(),
            writes_in_flight: WRITES_IN_FLIGHT,
            blocks: Some(BLOCKS),
            name: name.to_owned(),
            encryption: self.encryption().map(keys::read).transpose()?,
            version_2: Vec::new(),
        })
    }

    /// Java's second checkpoint, which is read when a directory of Java's is taken over.
    pub fn backup_dir(&self) -> Option<PathBuf> {
        self.0.backup_checkpoint_dir.clone()
    }

    /// Whether directories of Java's are taken over although it cannot be seen who uses them.
    pub fn adopt(&self) -> bool {
        self.0.adopt
    }

    fn max_file_bytes(&self) -> u64 {
        self.0.max_file_size.min(MAX_FILE_BYTES).unsigned_abs()
    }

    fn minimum_free_bytes(&self) -> u64 {
        self.0.minimum_required_space.max(LEAST_FREE_BYTES).unsigned_abs()
    }

    fn memory_bytes(&self) -> u64 {
        self.0.memory_bytes.unsigned_abs()
    }

    pub(super) fn checkpoint_interval(&self) -> Duration {
        Duration::from_millis(self.0.checkpoint_interval.max(1_000).unsigned_abs())
    }

    pub(super) fn checkpoint_on_close(&self) -> bool {
        self.0.checkpoint_on_close
    }

    fn encryption(&self) -> Option<Encryption> {
        let keys = &self.0;
        keys.key_provider.as_ref()?;
        let passwords = keys
            .key_passwords
            .iter()
            .filter_map(|(key, path)| Some((key.strip_suffix(".passwordFile")?.to_owned(), path.clone())));
        Some(Encryption {
            active_key: keys.active_key.clone()?,
            cipher: keys.cipher_provider.clone()?,
            key_store: keys.key_store_file.clone()?,
            password_file: keys.key_store_password_file.clone()?,
            aliases: keys.keys.as_ref()?.split_whitespace().map(str::to_owned).collect(),
            passwords: passwords.collect(),
        })
    }

    /// What these settings need, and what is worth knowing about them.
    pub(super) fn facts(&self) -> Facts {
        let keys = &self.0;
        // Where the home folder is, the environment of the run says: two channels share it wherever it is.
        let home = Path::new(HOME);
        let checkpoint_dir = keys.checkpoint_dir.clone().unwrap_or_else(|| home.join("checkpoint"));
        let mut own_directories = vec![checkpoint_dir];
        own_directories.extend(self.data_dirs_below(home));
        let mut advice = Vec::new();
        let mut tell = |told: bool, key: &str, what: &str| {
            if told {
                advice.push((key.to_owned(), what.to_owned()));
            }
        };
        tell(
            keys.use_dual_checkpoints,
            "useDualCheckpoints",
            "Flumen always keeps two checkpoints; this changes nothing",
        );
        let nothing = "it has no effect here";
        tell(keys.compress_backup_checkpoint, "compressBackupCheckpoint", nothing);
        tell(keys.fsync_interval != 5, "fsyncInterval", nothing);
        tell(keys.write_timeout != 3, "write-timeout", nothing);
        tell(keys.checkpoint_timeout != 600, "checkpoint-timeout", nothing);
        tell(
            keys.use_log_replay_v1,
            "use-log-replay-v1",
            "Flumen reads data files in the order of writing; this changes nothing",
        );
        tell(
            keys.use_fast_replay,
            "use-fast-replay",
            "Flumen's reading is fast always; this changes nothing",
        );
        tell(
            !keys.fsync_per_transaction,
            "fsyncPerTransaction",
            "every commit is synced nevertheless, many with one sync: false saves nothing, in Java Flume either",
        );
        tell(
            keys.cipher_provider.as_ref().is_some_and(|name| !is_authenticated(name))
                && keys.key_provider.is_some(),
            "encryption.cipherProvider",
            "Java Flume's AES/CTR reuses its key stream for every record of a file: who has two records of one file learns \
             about both, and a change goes unnoticed. `AESGCM` has neither fault, and Java cannot read it",
        );
        Facts { own_directories, advice, ..Facts::default() }
    }
}

/// Where a channel's directories are that are not given: `~` is the home folder.
const HOME: &str = "~/.flume/file-channel";

fn home(environment: &Environment) -> PathBuf {
    PathBuf::from(HOME.replacen('~', environment.home(), 1))
}
