//! Lines, headers and folders, and what becomes of them at a source.

use super::*;
use flumen_core::source::{Shutdown, ShutdownHandle};
use flumen_rpc::{
    net::{Accepted, Listener, ServerLimits, bind},
    thrift,
};
use std::{fs, future::Future, sync::Arc, time::SystemTime};
use tokio::{task::JoinSet, time::timeout};

const LIMIT: Duration = Duration::from_secs(20);

fn lines(text: &[u8], is_spooled: bool) -> Vec<Vec<u8>> {
    // Small pieces, so that ends of lines are cut too.
    let input = BufReader::with_capacity(3, text);
    let mut lines = if is_spooled { Lines::of_spooled(input) } else { Lines::of_text(input) };
    let mut all = Vec::new();
    while let Some(batch) = lines.next_batch(2, &Headers::new()).unwrap() {
        assert!(is_spooled || batch.len() <= 2);
        all.extend(batch.iter().map(|event| event.body.to_vec()));
    }
    all
}

#[test]
fn lines_end_as_in_java() {
    let want: Vec<Vec<u8>> =
        [&b"a"[..], b"", b"b", b"c", b"", b"\xffd"].iter().map(|line| line.to_vec()).collect();
    assert_eq!(lines(b"a\n\nb\r\nc\r\r\xffd", false), want);
    assert_eq!(lines(b"a\n", false), [b"a"]);
    assert!(lines(b"", false).is_empty());
    assert_eq!(lines(b"a\rb\r\n", true), [&b"a\rb\r"[..]]);
}

#[test]
fn long_lines_of_spooled_files_are_cut_as_in_java() {
    let sizes = |text: String| lines(text.as_bytes(), true).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(format!("{}\nx\n", "a".repeat(2047))), [2047, 1]);
    assert_eq!(sizes(format!("{}\nx\n", "a".repeat(2048))), [2048, 0, 1]);
    assert_eq!(sizes(format!("{}\n", "a".repeat(5000))), [2048, 2048, 904]);
    assert_eq!(sizes("a".repeat(4096)), [2048, 2048]);
    // Java's characters: two for each of these four bytes.
    assert_eq!(sizes(format!("{}\n", "🚀".repeat(1025))), [4096, 4]);
    assert_eq!(lines(&[0xff; 2049], true).iter().map(Vec::len).collect::<Vec<_>>(), [2048, 1]);
}

/// Stores what it gets; refuses everything from call `fails_from` on.
struct Store {
    batches: std::sync::Mutex<Vec<Batch>>,
    fails_from: usize,
}

impl thrift::Service for Store {
    async fn begin(&self, call: thrift::Call) -> impl Future<Output = thrift::Answer> + Send + 'static {
        let mut batches = self.batches.lock().unwrap();
        let is_good = batches.len() < self.fails_from;
        if is_good {
            batches.push(call.batch);
        }
        async move { thrift::Answer::Status(if is_good { thrift::Status::Ok } else { thrift::Status::Failed }) }
    }
}

struct Source {
    store: Arc<Store>,
    properties: PathBuf,
    _stop: ShutdownHandle,
    _tasks: JoinSet<()>,
}

impl Source {
    async fn start(folder: &Path, fails_from: usize) -> Self {
        let store = Arc::new(Store { batches: std::sync::Mutex::default(), fails_from });
        let socket = bind("127.0.0.1", 0, 16).await.unwrap();
        let port = socket.local_addr().unwrap().port();
        let properties = folder.join("client.properties");
        let text = format!("client.type = thrift\nhosts = a\nhosts.a = 127.0.0.1:{port}\nbatch-size = 2\n");
        fs::write(&properties, text).unwrap();
        let limits = ServerLimits::default();
        let listener = Listener { name: "r".into(), socket, tls: None, limits, metrics: Arc::default() };
        let behind = store.clone();
        let connection = move |accepted: Accepted| {
            let memory = thrift::Memory::new(1 << 20);
            thrift::serve(accepted, behind.clone(), thrift::Protocol::Compact, 1 << 20, memory)
        };
        let (stop, shutdown) = Shutdown::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { listener.serve(shutdown, |_| true, connection).await });
        Self { store, properties, _stop: stop, _tasks: tasks }
    }

    fn options(&self, input: Input) -> AvroClientOptions {
        AvroClientOptions {
            peer: Peer::Properties(self.properties.clone()),
            input,
            header_file: None,
            java_exit_status: false,
        }
    }

    fn bodies(&self) -> Vec<Vec<String>> {
        let text = |body: &[u8]| String::from_utf8(body.to_vec()).unwrap();
        let batches = self.store.batches.lock().unwrap();
        batches.iter().map(|batch| batch.iter().map(|event| text(event.body)).collect()).collect()
    }
}

async fn client(options: &AvroClientOptions) -> ExitCode {
    timeout(LIMIT, run(options, &Environment::default())).await.expect("it ends")
}

