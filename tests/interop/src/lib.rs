//! Starts a real peer by its script and stops it again.

use std::{
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

/// A running peer. It is stopped when it is dropped.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    /// Where it listens, as `host:port`.
    pub address: String,
}

/// What is missing to run peers; it is said loudly, and the test ends there.
pub fn missing() -> bool {
    let there = |program: &&str| {
        Command::new(program).arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    let missing: Vec<&str> = ["java", "mvn"].into_iter().filter(|program| !there(program)).collect();
    if !missing.is_empty() {
        eprintln!("\n*** SKIPPED: {} not there; a JDK 17 and Maven are needed ***\n", missing.join(" and "));
    }
    !missing.is_empty()
}

/// Our program, built if it is not, beside the test that asks.
///
/// # Panics
/// It cannot be built.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let test = std::env::current_exe().unwrap_or_default();
        let path = test.parent().and_then(Path::parent).unwrap_or(&test).join("flumen");
        let arguments = ["build", "--quiet", "--package", "flumen-agent", "--bin", "flumen"];
        let status =
            Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).status();
        let is_built = status.is_ok_and(|status| status.success()) && path.exists();
        assert!(is_built, "{} cannot be built", path.display());
        path
    })
}

impl Peer {
    /// Starts the peer of this name with its data in `data`, on `port` (0 for a free one), and waits until it serves. The
    /// script itself has a time limit.
    ///
    /// # Errors
    /// It cannot be started, or ends before it serves.
    pub fn start(name: &str, data: &Path, port: u16) -> io::Result<Self> {
        let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), name, "start"].iter().collect();
        let mut child = Command::new("bash")
            .arg(script)
            .arg(data)
            .arg(port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        for line in BufReader::new(out).lines() {
            if let Some(address) = line?.strip_prefix("READY ") {
                return Ok(Self { child, address: address.to_owned() });
            }
        }
        child.wait()?;
        Err(io::Error::other(format!("{name} ended before it served")))
    }

    /// The port of the address.
    pub fn port(&self) -> u16 {
        self.address.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The script has put the server in its own place.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
