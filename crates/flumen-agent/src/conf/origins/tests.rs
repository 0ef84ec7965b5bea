//! Sources of configuration on files, a real web server in this process, and class paths.

mod https;

use super::{http::Limits, *};
use flumen_core::{config::Secret, registry::Environment};
use std::{collections::VecDeque, fs, path::Path, sync::Mutex};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
    time::timeout,
};

const LIMIT: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(20);

fn origins(sources: Sources) -> Origins {
    let mut origins = Origins::new(sources, "a");
    origins.follow(true);
    origins
}

fn of_files(files: &[&Path]) -> Origins {
    origins(Sources { files: files.iter().map(|path| path.to_path_buf()).collect(), ..Sources::default() })
}

fn of_uris(uris: &[String], conf_dirs: &[&Path]) -> Origins {
    let conf_dirs = conf_dirs.iter().map(|dir| dir.to_path_buf()).collect();
    origins(Sources { uris: uris.to_vec(), conf_dirs, ..Sources::default() })
}

async fn read(origins: &mut Origins) -> Vec<String> {
    let texts = origins.read().await.unwrap();
    texts.list.into_iter().map(|text| String::from_utf8(text.bytes).unwrap()).collect()
}

async fn error(origins: &mut Origins) -> String {
    origins.read().await.unwrap_err().to_string()
}

/// Whether a change is noticed; the other answer takes a few looks.
async fn changes(origins: &mut Origins) -> bool {
    timeout(TICK * 10, origins.changed(TICK)).await.is_ok()
}

#[tokio::test]
async fn cfg_28_two_files_are_read_in_order_and_a_missing_one_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one.conf"), dir.path().join("two.conf"));
    fs::write(&one, "DEV_BIND=1\n").unwrap();
    fs::write(&two, "DEV_BIND=2\n").unwrap();
    let mut both = of_files(&[&one, &two]);
    let texts = both.read().await.unwrap();
    let (entries, _) = crate::conf::load(&texts.list);
    assert_eq!(entries.list[0].value, "2");
    let mut missing = of_files(&[&one, &dir.path().join("three.conf")]);
    assert!(error(&mut missing).await.contains("three.conf: No such file"));
    assert!(error(&mut of_files(&[])).await.contains("no configuration is named"));
}

#[tokio::test]
async fn cfg_29_a_changed_file_is_noticed_once_and_one_that_goes_or_empties_keeps_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flume.conf");
    fs::write(&path, "a.x=1\n").unwrap();
    let mut origins = of_files(&[&path]);
    assert_eq!(read(&mut origins).await, ["a.x=1\n"]);
    assert!(!changes(&mut origins).await);

    fs::write(&path, "a.x=22\n").unwrap();
    timeout(LIMIT, origins.changed(TICK)).await.unwrap();
    assert_eq!(read(&mut origins).await, ["a.x=22\n"]);
    assert!(!changes(&mut origins).await);

    fs::write(&path, "# nothing\n").unwrap();
    assert!(!changes(&mut origins).await);
    fs::remove_file(&path).unwrap();
    assert!(!changes(&mut origins).await);
    let texts = origins.read().await.unwrap();
    assert_eq!(texts.list[0].bytes, b"a.x=22\n");
    assert!(texts.problems[0].to_string().contains("what was read before stays"), "{:?}", texts.problems);

    // The same length, and a time that may be the same or older: another inode.
    let new = dir.path().join("new");
    fs::write(&new, "a.x=33\n").unwrap();
    fs::File::open(&new).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    fs::rename(&new, &path).unwrap();
    timeout(LIMIT, origins.changed(TICK)).await.unwrap();
    assert_eq!(read(&mut origins).await, ["a.x=33\n"]);
}