#[tokio::test]
async fn a_file_is_sent_in_batches_with_the_headers_of_the_header_file() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::start(folder.path(), 100).await;
    let (file, headers) = (folder.path().join("lines"), folder.path().join("headers"));
    fs::write(&file, "1\n2\n3\n4\n5").unwrap();
    fs::write(&headers, "a=1\nb=x=y\n c = \n").unwrap();
    let options =
        AvroClientOptions { header_file: Some(headers.clone()), ..source.options(Input::File(file)) };
    assert_eq!(client(&options).await, ExitCode::SUCCESS);
    assert_eq!(source.bodies(), [vec!["1", "2"], vec!["3", "4"], vec!["5"]]);
    let batches = source.store.batches.lock().unwrap().clone();
    let first = batches[0].get(0).unwrap().headers;
    let pairs: Vec<(&str, &str)> =
        first.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(pairs, [("a", "1"), ("b", "x=y"), (" c ", " ")]);
    // A line without `=` sends nothing.
    fs::write(&headers, "a=1\nb\n").unwrap();
    assert_eq!(client(&options).await, ExitCode::FAILURE);
    assert_eq!(source.bodies().len(), 3);
    let failure = read_headers(&headers).unwrap_err().to_string();
    assert!(failure.contains("line 2: expected name=value"), "{failure}");
}

#[tokio::test]
async fn a_folder_is_sent_file_by_file_and_each_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::start(folder.path(), 100).await;
    let spool = folder.path().join("spool");
    fs::create_dir_all(spool.join("sub")).unwrap();
    for (name, text, seconds) in [
        ("old", "1\n2\n3\n", 1),
        ("b", "5\n", 2),
        ("a", "4\n", 2),
        (".hidden", "x\n", 0),
        ("x.COMPLETED", "x\n", 0),
    ] {
        let path = spool.join(name);
        fs::write(&path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }
    assert_eq!(client(&source.options(Input::Folder(spool.clone()))).await, ExitCode::SUCCESS);
    assert_eq!(source.bodies(), [vec!["1", "2"], vec!["3"], vec!["4"], vec!["5"]]);
    let mut names: Vec<String> = fs::read_dir(&spool)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [".flumespool", ".hidden", "a.COMPLETED", "b.COMPLETED", "old.COMPLETED", "sub", "x.COMPLETED"]
    );
    assert!(fs::read_dir(spool.join(".flumespool")).unwrap().next().is_none(), "no file is under way");
    // A file without anything is an event without anything, as in Java.
    fs::write(spool.join("empty"), "").unwrap();
    assert_eq!(client(&source.options(Input::Folder(spool.clone()))).await, ExitCode::SUCCESS);
    assert_eq!(source.bodies()[4..], [vec![""]]);
    assert!(spool.join("empty.COMPLETED").exists());
    // A name that was used before is not overwritten.
    fs::write(spool.join("a"), "6\n").unwrap();
    assert_eq!(client(&source.options(Input::Folder(spool.clone()))).await, ExitCode::FAILURE);
    assert!(spool.join("a").exists());
}

#[tokio::test]
async fn a_failure_ends_it_and_its_status_is_javas_where_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::start(folder.path(), 1).await;
    let spool = folder.path().join("spool");
    fs::create_dir(&spool).unwrap();
    fs::write(spool.join("f"), "1\n2\n3\n").unwrap();
    let mut options = source.options(Input::Folder(spool.clone()));
    assert_eq!(client(&options).await, ExitCode::FAILURE);
    assert!(spool.join("f").exists(), "what was not sent whole is not marked");
    options.java_exit_status = true;
    assert_eq!(client(&options).await, ExitCode::SUCCESS);
    options.java_exit_status = false;
    for peer in [Peer::Properties(folder.path().join("missing")), Peer::Address("127.0.0.1".to_owned(), 1)] {
        let input = Input::File(spool.join("f"));
        assert_eq!(client(&AvroClientOptions { peer, input, ..options.clone() }).await, ExitCode::FAILURE);
    }
    let input = Input::File(folder.path().join("missing"));
    assert_eq!(client(&AvroClientOptions { input, ..options }).await, ExitCode::FAILURE);
}

#[tokio::test]
async fn a_client_goes_on_in_a_file_where_another_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let spool = folder.path().join("spool");
    fs::create_dir(&spool).unwrap();
    fs::write(spool.join("f"), "1\nzwei 日本\n3\n4\n5\n6\n7\n").unwrap();
    // The third call is refused, and the client ends.
    let refusing = Source::start(folder.path(), 2).await;
    assert_eq!(client(&refusing.options(Input::Folder(spool.clone()))).await, ExitCode::FAILURE);
    assert_eq!(refusing.bodies(), [vec!["1", "zwei 日本"], vec!["3", "4"]]);
    let again = Source::start(folder.path(), 100).await;
    // By another name of the same folder.
    let with_slash = PathBuf::from(format!("{}/", spool.display()));
    assert_eq!(client(&again.options(Input::Folder(with_slash))).await, ExitCode::SUCCESS);
    assert_eq!(again.bodies(), [vec!["5", "6"], vec!["7"]]);
    assert!(spool.join("f.COMPLETED").exists());
    assert!(!spool.join(".flumespool/.flumespool-main.meta").exists());
}

#[test]
fn a_file_that_changes_while_it_is_sent_is_not_marked() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), "1\n").unwrap();
    let mut spool = Spool::open(folder.path()).unwrap();
    let file = spool.next().unwrap().unwrap();
    fs::write(folder.path().join("f"), "1\n2\n").unwrap();
    let error = spool.complete(&file).unwrap_err().to_string();
    assert!(error.contains("changed while it was sent"), "{error}");
    assert!(folder.path().join("f").exists());
}

#[test]
fn host_and_port_mean_five_events_a_call() {
    let settings = settings(&Peer::Address("h".to_owned(), 7)).unwrap();
    assert_eq!((settings.text("hosts.h1"), settings.text("batch-size")), (Some("[h]:7"), Some("5")));
}
