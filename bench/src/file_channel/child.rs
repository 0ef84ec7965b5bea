//! One stage of a restart, in a process of its own, so that its memory is its own.

use super::{SOURCES, channel};
use crate::{
    clock::{Watch, memory_kib},
    flow::registry,
};
use std::{
    path::Path,
    process::{Command, ExitCode},
};

/// Runs this program for one stage, and gives the line that it prints.
pub(super) fn start(stage: &str, folder: &Path, events: usize) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let said = Command::new(own)
        .args(["filechannel-stage", stage])
        .arg(folder)
        .arg(events.to_string())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    match said.status.success() {
        true => Ok(text),
        false => Err(format!("{stage}: {text}{}", String::from_utf8_lossy(&said.stderr))),
    }
}

/// A stage: `fill`, `open` or `drain`, a folder, and how many events.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let [stage, folder, events] = arguments else { return ExitCode::from(2) };
    let Ok(events) = events.parse() else { return ExitCode::from(2) };
    let registry = registry();
    let file = channel::file(Path::new(folder), events + 10_000, &registry);
    let stage = stage.clone();
    channel::block_on(async move {
        let watch = Watch::start();
        file.open().await.expect("the folder is as it was left");
        let opened = watch.stop();
        let start = if stage == "fill" { 0 } else { events };
        assert_eq!(file.depth().queued, start as u64, "an event was lost or doubled");
        let watch = Watch::start();
        let spent = match stage.as_str() {
            "fill" => {
                channel::put_one_by_one(&file, &registry, SOURCES, events).await;
                watch.stop()
            }
            "drain" => {
                let n_drained = channel::drain(&file, &registry, events).await;
                assert_eq!(n_drained, events as u64, "an event was lost or doubled");
                watch.stop()
            }
            _ => opened,
        };
        let (now, most) = memory_kib();
        println!(
            "{:8.3} s, {:8.3} CPU-s, RSS {:.1} MiB, at most {:.1} MiB",
            spent.wall.as_secs_f64(),
            spent.cpu.as_secs_f64(),
            now / 1024.0,
            most / 1024.0
        );
        file.close();
        file.end().await.expect("it ends well");
    });
    ExitCode::SUCCESS
}