#[tokio::test]
async fn cfg_22_a_class_path_uri_is_found_in_four_spellings() {
    let (dir, plugin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(plugin.path().join("f.properties"), "a.x=1\n").unwrap();
    for uri in [
        "classpath:///f.properties",
        "classpath:/f.properties",
        "classpath://f.properties",
        "classpath:f.properties",
    ] {
        let mut origins = of_uris(&[uri.to_owned()], &[dir.path(), plugin.path()]);
        assert_eq!(read(&mut origins).await, ["a.x=1\n"], "{uri}");
    }
    let told = error(&mut of_uris(&["classpath:none".to_owned()], &[dir.path(), plugin.path()])).await;
    assert!(told.contains("is in none of the folders"), "{told}");
    let told = error(&mut of_uris(&["classpath:../f".to_owned()], &[dir.path()])).await;
    assert!(told.contains("leads out of the class path"), "{told}");
}

#[tokio::test]
async fn file_uris_have_their_spellings_and_what_is_none_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a b");
    fs::write(&path, "a.x=1\n").unwrap();
    let encoded = path.display().to_string().replace(' ', "%20");
    for uri in [
        format!("file:{encoded}"),
        format!("file://{encoded}"),
        format!("FILE://localhost{encoded}"),
        path.display().to_string(),
    ] {
        assert_eq!(read(&mut of_uris(std::slice::from_ref(&uri), &[])).await, ["a.x=1\n"], "{uri}");
    }
    for (uri, part) in [
        ("flie:/x", "did you mean `file:`?"),
        ("file://host/x", "another machine"),
        ("file:", "names no path"),
        ("http://", "is no URL"),
    ] {
        let told = error(&mut of_uris(&[uri.to_owned()], &[])).await;
        assert!(told.contains(part), "{told}");
    }
    // One that cannot be read is a warning beside another.
    let mut two = of_uris(&["file:/no/such".to_owned(), format!("file:{encoded}")], &[]);
    let texts = two.read().await.unwrap();
    assert_eq!((texts.list.len(), texts.problems.len()), (1, 1));
}

#[tokio::test]
async fn json_yaml_and_xml_are_refused_by_the_first_dot_of_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let good = dir.path().join("flume.conf");
    fs::write(&good, "a.x=1\n").unwrap();
    let folder = dir.path().display().to_string();
    // Only a folder without a dot shows it, as the path's first dot counts.
    let dotless = if folder.contains('.') { "/flume".to_owned() } else { folder };
    for extension in ["json", "yaml", "xml"] {
        let mut origins =
            of_uris(&[format!("file:{dotless}/f.{extension}"), good.display().to_string()], &[]);
        let texts = origins.read().await.unwrap();
        assert_eq!(texts.list.len(), 1);
        assert!(
            texts.problems[0].to_string().contains(&format!("{extension} is not read")),
            "{:?}",
            texts.problems
        );
    }
    assert_eq!(uri::refused_extension("./conf/f.json"), None);
}

#[tokio::test]
async fn a_file_that_never_ends_or_is_a_folder_is_told() {
    let dir = tempfile::tempdir().unwrap();
    assert!(error(&mut of_files(&[dir.path()])).await.contains("Is a directory"));
    let long = dir.path().join("long");
    fs::File::create(&long).unwrap().set_len(MAX_BYTES + 1).unwrap();
    assert!(error(&mut of_files(&[&long])).await.contains("is it the right one?"));
}

#[tokio::test]
async fn the_last_good_configuration_is_kept_and_read_back_when_there_is_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (path, backup) = (dir.path().join("flume.conf"), dir.path().join("new/backup"));
    fs::write(&path, "a.x = 1\\u00e9 \\\\ =\n").unwrap();
    let sources =
        Sources { files: vec![path.clone()], backup_dir: Some(backup.clone()), ..Sources::default() };
    let mut first = origins(sources.clone());
    let texts = first.read().await.unwrap();
    let (entries, _) = crate::conf::load(&texts.list);
    first.keep(&entries);
    first.write_backup().await;
    let kept = backup.join(".a.properties");
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&kept).unwrap()) & 0o777, 0o600);

    fs::remove_file(&path).unwrap();
    let mut second = origins(sources.clone());
    let texts = second.read().await.unwrap();
    assert!(!texts.lookups);
    assert!(
        texts.problems[0].to_string().contains("the last good configuration, because cannot read"),
        "{:?}",
        texts.problems
    );
    assert_eq!(crate::conf::load(&texts.list).0.list[0].value, "1é \\ =");
    fs::write(&path, "").unwrap();
    assert_eq!(origins(sources).read().await.unwrap().list[0].name, texts.list[0].name);
}

/// A web server that answers each request in turn with what it was told, the last one for ever, and keeps the requests.
struct Server {
    uri: String,
    requests: Arc<Mutex<Vec<String>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    task: JoinHandle<()>,
}

#[derive(Clone)]
enum Answer {
    Text(String),
    /// Says nothing and keeps the connection.
    Hang,
}

