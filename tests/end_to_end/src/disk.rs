//! Full disks: small file systems in memory, where the system lets us mount them.

use crate::{
    agent::{Lines, Work, free_port},
    flow::netcat_to_files,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A file system of 256 KiB, until it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(at);
        let mounted = command.output().is_ok_and(|output| output.status.success());
        if !mounted {
            println!("SKIPPED: this user cannot mount a small file system, so no full disk is tried");
        }
        mounted.then(|| Self(at.to_owned()))
    }

    /// Fills it up to the last byte.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let _ = fs::write(&path, vec![0; 300 * 1024]);
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_under_file_roll_loses_nothing_and_it_goes_on_when_there_is_room() {
    let work = Work::new();
    let Some(disk) = SmallDisk::mount(&work.make_folder("out")) else { return };
    let port = free_port();
    work.write("a.conf", &format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port)));
    let mut agent = work.agent(&[]);
    let mut client = Lines::connect(port);
    assert_eq!(client.send("0 before").unwrap(), "OK");
    agent.wait("the first line", || work.lines_below("out").iter().any(|line| line == "0 before"));
    let filler = disk.fill();
    let long = "x".repeat(400);
    for i in 1..=200 {
        assert_eq!(client.send(&format!("{i} {long}")).unwrap(), "OK");
    }
    agent.wait_for_log("not delivered");
    fs::remove_file(filler).unwrap();
    // Lines may be there twice, and the last one before the disk was full may be cut: the batch is written again.
    let whole = |i: usize| if i == 0 { "0 before".to_owned() } else { format!("{i} {long}") };
    agent.wait("all lines", || {
        let lines = work.lines_below("out");
        (0..=200).all(|i| lines.contains(&whole(i)))
    });
    assert_eq!(agent.stop(), 0);
    assert!(!agent.log().contains("are lost"), "{}", agent.log());
}

#[test]
fn a_full_disk_under_the_log_never_stops_the_agent() {
    let work = Work::new();
    work.make_folder("out");
    let Some(disk) = SmallDisk::mount(&work.make_folder("logs")) else { return };
    let port = free_port();
    work.write("a.conf", &format!("{}a.sinks.k.sink.directory = @DIR@/out\n", netcat_to_files(port)));
    let mut agent = work.start(&["-Dflume.root.logger=DEBUG,LOGFILE"]);
    let log = work.path("logs/flume.log");
    agent
        .wait("the log file", || fs::read_to_string(&log).unwrap_or_default().contains("agent a is running"));
    disk.fill();
    let mut client = Lines::connect(port);
    // Each reload says something.
    let pid = agent.pid().to_string();
    agent.wait("the complaint", || {
        assert_eq!(client.send("line").unwrap(), "OK");
        assert!(Command::new("kill").args(["-HUP", &pid]).status().unwrap().success());
        fs::read_to_string(work.path("stderr.txt")).unwrap_or_default().contains("log lines are lost")
    });
    assert_eq!(client.send("after").unwrap(), "OK");
    agent.wait("the last line", || work.lines_below("out").iter().any(|line| line == "after"));
    assert_eq!(agent.stop(), 0);
}
