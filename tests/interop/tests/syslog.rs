//! Real senders of syslog: `logger` of util-linux in every form that it has, and rsyslog over TCP, counted TCP and UDP.

use flumen_agent::{
    agent::{Agent, World},
    commands::{Program, SystemClock},
    conf::{Origins, Sources},
};
use flumen_core::registry::Environment;
use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    net::{TcpListener, UdpSocket},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};
use tokio::time::{Instant, interval};

const LIMIT: Duration = Duration::from_secs(60);
/// What rsyslog sends by each of its ways.
const N_LINES: usize = 2_000;

/// Says loudly which programs are not there.
fn missing(programs: &[&str]) -> bool {
    let there = |program: &&&str| {
        let mut folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"].iter();
        folders.any(|folder| Path::new(folder).join(program).is_file())
    };
    let missing: Vec<&str> = programs.iter().filter(|program| !there(program)).copied().collect();
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        eprintln!("\n*** SKIPPED: {missing} not there; `cargo xtask setup` installs it where it may ***\n");
    }
    !missing.is_empty()
}

fn free_tcp() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn free_udp() -> u16 {
    UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    let mut pause = interval(Duration::from_millis(20));
    while !holds() {
        assert!(start.elapsed() < LIMIT, "stuck: {what}");
        pause.tick().await;
    }
}

/// An agent with the three sources, each with files of its own.
struct Receiver {
    agent: Agent,
    folder: tempfile::TempDir,
    tcp: u16,
    udp: u16,
    multiport: u16,
}

impl Receiver {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (tcp, udp, multiport) = (free_tcp(), free_udp(), free_tcp());
        let mut text =
            "a.sources = tcp udp multi\na.channels = tcp udp multi\na.sinks = tcp udp multi\n".to_owned();
        for (name, kind, key, port) in [
            ("tcp", "syslogtcp", "port", tcp),
            ("udp", "syslogudp", "port", udp),
            ("multi", "multiport_syslogtcp", "ports", multiport),
        ] {
            let out = folder.path().join(name);
            fs::create_dir(&out).unwrap();
            writeln!(text, "a.sources.{name}.type = {kind}\na.sources.{name}.host = 127.0.0.1").unwrap();
            writeln!(text, "a.sources.{name}.{key} = {port}\na.sources.{name}.channels = {name}").unwrap();
            writeln!(text, "a.channels.{name}.type = memory\na.channels.{name}.capacity = 10000").unwrap();
            writeln!(text, "a.sinks.{name}.type = file_roll\na.sinks.{name}.channel = {name}").unwrap();
            writeln!(text, "a.sinks.{name}.sink.directory = {}", out.display()).unwrap();
            writeln!(
                text,
                "a.sinks.{name}.sink.rollInterval = 0\na.sinks.{name}.sink.serializer = header_and_text"
            )
            .unwrap();
        }
        let file = folder.path().join("a.conf");
        fs::write(&file, text).unwrap();
        let environment = Arc::new(Environment::default());
        let program =
            Program { registry: Arc::new(flumen_agent::registry()), environment: environment.clone() };
        let sources = Sources { files: vec![file], ..Sources::default() };
        let (plan, problems) = program.read_plan(&mut Origins::new(sources, "a"), "a").await.unwrap();
        assert_eq!(problems, []);
        let world = World { clock: Arc::new(SystemClock), seed: 1, environment };
        let mut agent = Agent::new(program.registry, world);
        assert!(agent.apply(plan).await.problems.is_empty());
        // The sockets of TCP are there when somebody can connect; that of UDP when it cannot be had a second time.
        until("the sources listen", || {
            let listens = |port| std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
            listens(tcp) && listens(multiport) && UdpSocket::bind(("127.0.0.1", udp)).is_err()
        })
        .await;
        Self { agent, folder, tcp, udp, multiport }
    }

    /// The events of a source, headers and text.
    fn lines(&self, name: &str) -> Vec<String> {
        let mut paths: Vec<_> =
            fs::read_dir(self.folder.path().join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let text: String = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        text.lines().map(str::to_owned).collect()
    }

    async fn stop(self) {
        self.agent.stop(Duration::ZERO).await;
    }
}