impl Server {
    async fn start(answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}/flume.conf", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(Mutex::new(answers.iter().cloned().collect::<VecDeque<_>>()));
        let (kept, queue) = (requests.clone(), answers.clone());
        #[expect(clippy::disallowed_methods, reason = "a test's server")]
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = vec![0; 64 << 10];
                let n = stream.read(&mut request).await.unwrap_or(0);
                kept.lock().unwrap().push(String::from_utf8_lossy(&request[..n]).to_ascii_lowercase());
                let answer = {
                    let mut queue = queue.lock().unwrap();
                    if queue.len() > 1 { queue.pop_front().unwrap() } else { queue[0].clone() }
                };
                match answer {
                    Answer::Text(text) => drop(stream.write_all(text.as_bytes()).await),
                    Answer::Hang => open.push(stream),
                }
            }
        });
        Self { uri, requests, answers, task }
    }

    fn last_request(&self) -> String {
        self.requests.lock().unwrap().last().cloned().unwrap_or_default()
    }

    fn then(&self, answer: Answer) {
        *self.answers.lock().unwrap() = [answer].into();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Answer {
    let len = body.len();
    Answer::Text(format!(
        "HTTP/1.1 {status}\r\nContent-Length: {len}\r\nConnection: close\r\n{headers}\r\n{body}"
    ))
}

fn of_server(server: &Server, login: bool) -> Origins {
    let (user, password) = (login.then(|| "flume".to_owned()), login.then(|| Secret::new("flume")));
    let mut origins =
        origins(Sources { uris: vec![server.uri.clone()], user, password, ..Sources::default() });
    let Kind::Http(http) = &mut origins.list[0].kind else { panic!("no http") };
    let short = Duration::from_millis(300);
    http.set_limits(Limits { connect: short, silence: short, whole: short * 2, bytes: 1000 });
    origins
}

const MODIFIED: &str = "Last-Modified: Mon, 30 Nov 2026 10:00:00 GMT\r\n";

#[tokio::test]
async fn cfg_25_http_with_a_login_is_read_and_asked_again_only_for_what_is_newer() {
    let server = Server::start(&[answer("200 OK", MODIFIED, "a.x=1\n")]).await;
    let mut origins = of_server(&server, true);
    assert_eq!(read(&mut origins).await, ["a.x=1\n"]);
    assert!(
        server.last_request().contains("authorization: basic zmx1bwu6zmx1bwu="),
        "{}",
        server.last_request()
    );
    assert!(!server.last_request().contains("if-modified-since"));

    server.then(answer("304 Not Modified", "", ""));
    assert!(!changes(&mut origins).await);
    assert!(server.last_request().contains("if-modified-since: mon, 30 nov 2026 10:00:00 gmt"));
    assert_eq!(read(&mut origins).await, ["a.x=1\n"]);

    // The same text again is no change, whatever its date.
    server.then(answer("200 OK", "", "a.x=1\n"));
    assert!(!changes(&mut origins).await);
    server.then(answer("200 OK", "", "a.x=2\n"));
    timeout(LIMIT, origins.changed(TICK)).await.unwrap();
    assert_eq!(read(&mut origins).await, ["a.x=2\n"]);
}

#[tokio::test]
async fn cfg_25_wrong_credentials_and_other_answers_are_told_without_the_password() {
    for (status, login, part) in [
        ("401 Unauthorized", true, "the server refuses the user or the password (401)"),
        ("401 Unauthorized", false, "give --conf-user and --conf-password"),
        ("404 Not Found", true, "the server has no such page (404)"),
        ("500 Internal Server Error", true, "the server answers 500"),
        ("304 Not Modified", true, "the server answers 304"),
    ] {
        let server = Server::start(&[answer(status, "", "no")]).await;
        let told = error(&mut of_server(&server, login)).await;
        assert!(told.contains(part), "{told}");
    }
    let server = Server::start(&[answer("302 Found", "Location: https://h/x\r\n", "")]).await;
    let told = error(&mut of_server(&server, true)).await;
    assert!(told.contains("another protocol"), "{told}");
    let told = error(&mut of_uris(&["http://user:geheim@127.0.0.1:1/x?token=geheim".to_owned()], &[])).await;
    assert!(told.contains("http://127.0.0.1:1/x") && !told.contains("geheim"), "{told}");
}

#[tokio::test]
async fn a_server_that_hangs_or_sends_too_much_is_told_in_time_and_what_was_read_stays() {
    let server = Server::start(&[Answer::Hang]).await;
    let told = timeout(LIMIT, async { error(&mut of_server(&server, true)).await }).await.unwrap();
    assert!(told.contains("does not answer in time"), "{told}");

    let server = Server::start(&[answer("200 OK", "", "a.x=1\n")]).await;
    let mut origins = of_server(&server, false);
    read(&mut origins).await;
    let long = "a.x=2\n".repeat(1000);
    let endless =
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n", long.len());
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\na.x=2\n".to_owned();
    for bad in [
        Answer::Hang,
        answer("200 OK", "", &long),
        Answer::Text(endless),
        Answer::Text(cut),
        Answer::Text("SSH-2.0\r\n".to_owned()),
    ] {
        server.then(bad);
        let texts = timeout(LIMIT, origins.read()).await.unwrap().unwrap();
        assert_eq!(texts.list[0].bytes, b"a.x=1\n");
        assert!(texts.problems[0].to_string().contains("what was read before stays"), "{:?}", texts.problems);
    }
}

#[tokio::test]
async fn utf_8_can_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flume.conf");
    fs::write(&path, "a.x=日\n").unwrap();
    let properties = [(encoding::SETTING.to_owned(), "utf-8".to_owned())].into();
    let environment = Arc::new(Environment { properties, ..Environment::default() });
    let texts =
        origins(Sources { files: vec![path], environment, ..Sources::default() }).read().await.unwrap();
    let (entries, problems) = crate::conf::load(&texts.list);
    assert_eq!((entries.list[0].value.as_str(), problems.len()), ("日", 0));
}

