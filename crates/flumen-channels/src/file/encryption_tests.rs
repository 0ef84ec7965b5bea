//! Encrypted channels, with key stores that a JDK has written.

use super::*;
use flumen_core::{
    config::{Settings as Properties, read},
    event::{Batch, Headers},
    registry::{Environment, ExtraMetrics, Registry},
    world::SetClock,
};
use std::{collections::BTreeSet, fs, path::Path};

/// `key-0` has a password of its own, `key-1` and `key-2` that of the store.
const STORE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/keystores/stores/flume-encryption.jceks");

/// Directories, passwords, and the settings of an encrypted channel in them.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("store"), "changeit\n").unwrap();
        fs::write(place.path("own"), " keypass-0 ").unwrap();
        fs::write(place.path("wrong"), "wrong").unwrap();
        place
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// The settings, with these in place of or beside the usual ones; an empty value takes one out.
    fn settings(&self, changes: &[(&str, &str)]) -> Properties {
        let (checkpoint, data, store, own) =
            (self.path("checkpoint"), self.path("data"), self.path("store"), self.path("own"));
        let usual = [
            ("checkpointDir", checkpoint.as_str()),
            ("dataDirs", &data),
            ("minimumRequiredSpace", "1"),
            ("capacity", "10000"),
            ("encryption.activeKey", "key-1"),
            ("encryption.cipherProvider", "AESCTRNOPADDING"),
            ("encryption.keyProvider", "JCEKSFILE"),
            ("encryption.keyProvider.keyStoreFile", STORE),
            ("encryption.keyProvider.keyStorePasswordFile", &store),
            ("encryption.keyProvider.keys", "key-0 key-1"),
            ("encryption.keyProvider.keys.key-0.passwordFile", &own),
        ];
        let mut settings = Properties::from_pairs("a.channels.c", &usual);
        for (key, value) in changes {
            settings.remove(key);
            if !value.is_empty() {
                settings.set(*key, *value, None);
            }
        }
        settings
    }

    /// The channel; or why its settings cannot be used.
    fn channel(&self, changes: &[(&str, &str)]) -> Result<FileChannel, String> {
        let (config, problems) = read::<FileConfig>(&self.settings(changes), &[]);
        let config = config.ok_or_else(|| format!("{problems:?}"))?;
        let context = ChannelContext {
            common: BuildContext {
                agent: "a".into(),
                name: "c".into(),
                clock: Arc::new(SetClock::default()),
                seed: 1,
                environment: Arc::new(Environment::default()),
                registry: Arc::new(Registry::new()),
                extra: ExtraMetrics::default(),
            },
            metrics: Arc::default(),
        };
        FileChannel::new(Arc::new(OsDisk), &config, &context).map_err(|error| {
            let mut said = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                said += &format!(": {error}");
                cause = error.source();
            }
            said
        })
    }

    fn opened(&self, changes: &[(&str, &str)]) -> FileChannel {
        let channel = self.channel(changes).unwrap();
        wait(channel.open()).unwrap();
        channel
    }

    fn refused(&self, changes: &[(&str, &str)]) -> String {
        wait(self.channel(changes).unwrap().open()).unwrap_err().to_string()
    }
}

const PLAIN: [(&str, &str); 7] = [
    ("encryption.activeKey", ""),
    ("encryption.cipherProvider", ""),
    ("encryption.keyProvider", ""),
    ("encryption.keyProvider.keyStoreFile", ""),
    ("encryption.keyProvider.keyStorePasswordFile", ""),
    ("encryption.keyProvider.keys", ""),
    ("encryption.keyProvider.keys.key-0.passwordFile", ""),
];

fn wait(mut commit: Commit) -> Result<(), ChannelError> {
    let start = Instant::now();
    loop {
        if let Some(answer) = commit.try_answer() {
            return answer;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "an answer within a minute");
        std::thread::yield_now();
    }
}

fn ended(channel: &FileChannel) {
    channel.close();
    wait(channel.end()).unwrap();
}

fn put(channel: &FileChannel, from: u32, n: u32) {
    let mut batch = Batch::new();
    for i in from..from + n {
        batch.push(
            [("secret header", "secret value")].into_iter().collect::<Headers>(),
            format!("secret {i}"),
        );
    }
    loop {
        match channel.try_put(batch.size()).unwrap() {
            Some(room) => return wait(room.commit(batch)).unwrap(),
            None => std::thread::yield_now(),
        }
    }
}

/// The numbers of so many events, or of all that wait.
fn take(channel: &FileChannel, most: usize) -> Vec<u32> {
    let mut all = Vec::new();
    while all.len() < most && channel.depth().queued > 0 {
        let Some(taken) = channel.try_take(10.min((most - all.len()) as u32)).unwrap() else {
            std::thread::yield_now();
            continue;
        };
        all.extend(taken.batch().iter().map(|event| {
            let text = std::str::from_utf8(event.body).unwrap();
            text.strip_prefix("secret ").unwrap().parse::<u32>().unwrap()
        }));
        wait(taken.commit()).unwrap();
    }
    all
}

fn numbers(from: u32, to: u32) -> Vec<u32> {
    (from..to).collect()
}

