//! Java Flume's own file channel and ours on the same directories, in turn: each delivers exactly what the other has left, in its
//! order; plain, encrypted, with several data directories, with dual checkpoints, after a clean stop and after a halt.

use base64ct::{Base64, Encoding};
use flumen_channels::file::{FileChannel, FileConfig};
use flumen_core::{
    channel::{Channel, ChannelError, Commit},
    config::{Settings, read},
    event::{Batch, Headers},
    registry::{BuildContext, ChannelContext, ChannelType, Environment, ExtraMetrics, Registry},
    world::SetClock,
};
use interop::missing;
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};

/// Generous: disks are slow where others work, too.
const LIMIT: Duration = Duration::from_secs(120);

/// Headers and body.
type Event = (BTreeMap<String, String>, Vec<u8>);

/// One form of the directories: what Java's tool is told, and the same in our settings.
#[derive(Clone, Copy)]
struct Form {
    name: &'static str,
    flags: &'static [&'static str],
    n_dirs: usize,
    encrypted: bool,
    dual: bool,
}

const FORMS: [Form; 4] = [
    Form { name: "plain", flags: &["--max-file-size", "20000"], n_dirs: 1, encrypted: false, dual: false },
    Form { name: "encrypted", flags: &["--encrypt"], n_dirs: 1, encrypted: true, dual: false },
    Form {
        name: "three directories",
        flags: &["--data-dirs", "3"],
        n_dirs: 3,
        encrypted: false,
        dual: false,
    },
    Form {
        name: "dual checkpoints, encrypted, two directories",
        flags: &["--dual-checkpoint", "--encrypt", "--data-dirs", "2"],
        n_dirs: 2,
        encrypted: true,
        dual: true,
    },
];

impl Form {
    fn pairs(&self, dir: &Path, cipher: &str) -> Vec<(String, String)> {
        let path = |name: &str| dir.join(name).display().to_string();
        let data: Vec<String> = match self.n_dirs {
            1 => vec![path("data")],
            n => (1..=n).map(|i| path(&format!("data{i}"))).collect(),
        };
        let mut pairs = vec![
            ("checkpointDir", path("checkpoint")),
            ("dataDirs", data.join(",")),
            ("capacity", "10000".to_owned()),
            ("transactionCapacity", "1000".to_owned()),
            ("minimumRequiredSpace", "1048576".to_owned()),
        ];
        if self.flags.contains(&"--max-file-size") {
            pairs.push(("maxFileSize", "20000".to_owned()));
        }
        if self.dual {
            pairs
                .extend([("useDualCheckpoints", "true".to_owned()), ("backupCheckpointDir", path("backup"))]);
        }
        if self.encrypted {
            pairs.extend([
                ("encryption.activeKey", "key-0".to_owned()),
                ("encryption.cipherProvider", cipher.to_owned()),
                ("encryption.keyProvider", "JCEKSFILE".to_owned()),
                ("encryption.keyProvider.keyStoreFile", path("keys/keystore.jceks")),
                ("encryption.keyProvider.keyStorePasswordFile", path("keys/keystore.password")),
                ("encryption.keyProvider.keys", "key-0".to_owned()),
            ]);
        }
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn channel(&self, dir: &Path, cipher: &str) -> FileChannel {
        let pairs = self.pairs(dir, cipher);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
        let (config, problems) = read::<FileConfig>(&Settings::from_pairs("a.channels.c", &pairs), &[]);
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
        FileChannel::build(config.unwrap_or_else(|| panic!("{problems:?}")), &context).unwrap()
    }

    fn opened(&self, dir: &Path, cipher: &str) -> FileChannel {
        let channel = self.channel(dir, cipher);
        wait(channel.open()).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        channel
    }
}

fn command(words: &[&str], dir: &Path, more: &[&str], flags: &[&str]) -> Command {
    let mut command = Command::new("bash");
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/flume/run")).arg("FileChannelTool");
    command.args(words).arg(dir).args(more).args(flags).stdin(Stdio::null());
    command
}

/// Runs Java's channel over the directories, and gives the events that it prints.
fn java(words: &[&str], dir: &Path, more: &[&str], flags: &[&str]) -> (i32, Vec<Event>, String) {
    let Output { status, stdout, stderr } = command(words, dir, more, flags).output().unwrap();
    let events = String::from_utf8(stdout).unwrap().lines().map(event).collect();
    (status.code().unwrap_or(-1), events, String::from_utf8_lossy(&stderr).into_owned())
}

fn event(line: &str) -> Event {
    let event: serde_json::Value = serde_json::from_str(line).unwrap();
    let headers = serde_json::from_value(event["headers"].clone()).unwrap();
    (headers, Base64::decode_vec(event["body"].as_str().unwrap()).unwrap())
}

fn wait(commit: Commit) -> Result<(), ChannelError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, commit).await.expect("an answer in time") })
}

