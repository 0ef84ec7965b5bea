//! A folder to work in, and the program running in it.

use crate::wait;
use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::Duration,
};
use tempfile::TempDir;

/// The program: built if it is not, beside this test.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| program_of("flumen-agent", "flumen"))
}

/// A program of a package, built beside this test.
pub(crate) fn program_of(package: &str, name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.parent().and_then(Path::parent).unwrap().join(name);
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", package, "--bin", name])
        .current_dir(root())
        .status()
        .unwrap();
    assert!(status.success() && path.exists(), "{} cannot be built", path.display());
    path
}

/// The root of the tree.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// What a command that ends has said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A folder to work in; `@DIR@` in what is written there is its path.
pub(crate) struct Work {
    folder: TempDir,
}

impl Work {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text.replace("@DIR@", &self.folder.path().display().to_string())).unwrap();
        path
    }

    pub(crate) fn make_folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.folder).stdin(Stdio::null());
        for name in ["JAVA_OPTS", "FLUME_JAVA_OPTS", "FLUME_HOME", "FLUME_CLASSPATH"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the program until it ends.
    pub(crate) fn run(&self, words: &[&str]) -> Said {
        self.run_as(program(), words)
    }

    pub(crate) fn run_as(&self, program: &Path, words: &[&str]) -> Said {
        self.run_with(program, words, &[])
    }

    /// Runs the program until it ends, with more variables.
    pub(crate) fn run_with(&self, program: &Path, words: &[&str], variables: &[(&str, &str)]) -> Said {
        let output = self.command(program, words).envs(variables.iter().copied()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Said { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// Starts agent `a` of `a.conf` and does not wait for anything.
    pub(crate) fn start(&self, words: &[&str]) -> Agent {
        let mut all = vec!["agent", "-n", "a", "-f", "a.conf"];
        all.extend(words);
        self.start_as(program(), &all)
    }

    pub(crate) fn start_as(&self, program: &Path, words: &[&str]) -> Agent {
        self.start_with(program, words, &[])
    }

    pub(crate) fn start_with(&self, program: &Path, words: &[&str], variables: &[(&str, &str)]) -> Agent {
        let log = self.path("stderr.txt");
        let mut command = self.command(program, words);
        command.envs(variables.iter().copied());
        command.stdout(File::create(self.path("stdout.txt")).unwrap()).stderr(File::create(&log).unwrap());
        Agent { child: command.spawn().unwrap(), log }
    }

    /// Starts agent `a` of `a.conf` and waits until it runs.
    pub(crate) fn agent(&self, words: &[&str]) -> Agent {
        let mut agent = self.start(words);
        agent.wait_for_log("agent a is running");
        agent
    }

    /// What the agent of this folder has said on standard error.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.path("stderr.txt")).unwrap_or_default()
    }

    /// All lines in the files of a folder, in the order of the files' names.
    pub(crate) fn lines_below(&self, folder: &str) -> Vec<String> {
        let mut paths: Vec<_> = fs::read_dir(self.path(folder))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        let texts = paths.iter().filter_map(|path| fs::read_to_string(path).ok());
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// A running agent. It is killed when it is dropped.
pub(crate) struct Agent {
    child: Child,
    log: PathBuf,
}

impl Agent {
    /// What it has said on standard error.
    pub(crate) fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    pub(crate) fn wait_for_log(&mut self, text: &str) {
        let log = self.log.clone();
        let read = || fs::read_to_string(&log).unwrap_or_default();
        self.wait(&format!("`{text}` in the log"), || read().contains(text));
    }

    /// Waits for a condition. A running agent that has ended meanwhile is a failure.
    pub(crate) fn wait(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        let mut ended = false;
        let held = wait::until(|| {
            let held = holds();
            ended = !held && self.child.try_wait().unwrap().is_some();
            held || ended
        });
        assert!(held && !ended, "{what} never came (ended: {ended}); the log:\n{}", self.log());
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let status =
            Command::new("kill").args([&format!("-{name}"), &self.pid().to_string()]).status().unwrap();
        assert!(status.success(), "kill -{name}");
    }

    /// Waits for the end: the exit status, or minus the signal that ended it.
    pub(crate) fn end(&mut self) -> i32 {
        let mut status = None;
        wait::until(|| {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let status = status.unwrap_or_else(|| panic!("it does not end; the log:\n{}", self.log()));
        status.code().unwrap_or_else(|| -status.signal().unwrap_or(0))
    }

    /// Stops it as a service manager does; the exit status.
    pub(crate) fn stop(&mut self) -> i32 {
        self.signal("TERM");
        self.end()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// A client of the netcat source, which answers each line.
pub(crate) struct Lines {
    reader: BufReader<TcpStream>,
}

impl Lines {
    /// Connects, as soon as there is someone.
    pub(crate) fn connect(port: u16) -> Self {
        let mut stream = None;
        wait::until(|| {
            stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok();
            stream.is_some()
        });
        let stream = stream.expect("nobody listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    /// Sends a line and gives the answer back, or why there is none.
    pub(crate) fn send(&mut self, line: &str) -> std::io::Result<String> {
        self.reader.get_mut().write_all(format!("{line}\n").as_bytes())?;
        let mut answer = String::new();
        self.reader.read_line(&mut answer)?;
        Ok(answer.trim_end().to_owned())
    }
}

/// An HTTP request; the status line and the body.
pub(crate) fn http(port: u16, method: &str, path: &str, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.lines().next().unwrap_or_default().to_owned(), body.to_owned())
}