/// Whether `logger` sends a host that RFC 5424 allows: an empty name makes a message of another form, and `-` says that there is none.
fn has_plain_host_name() -> bool {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim_end();
    !name.is_empty() && name != "-" && name.bytes().all(|byte| byte.is_ascii_graphic())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_logger_sends_in_all_its_forms_is_read() {
    if missing(&["logger"]) {
        return;
    }
    let receiver = Receiver::start().await;
    let is_plain = has_plain_host_name();
    let forms: [&[&str]; 7] = [
        &["--rfc5424"],
        &["--rfc5424=notime,notq"],
        &["--rfc5424=notq,nohost"],
        &["--rfc5424", "--msgid", "M1", "--sd-id", "x@32473", "--sd-param", "k=\"v\""],
        &["--rfc3164"],
        &["--rfc5424", "--octet-count"],
        &["--rfc3164", "--octet-count"],
    ];
    for (source, transport, port) in [
        ("tcp", "--tcp", receiver.tcp),
        ("udp", "--udp", receiver.udp),
        ("multi", "--tcp", receiver.multiport),
    ] {
        let mut sent = 0;
        for (n, form) in forms.iter().enumerate() {
            // A datagram is not counted.
            if transport == "--udp" && form.contains(&"--octet-count") {
                continue;
            }
            let status = Command::new("logger")
                .args([
                    "-n",
                    "127.0.0.1",
                    transport,
                    "-P",
                    &port.to_string(),
                    "-p",
                    "local0.warn",
                    "-t",
                    "app",
                ])
                .args(*form)
                .arg(format!("message {n} of logger, z\u{142}oty"))
                .status()
                .unwrap();
            assert!(status.success(), "{source} {form:?}");
            sent += 1;
            until(&format!("{source} {form:?}"), || receiver.lines(source).len() >= sent).await;
            let line = receiver.lines(source).pop().unwrap();
            assert!(
                line.ends_with(&format!("message {n} of logger, z\u{142}oty")),
                "{source} {form:?}: {line}"
            );
            for header in ["Facility=16", "Severity=4"] {
                assert!(line.contains(header), "{source} {form:?}: {line}");
            }
            if !is_plain {
                continue;
            }
            assert!(!line.contains("flume.syslog.status"), "{source} {form:?}: {line}");
            // Who sends neither has neither; the multiport source takes the time of receipt and the `-` as they are, as Java's.
            let has = |word: &str| source == "multi" || !form.iter().any(|option| option.contains(word));
            assert_eq!(line.contains("host="), has("nohost"), "{source} {form:?}: {line}");
            assert_eq!(line.contains("timestamp="), has("notime"), "{source} {form:?}: {line}");
        }
        assert_eq!(receiver.lines(source).len(), sent, "{source}");
    }
    receiver.stop().await;
}

/// rsyslog. It is killed when it is dropped.
struct Rsyslog(Child);

impl Drop for Rsyslog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn rsyslog(receiver: &Receiver, folder: &Path) -> Rsyslog {
    let Receiver { tcp, udp, multiport, .. } = receiver;
    let shown = folder.display();
    let ways = [
        (tcp, "tcp", "traditional", "RSYSLOG_SyslogProtocol23Format"),
        (multiport, "tcp", "octet-counted", "RSYSLOG_SyslogProtocol23Format"),
        (udp, "udp", "traditional", "RSYSLOG_TraditionalForwardFormat"),
    ];
    let actions: String = ways
        .iter()
        .map(|(port, protocol, framing, template)| {
            format!(
                "action(type=\"omfwd\" target=\"127.0.0.1\" port=\"{port}\" protocol=\"{protocol}\" \
                 TCP_Framing=\"{framing}\" template=\"{template}\")\n"
            )
        })
        .collect();
    let conf = format!(
        "global(workDirectory=\"{shown}\" net.enableDNS=\"off\")\nmodule(load=\"imfile\" mode=\"polling\" PollingInterval=\"1\")\n\
         input(type=\"imfile\" file=\"{shown}/in.log\" tag=\"app\" severity=\"warning\" facility=\"local0\" ruleset=\"out\")\n\
         ruleset(name=\"out\" queue.type=\"Direct\") {{\n{actions}}}\n"
    );
    fs::write(folder.join("rsyslog.conf"), conf).unwrap();
    let child = Command::new("/usr/sbin/rsyslogd")
        .args(["-n", "-f"])
        .arg(folder.join("rsyslog.conf"))
        .arg("-i")
        .arg(folder.join("pid"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Rsyslog(child)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_line_that_rsyslog_forwards_arrives_once() {
    if missing(&["rsyslogd"]) {
        return;
    }
    let receiver = Receiver::start().await;
    let folder = tempfile::tempdir().unwrap();
    let lines: String =
        (0..N_LINES).map(|n| format!("line {n} of rsyslog {}\n", "x".repeat(n % 300))).collect();
    fs::write(folder.path().join("in.log"), lines).unwrap();
    let mut running = rsyslog(&receiver, folder.path());
    let numbers = |source: &str| -> Vec<usize> {
        let number = |line: &String| line.split("line ").nth(1)?.split(' ').next()?.parse().ok();
        receiver
            .lines(source)
            .iter()
            .map(|line| number(line).unwrap_or_else(|| panic!("{source}: {line}")))
            .collect()
    };
    for source in ["tcp", "multi"] {
        until(source, || receiver.lines(source).len() >= N_LINES || running.0.try_wait().unwrap().is_some())
            .await;
        assert_eq!(numbers(source), (0..N_LINES).collect::<Vec<_>>(), "{source}");
    }
    // Datagrams may be lost on their way, but not after it.
    until("udp", || receiver.lines("udp").len() > N_LINES / 2).await;
    let there = numbers("udp");
    assert_eq!(there.iter().collect::<BTreeSet<_>>().len(), there.len(), "a datagram came twice");
    for source in ["tcp", "multi", "udp"] {
        for line in receiver.lines(source) {
            for header in ["Facility=16", "Severity=4", "host=", "timestamp="] {
                assert!(line.contains(header), "{source}: {line}");
            }
            assert!(!line.contains("flume.syslog.status"), "{source}: {line}");
        }
    }
    drop(running);
    receiver.stop().await;
}
