//! A whole agent of ours in a folder of its own; it can be killed and started again.

use interop::program;
use std::{
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

/// A running agent `a`. It is killed when it is dropped.
pub(crate) struct Agent {
    maker: Maker,
    folder: PathBuf,
    child: Child,
}

impl Agent {
    /// Starts an agent with this configuration; `@DIR@` in it is its folder.
    pub(crate) fn start(folder: &Path, text: &str) -> Self {
        Self::of(Maker::Flumen, folder, text)
    }

    /// The same, of either make.
    pub(crate) fn of(maker: Maker, folder: &Path, text: &str) -> Self {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("a.conf"), text.replace("@DIR@", folder.to_str().unwrap())).unwrap();
        Self { maker, folder: folder.to_owned(), child: spawn(maker, folder) }
    }

    /// What it has said.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.join("log")).unwrap_or_default()).into_owned()
    }

    /// `kill -9`, and started again.
    pub(crate) fn kill_and_start(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
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
        command.arg([env!("CARGO_MANIFEST_DIR"), "flume", "run"].iter().collect::<PathBuf>());
    }
    let log = File::options().create(true).append(true).open(folder.join("log")).unwrap();
    command.args(["agent", "--no-reload-conf", "-n", "a", "-f", "a.conf"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}
