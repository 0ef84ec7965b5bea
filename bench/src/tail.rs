//! Tailing: `taildir → memory → file_roll` beside `cat`, and what ten thousand idle files cost.

use crate::{
    clock::{alternate, median_cpu},
    file_channel::{block_on, file, wait_for},
    flow::{context, memory, registry},
    idle,
    report::Table,
};
use flumen_core::{
    channel::{Channel, Signal},
    config::Settings,
    group::{Member, MemberOptions, SinkRunner},
    metrics::{SinkMetrics, SourceMetrics},
    processor::ChannelProcessor,
    registry::{Registry, SinkContext, SourceContext},
    source::Shutdown,
};
use std::{
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

/// Bytes of a line, its end included.
const LINE: usize = 512;
const IDLE_FILES: usize = 10_000;

/// Prints both. `cat` and the flow alternate, each so many rounds.
pub(crate) fn measure(rounds: usize, lines: usize, smoke: bool, folder: &Path) -> Result<(), String> {
    let folder = folder.join(format!("flumen-bench-tail-{}", std::process::id()));
    let result = measure_in(&folder, rounds, lines, smoke);
    let _ = fs::remove_dir_all(&folder);
    result.map_err(|error| error.to_string())
}

fn measure_in(folder: &Path, rounds: usize, lines: usize, smoke: bool) -> std::io::Result<()> {
    let input = folder.join("in/app.log");
    fs::create_dir_all(folder.join("in"))?;
    let mut file = BufWriter::new(fs::File::create(&input)?);
    for n in 0..lines {
        writeln!(file, "{n:0width$}", width = LINE - 1)?;
    }
    file.flush()?;
    drop(file);
    let cat = cat(&input, &folder.join("cat"), rounds)?;
    let title = "taildir → memory → file_roll, 512-byte lines";
    let mut table = Table::new(title, &["ns a line", "million lines a CPU-second", "× cat"]);
    let row = |cpu: Duration| {
        let seconds = cpu.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a figure of three digits")]
        let lines = lines as f64;
        let each = seconds * 1e9 / lines;
        vec![
            format!("{each:.0}"),
            format!("{:.2}", lines / seconds / 1e6),
            format!("{:.2}", seconds / cat.as_secs_f64()),
        ]
    };
    for batch_size in [100, 1_000] {
        let cpu = median_cpu(rounds, || run(folder, lines, batch_size, Kept::InMemory));
        table.row(format!("{batch_size} a batch"), row(cpu));
    }
    table.row("cat", row(cat));
    table.print();
    durable(folder, rounds, lines);
    if !smoke {
        idle::measure_tailed(&folder.join("idle"), IDLE_FILES);
    }
    Ok(())
}

/// What a channel on disk costs: the same flow with either channel, in turn, on two workers.
fn durable(folder: &Path, rounds: usize, lines: usize) {
    let title = "taildir → channel → file_roll, 512-byte lines";
    let columns = ["thousand lines a second", "thousand lines a CPU-second", "of the memory channel's speed"];
    let mut table = Table::new(title, &columns);
    for batch_size in [100, 1_000] {
        let spent = alternate(
            rounds,
            &mut [&mut || run(folder, lines, batch_size, Kept::Beside), &mut || {
                run(folder, lines, batch_size, Kept::OnDisk)
            }],
        );
        for (name, one) in ["memory", "file"].iter().zip(&spent) {
            #[expect(clippy::cast_precision_loss, reason = "figures of three digits")]
            let rate = |time: Duration| format!("{:.0}", lines as f64 / time.as_secs_f64() / 1e3);
            let share = 100.0 * spent[0].wall.as_secs_f64() / one.wall.as_secs_f64();
            let figures = vec![rate(one.wall), rate(one.cpu), format!("{share:.0} %")];
            table.row(format!("{name}, {batch_size} a batch"), figures);
        }
    }
    table.print();
}

/// Where lines wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// In a memory channel, all on one thread.
    InMemory,
    /// In a memory channel, on two workers.
    Beside,
    /// In a file channel, on two workers and the channel's own threads.
    OnDisk,
}