/// Takes so many events, or all that wait, and commits them.
fn take(channel: &FileChannel, most: usize) -> Vec<Event> {
    let mut all = Vec::new();
    while all.len() < most && channel.depth().queued > 0 {
        let want = u32::try_from((most - all.len()).min(7)).unwrap();
        let Some(taken) = channel.try_take(want).unwrap() else {
            std::thread::yield_now();
            continue;
        };
        for event in taken.batch().iter() {
            let headers = event.headers.iter();
            let headers = headers.map(|(name, value)| (name.to_string(), value.to_string())).collect();
            all.push((headers, event.body.to_vec()));
        }
        wait(taken.commit()).unwrap();
    }
    all
}

/// Puts events of ours, and gives them. So many as fill blocks of their own get them.
fn put(channel: &FileChannel, from: usize, n: usize) -> Vec<Event> {
    let (mut batch, mut all) = (Batch::new(), Vec::new());
    for i in from..from + n {
        let body = format!("ours {i} \u{e4}\u{20ac} {}", "x".repeat(2_000)).into_bytes();
        let pairs = [("from", "flumen".to_owned()), ("n", i.to_string())];
        let headers: Headers = pairs.iter().map(|(name, value)| (*name, value.as_str())).collect();
        batch.push(headers, body.clone());
        all.push((pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(), body));
    }
    wait(channel.try_put(batch.size()).unwrap().expect("room").commit(batch)).unwrap();
    all
}

fn ended(channel: &FileChannel) {
    channel.close();
    wait(channel.end()).unwrap();
}

/// Every file as it stands, holes and links too.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(copied.success());
}

/// Java writes; then Flumen, Java, Flumen and Java take their part in turn, and Flumen puts in between.
fn in_turn(form: Form, halt: bool) {
    let base = tempfile::tempdir().unwrap();
    let dir = base.path();
    let what = format!("{}, {}", form.name, if halt { "after a halt" } else { "after a clean stop" });
    let (code, mut due, said) = java(&[if halt { "crash" } else { "write" }], dir, &["300", "7"], form.flags);
    assert_eq!(code, if halt { 3 } else { 0 }, "{what}: {said}");
    assert!(due.len() > 100, "{what}");

    let first = form.opened(dir, "AESCTRNOPADDING");
    assert_eq!(first.depth().queued, due.len() as u64, "{what}");
    assert!(take(&first, 60) == due.drain(..60).collect::<Vec<_>>(), "{what}: what Flumen delivers");
    due.extend(put(&first, 0, 25));
    let crashed = tempfile::tempdir().unwrap();
    if halt {
        // As a crash leaves it: with a loan, without a checkpoint of the last state. A channel that is dropped would end in order.
        let loan = first.try_take(5).unwrap();
        copy(dir, crashed.path());
        drop(loan);
    }
    ended(&first);
    let dir = if halt { crashed.path() } else { dir };

    let (code, taken, said) = java(&["read"], dir, &["--limit", "50"], form.flags);
    assert_eq!(code, 0, "{what}: {said}");
    assert!(taken == due.drain(..50).collect::<Vec<_>>(), "{what}: what Java delivers then");

    let second = form.opened(dir, "AESCTRNOPADDING");
    assert!(take(&second, 20) == due.drain(..20).collect::<Vec<_>>(), "{what}: what Flumen delivers again");
    due.extend(put(&second, 25, 10));
    ended(&second);

    let (code, taken, said) = java(&["read"], dir, &[], form.flags);
    assert_eq!(code, 0, "{what}: {said}");
    assert!(taken == due, "{what}: Java delivers the rest");
    let last = form.opened(dir, "AESCTRNOPADDING");
    assert_eq!(last.depth().queued, 0, "{what}: nothing is left");
    ended(&last);
}