#[tokio::test]
async fn a_zookeeper_that_is_not_there_is_an_error_once_and_waited_for_when_watched() {
    let sources =
        Sources { zookeeper: Some("not a:b:port".to_owned()), files: vec!["x".into()], ..Sources::default() };
    let told = Origins::new(sources.clone(), "a").read().await.unwrap_err().to_string();
    assert!(told.contains("cannot read configuration /flume/a of ZooKeeper"), "{told}");
    let mut watched = origins(sources);
    let texts = watched.read().await.unwrap();
    assert!(texts.list.is_empty() && watched.may_come_later());
    assert_eq!(texts.problems.len(), 2, "{:?}", texts.problems);
}

#[tokio::test]
async fn settings_that_would_make_the_connection_to_zookeeper_safe_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jaas.conf");
    fs::write(&path, "KafkaClient {\n  m required;\n};\nClient {\n  m required;\n};\n").unwrap();
    let logins = path.display().to_string();
    for (name, value, part) in [
        ("zookeeper.client.secure", "true", "-Dzookeeper.client.secure: TLS to ZooKeeper is not there"),
        ("zookeeper.ssl.trustStore.location", "/t", "-Dzookeeper.ssl.trustStore.location: TLS to ZooKeeper"),
        ("zookeeper.sasl.clientconfig", "Client", "-Dzookeeper.sasl.clientconfig: there are no logins"),
        ("zookeeper.sasl.client", "TRUE", "-Dzookeeper.sasl.client: there are no logins"),
        (
            "java.security.auth.login.config",
            logins.as_str(),
            "-Djava.security.auth.login.config: section `Client` of",
        ),
    ] {
        let properties = [(name.to_owned(), value.to_owned())].into();
        let environment = Arc::new(Environment { properties, ..Environment::default() });
        let zookeeper = Some("127.0.0.1:1".to_owned());
        let mut origins = Origins::new(Sources { zookeeper, environment, ..Sources::default() }, "a");
        let told = timeout(LIMIT, origins.read()).await.unwrap().unwrap_err().to_string();
        assert!(told.contains(part), "{told}");
    }
    // Logins of other clients are not ZooKeeper's, and neither is one that is switched off.
    fs::write(&path, "KafkaClient {\n  m required;\n};\nClients { m required; };\n").unwrap();
    let of_others = vec![("java.security.auth.login.config", logins.as_str())];
    let off = vec![("zookeeper.sasl.client", "false"), ("zookeeper.sasl.clientconfig", "Client")];
    for settings in [of_others, off] {
        let properties = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let environment = Arc::new(Environment { properties, ..Environment::default() });
        let zookeeper = Some("not a:b:port".to_owned());
        let mut origins = Origins::new(Sources { zookeeper, environment, ..Sources::default() }, "a");
        let told = timeout(LIMIT, origins.read()).await.unwrap().unwrap_err().to_string();
        assert!(!told.contains("login"), "{told}");
    }
}