/// CPU time of `cat`, from the shell's own account of its children.
fn cat(input: &Path, output: &Path, rounds: usize) -> std::io::Result<Duration> {
    let repeat = 4 * rounds;
    let script = format!(
        "i=0; while [ $i -lt {repeat} ]; do rm -f {out}; cat {input} > {out}; i=$((i+1)); done; times",
        input = input.display(),
        out = output.display()
    );
    let said = Command::new("sh").args(["-c", &script]).output()?;
    let _ = fs::remove_file(output);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let seconds = |text: &str| {
        let (minutes, seconds) = text.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    // The second line is that of the children: user and system.
    let children = text.lines().nth(1).map(|line| line.split_whitespace().filter_map(seconds).sum::<f64>());
    let total = children.filter(|total| *total > 0.0).unwrap_or(f64::MIN_POSITIVE);
    Ok(Duration::from_secs_f64(total / f64::from(u32::try_from(repeat).unwrap_or(u32::MAX)))
        .max(Duration::from_nanos(1)))
}

/// Moves all lines through the flow and checks that all arrived.
fn run(folder: &Path, lines: usize, batch_size: usize, kept: Kept) {
    let registry = registry();
    let _ = fs::remove_dir_all(folder.join("channel"));
    let channel = match kept {
        Kept::OnDisk => file(&folder.join("channel"), 100_000, &registry),
        Kept::InMemory | Kept::Beside => memory(batch_size, &registry),
    };
    let out = folder.join("out");
    let _ = fs::remove_dir_all(&out);
    let _ = fs::remove_dir_all(folder.join("positions"));
    fs::create_dir_all(&out).expect("a folder");
    let (size, text) = (batch_size.to_string(), |path: PathBuf| path.display().to_string());
    let (pattern, positions) = (text(folder.join("in/.*")), text(folder.join("positions/p.json")));
    let pairs =
        [("filegroups", "g"), ("filegroups.g", &pattern), ("batchSize", &size), ("positionFile", &positions)];
    let metrics = Arc::new(SourceMetrics::default());
    let source_context = SourceContext { common: context("r", &registry), metrics: metrics.clone() };
    let entry = registry.find_source("taildir").expect("it is registered");
    let mut source =
        (entry.build)(&Settings::from_pairs("r", &pairs), &source_context).expect("right settings");
    let selector = registry.find_selector("replicating").expect("it is registered");
    let selector =
        (selector.build)(&Settings::new("s"), &["c".into()], &source_context.common).expect("one channel");
    let processor = ChannelProcessor::new(Vec::new(), selector, vec![channel.clone()], &[0], metrics);
    let sink_metrics = Arc::new(SinkMetrics::default());
    let mut runner = file_runner(&registry, channel.clone(), batch_size, &text(out), sink_metrics.clone());
    let work = async move {
        channel.open().await.expect("a fresh folder opens");
        let (stop_source, source_shutdown) = Shutdown::new();
        let (stop_sink, sink_shutdown) = Shutdown::new();
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { _ = source.run(processor, source_shutdown).await });
        tasks.spawn(async move { _ = runner.run(sink_shutdown).await });
        wait_for(&*channel, &sink_metrics, lines).await;
        stop_source.request();
        stop_sink.request();
        while tasks.join_next().await.is_some() {}
        assert_eq!(sink_metrics.drained.get(), lines as u64, "a line was lost or doubled");
        channel.close();
        channel.end().await.expect("it ends well");
    };
    match kept {
        Kept::Beside | Kept::OnDisk => block_on(work),
        Kept::InMemory => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
            .block_on(work),
    }
}

/// A file_roll sink that never rolls, under the default processor.
fn file_runner(
    registry: &Arc<Registry>,
    channel: Arc<dyn Channel>,
    batch_size: usize,
    directory: &str,
    metrics: Arc<SinkMetrics>,
) -> SinkRunner {
    let wake = Arc::new(Signal::default());
    let common = context("k", registry);
    let processor = registry.find_processor("default").expect("it is registered");
    let policy = (processor.build)(&Settings::new("p"), &["k".into()], &common).expect("one sink");
    let sink_context =
        SinkContext { common, metrics: metrics.clone(), wake: wake.clone(), durable_channel: false };
    let size = batch_size.to_string();
    let pairs = [("sink.directory", directory), ("sink.rollInterval", "0"), ("sink.batchSize", &size)];
    let settings = Settings::from_pairs("k", &pairs);
    let entry = *registry.find_sink("file_roll").expect("it is registered");
    let factory = Box::new(move || (entry.build)(&settings, &sink_context).map_err(Into::into));
    let batch_size = u32::try_from(batch_size).expect("a small batch");
    let member =
        Member::new("k".into(), factory, channel, batch_size, MemberOptions::default(), metrics, wake);
    SinkRunner::new(vec![member.expect("these settings are right")], policy)
}
