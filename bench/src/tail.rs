//! Tailing: `taildir → memory → file_roll` beside `cat`, and what ten thousand idle files cost.

use crate::{
    clock::median_cpu,
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
pub(crate) fn measure(rounds: usize, lines: usize, smoke: bool) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("flumen-bench-tail-{}", std::process::id()));
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
        let cpu = median_cpu(rounds, || run(folder, lines, batch_size));
        table.row(format!("{batch_size} a batch"), row(cpu));
    }
    table.row("cat", row(cat));
    table.print();
    if !smoke {
        idle::measure_tailed(&folder.join("idle"), IDLE_FILES);
    }
    Ok(())
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
fn run(folder: &Path, lines: usize, batch_size: usize) {
    let registry = registry();
    let channel = memory(batch_size, &registry);
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
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async move {
        let (stop_source, source_shutdown) = Shutdown::new();
        let (stop_sink, sink_shutdown) = Shutdown::new();
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async move { _ = source.run(processor, source_shutdown).await });
        tasks.spawn(async move { _ = runner.run(sink_shutdown).await });
        loop {
            let freed = channel.signals().freed.listen();
            if sink_metrics.drained.get() >= lines as u64 {
                break;
            }
            freed.await;
        }
        stop_source.request();
        stop_sink.request();
        while tasks.join_next().await.is_some() {}
        assert_eq!(sink_metrics.drained.get(), lines as u64, "a line was lost or doubled");
    });
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