/// Whether any data file has these bytes in clear.
fn is_in_clear(place: &Place, text: &str) -> bool {
    fs::read_dir(place.path("data")).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[test]
fn fch_83_an_encrypted_channel_is_filled_restarted_and_drained() {
    for cipher in ["AESCTRNOPADDING", "AESGCM"] {
        for active in ["key-0", "key-1"] {
            let place = Place::new();
            let changes = [("encryption.cipherProvider", cipher), ("encryption.activeKey", active)];
            let first = place.opened(&changes);
            put(&first, 0, 300);
            assert_eq!(take(&first, 50), numbers(0, 50));
            ended(&first);
            assert!(!is_in_clear(&place, "secret"), "{cipher}");
            let second = place.opened(&changes);
            assert_eq!(take(&second, usize::MAX), numbers(50, 300), "{cipher} {active}");
            ended(&second);
        }
    }
}

#[test]
fn fch_85_plain_and_encrypted_files_are_read_side_by_side_and_keys_and_ciphers_can_change() {
    let place = Place::new();
    let mut next = 0;
    let steps: [&[(&str, &str)]; 5] = [
        &PLAIN,
        &[],
        &[("encryption.cipherProvider", "AESGCM")],
        &[("encryption.cipherProvider", "AESGCM"), ("encryption.activeKey", "key-0")],
        &[("encryption.activeKey", "key-0")],
    ];
    for changes in steps {
        let channel = place.opened(changes);
        put(&channel, next, 20);
        next += 20;
        ended(&channel);
    }
    let channel = place.opened(&[]);
    assert_eq!(take(&channel, 30), numbers(0, 30), "half of the plain ones are gone");
    ended(&channel);
    let channel = place.opened(&[("encryption.cipherProvider", "AESGCM")]);
    assert_eq!(take(&channel, usize::MAX), numbers(30, next));
    ended(&channel);
}

#[test]
fn fch_84_encrypted_files_without_settings_of_encryption_are_not_opened() {
    let place = Place::new();
    let channel = place.opened(&[]);
    put(&channel, 0, 3);
    ended(&channel);
    let refused = place.refused(&PLAIN);
    assert!(refused.contains("log-1 is encrypted with the key `key-1`"), "{refused}");
    // An alias of the store that is not listed is tried with the password of the store, as in Java.
    let unlisted = [("encryption.keyProvider.keys", "key-0"), ("encryption.activeKey", "key-0")];
    let channel = place.opened(&unlisted);
    assert_eq!(take(&channel, usize::MAX), numbers(0, 3));
    ended(&channel);
}

#[test]
fn fch_86_what_is_wrong_with_a_key_provider_is_told_when_it_is_configured() {
    let place = Place::new();
    let gone = place.path("gone");
    let wrong = place.path("wrong");
    for (key, value, says) in [
        ("encryption.keyProvider", "keys from nowhere", "this provider is not known"),
        ("encryption.keyProvider", "java.lang.String", "this provider is not known"),
        ("encryption.keyProvider.keyStoreFile", gone.as_str(), "key store"),
        ("encryption.keyProvider.keyStorePasswordFile", &gone, "password file"),
        ("encryption.keyProvider.keyStorePasswordFile", &wrong, "key store"),
        ("encryption.keyProvider.keys", "key-0 key-9", "key `key-9`"),
    ] {
        let said = place.channel(&[(key, value)]).err().unwrap_or_else(|| panic!("{key} = {value}"));
        assert!(said.contains(says), "{key} = {value}: {said}");
        assert!(!said.contains("changeit") && !said.contains("keypass"), "{said}");
    }
}

#[test]
fn fch_87_an_unknown_cipher_or_active_key_is_told_at_the_start() {
    let place = Place::new();
    let cipher = place.refused(&[("encryption.cipherProvider", "AESXYZ")]);
    assert!(cipher.contains("the cipher provider `AESXYZ` is not known: use AESGCM"), "{cipher}");
    let key = place.refused(&[("encryption.activeKey", "key-9")]);
    assert!(key.contains("the active key `key-9` is not in the key store"), "{key}");
}

#[test]
fn fch_88_each_key_is_loaded_with_its_own_password_or_with_that_of_the_store() {
    let place = Place::new();
    let (config, _) =
        read::<FileConfig>(&place.settings(&[("encryption.keyProvider.keys", "key-0 key-1 key-2")]), &[]);
    let settings = config.unwrap().log_settings("c", &Environment::default()).unwrap();
    let keys = settings.encryption.unwrap();
    let all: BTreeSet<Vec<u8>> =
        ["key-0", "KEY-1", "key-2"].iter().filter_map(|name| (keys.key)(name)).collect();
    assert_eq!(all.len(), 3, "three keys, by their names in any case");
    assert!((keys.key)("key-9").is_none());
}

#[test]
fn fch_82_many_threads_put_and_take_encrypted_events() {
    for cipher in ["AESCTRNOPADDING", "AESGCM"] {
        let place = Place::new();
        let channel = place.opened(&[("encryption.cipherProvider", cipher), ("maxFileSize", "20000")]);
        std::thread::scope(|scope| {
            for thread in 0..20 {
                let channel = &channel;
                scope.spawn(move || (0..5).for_each(|i| put(channel, thread * 50 + i * 10, 10)));
            }
        });
        assert_eq!(channel.depth().queued, 1_000);
        let mut taken: Vec<u32> = std::thread::scope(|scope| {
            let takers: Vec<_> = (0..20).map(|_| scope.spawn(|| take(&channel, usize::MAX))).collect();
            takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect()
        });
        taken.sort_unstable();
        assert_eq!(taken, numbers(0, 1_000), "{cipher}");
        ended(&channel);
    }
}

#[test]
fn advice_names_the_authenticated_cipher_and_goes_away_with_it() {
    let place = Place::new();
    let advice = |changes: &[(&str, &str)]| {
        let (config, _) = read::<FileConfig>(&place.settings(changes), &[]);
        let told = FileChannel::facts(&config.unwrap()).advice;
        told.iter().any(|(key, what)| key == "encryption.cipherProvider" && what.contains("AESGCM"))
    };
    assert!(advice(&[]));
    assert!(!advice(&[("encryption.cipherProvider", "aesgcm")]));
    assert!(Path::new(STORE).exists());
}