#[test]
fn after_a_clean_stop_each_delivers_exactly_what_the_other_has_left() {
    if !missing() {
        FORMS.into_iter().for_each(|form| in_turn(form, false));
    }
}

#[test]
fn after_a_halt_each_delivers_exactly_what_the_other_has_left() {
    if !missing() {
        FORMS.into_iter().for_each(|form| in_turn(form, true));
    }
}

/// A running Java channel, which puts and puts.
struct Loading(Child);

impl Drop for Loading {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_running_java_is_named_and_after_kill_9_every_acknowledged_event_is_there() {
    if missing() {
        return;
    }
    let form = FORMS[2];
    let base = tempfile::tempdir().unwrap();
    let mut command = command(&["load"], base.path(), &["3"], form.flags);
    let mut java = Loading(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    let mut lines = BufReader::new(java.0.stdout.take().unwrap()).lines();
    let mut acknowledged: usize = lines.next().unwrap().unwrap().parse().unwrap();
    let pid = java.0.id();
    let refused = wait(form.channel(base.path(), "").open()).unwrap_err().to_string();
    assert!(refused.contains(&format!("process {pid} (java)")), "{refused}");
    assert!(java.0.try_wait().unwrap().is_none(), "Java goes on");
    while acknowledged < 500 {
        acknowledged = lines.next().unwrap().unwrap().parse().unwrap();
    }
    java.0.kill().unwrap();
    java.0.wait().unwrap();
    for line in lines.map_while(Result::ok) {
        acknowledged = line.parse().unwrap_or(acknowledged);
    }
    let channel = form.opened(base.path(), "");
    let events = take(&channel, usize::MAX);
    ended(&channel);
    assert!(
        events.len() >= acknowledged && events.len() <= acknowledged + 10,
        "{acknowledged} {}",
        events.len()
    );
    // Java's tool numbers ten of eleven in a header: in their order, so none is missing and none comes twice.
    for (i, (headers, _)) in events.iter().enumerate() {
        let number = (i % 11 != 7).then(|| i.to_string());
        assert_eq!(headers.get("n"), number.as_ref(), "event {i}");
    }
}

#[test]
fn java_refuses_what_is_sealed_and_flumen_still_delivers_it() {
    if missing() {
        return;
    }
    let form = FORMS[1];
    let base = tempfile::tempdir().unwrap();
    let dir = base.path();
    let (code, mut due, said) = java(&["write"], dir, &["50", "7"], form.flags);
    assert_eq!(code, 0, "{said}");
    let channel = form.opened(dir, "AESGCM");
    due.extend(put(&channel, 0, 30));
    ended(&channel);
    let (code, taken, said) = java(&["read"], dir, &[], form.flags);
    assert!(code != 0 && taken.is_empty(), "{said}");
    let channel = form.opened(dir, "AESGCM");
    assert!(take(&channel, usize::MAX) == due);
    ended(&channel);
}

#[test]
fn what_a_tool_of_ours_has_repaired_java_opens() {
    if missing() {
        return;
    }
    let form = FORMS[0];
    let base = tempfile::tempdir().unwrap();
    let dir = base.path();
    let (code, due, said) = java(&["write"], dir, &["200", "7", "--puts-only"], form.flags);
    assert_eq!(code, 0, "{said}");
    let log = dir.join("data/log-1");
    let mut bytes = std::fs::read(&log).unwrap();
    let body = &due[3].1;
    let at = bytes.windows(body.len()).position(|part| part == body).unwrap();
    bytes[at + body.len() / 2] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let tool =
        flumen_wal::tools::integrity::run(&flumen_wal::disk::OsDisk, &[dir.join("data")], &mut |_, _| {});
    assert_eq!(tool.unwrap().corrupt, 1);
    let (code, taken, said) = java(&["read"], dir, &[], form.flags);
    assert_eq!(code, 0, "{said}");
    let mut left = due;
    left.remove(3);
    assert!(taken == left, "all but the damaged one");
    assert!(dir.join("data/log-1.bak").exists());
}
