//! Whole agents, Java's and ours, of the same configuration files; they can be killed and started again.

use crate::{
    tool::script,
    wait::{listens, until},
    ways::Way,
};
use interop::program;
use std::{
    fmt::Write as _,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// Whose agent it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    Java,
    Flumen,
}

/// A running agent. It is killed when it is dropped.
pub(crate) struct Agent {
    maker: Maker,
    folder: PathBuf,
    ports: Vec<u16>,
    child: Child,
}

impl Agent {
    /// Starts an agent in a folder of its own. It is up when it listens on all the ports of its sources.
    pub(crate) fn start(maker: Maker, folder: &Path, flows: &Flows) -> Self {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("a.conf"), flows.text().replace("@DIR@", folder.to_str().unwrap())).unwrap();
        let child = spawn(maker, folder);
        Self { maker, folder: folder.to_owned(), ports: flows.ports.clone(), child }
    }

    pub(crate) async fn is_up(&mut self) {
        let (ports, child) = (&self.ports, &mut self.child);
        let mut ended = false;
        until("an agent that is up", || {
            ended = child.try_wait().unwrap().is_some();
            ended || ports.iter().all(|port| listens(*port))
        })
        .await;
        assert!(!ended, "{:?} has ended: {}", self.maker, self.log());
    }

    /// What it has said.
    pub(crate) fn log(&self) -> String {
        let bytes = fs::read(self.folder.join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again.
    pub(crate) fn start_again(&mut self) {
        self.child = spawn(self.maker, &self.folder);
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(maker: Maker, folder: &Path) -> Child {
    let mut command = match maker {
        Maker::Java => Command::new("bash"),
        Maker::Flumen => Command::new(program()),
    };
    if maker == Maker::Java {
        command.arg(script());
    }
    let log = File::options().create(true).append(true).open(folder.join("log")).unwrap();
    command.args(["agent", "--no-reload-conf", "-n", "a", "-f", "a.conf"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

/// A configuration of agent `a`, flow by flow.
#[derive(Default)]
pub(crate) struct Flows {
    sources: Vec<String>,
    channels: Vec<String>,
    sinks: Vec<String>,
    lines: String,
    ports: Vec<u16>,
}

impl Flows {
    /// A line as it is, but for `a.` in front.
    pub(crate) fn line(&mut self, key: &str, value: impl std::fmt::Display) -> &mut Self {
        let _ = writeln!(self.lines, "a.{key} = {value}");
        self
    }

    pub(crate) fn source(&mut self, name: &str, way: &Way, port: u16, channel: &str) -> &mut Self {
        self.sources.push(name.to_owned());
        self.ports.push(port);
        let start = format!("sources.{name}");
        self.line(&format!("{start}.type"), way.protocol).line(&format!("{start}.bind"), "127.0.0.1");
        self.line(&format!("{start}.port"), port).line(&format!("{start}.channels"), channel);
        way.source.iter().for_each(|(key, value)| _ = self.line(&format!("{start}.{key}"), value));
        self
    }

    pub(crate) fn memory(&mut self, name: &str, capacity: usize) -> &mut Self {
        self.channels.push(name.to_owned());
        let start = format!("channels.{name}");
        self.line(&format!("{start}.type"), "memory").line(&format!("{start}.capacity"), capacity);
        self.line(&format!("{start}.transactionCapacity"), 1000.min(capacity))
    }

    pub(crate) fn file(&mut self, name: &str) -> &mut Self {
        self.channels.push(name.to_owned());
        let start = format!("channels.{name}");
        self.line(&format!("{start}.type"), "file").line(&format!("{start}.capacity"), 200_000);
        self.line(&format!("{start}.transactionCapacity"), 1000);
        self.line(&format!("{start}.checkpointDir"), format!("@DIR@/{name}/checkpoint"));
        self.line(&format!("{start}.dataDirs"), format!("@DIR@/{name}/data"))
    }

    pub(crate) fn sink(&mut self, name: &str, way: &Way, port: u16, channel: &str, batch: u32) -> &mut Self {
        self.sinks.push(name.to_owned());
        let start = format!("sinks.{name}");
        self.line(&format!("{start}.type"), way.protocol).line(&format!("{start}.hostname"), "127.0.0.1");
        self.line(&format!("{start}.port"), port).line(&format!("{start}.channel"), channel);
        self.line(&format!("{start}.batch-size"), batch);
        way.sink.iter().for_each(|(key, value)| _ = self.line(&format!("{start}.{key}"), value));
        self
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (what, names) in
            [("sources", &self.sources), ("channels", &self.channels), ("sinks", &self.sinks)]
        {
            let _ = writeln!(text, "a.{what} = {}", names.join(" "));
        }
        text + &self.lines
    }
}
