//! `flumen agent`: runs an agent until a signal stops it.

use super::{Program, SystemClock, Target};
use crate::{
    agent::{Agent, StopReport, World},
    conf::Origins,
    monitor::{self, Monitor},
    plan::Plan,
    startup,
};
use flumen_core::config::{Problem, Severity};
use std::{collections::BTreeSet, process::ExitCode, sync::Arc, time::Duration};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until},
};

/// Exit status when nothing can run.
const NOTHING_RUNS: u8 = 1;
/// Exit status when the configuration cannot be read.
const UNREADABLE: u8 = 2;
/// Exit status when a fault of the program has broken a channel: a supervisor of the system should start it anew.
const BROKEN: u8 = 70;

/// Problems of one configuration in the log.
const MOST_TOLD: usize = 1_000;

/// After the start or a reload, when what only that needed is let go of: the components have begun by then.
const SETTLED: Duration = Duration::from_millis(500);

/// Signals within this time are one.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// How an agent is run.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Which agent.
    pub target: Target,
    /// Whether changes of the configuration are followed.
    pub reload: bool,
    /// How often is looked for changes; zero for what fits the sources.
    pub poll_interval: Duration,
    /// How long sinks may empty the channels at the stop.
    pub drain: Duration,
    /// Whether warnings keep the agent from starting.
    pub strict: bool,
    /// Whether a clean stop by a signal ends with 128 and the signal's number, as a JVM does.
    pub java_exit_status: bool,
}

/// Runs the agent on the present runtime.
pub async fn run(program: &Program, options: &AgentOptions) -> ExitCode {
    let mut signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            tracing::error!("cannot listen for signals: {error}");
            return ExitCode::from(NOTHING_RUNS);
        }
    };
    let mut origins = Origins::new(options.target.sources.clone(), &options.target.agent);
    origins.follow(options.reload);
    let read = tokio::select! {
        biased;
        by = signals.stop() => return options.stopped_by(by),
        read = program.read_plan(&mut origins, &options.target.agent) => read,
    };
    let (plan, problems) = match read {
        Ok(read) => read,
        Err(error) => {
            tracing::error!("{error}");
            return ExitCode::from(UNREADABLE);
        }
    };
    tell(&problems);
    let limit = if options.strict { Severity::Warning } else { Severity::Error };
    if options.strict && problems.iter().any(|problem| problem.severity >= limit) {
        tracing::error!("not started, because --strict allows no warning");
        return ExitCode::from(NOTHING_RUNS);
    }
    let may_come_later = origins.may_come_later();
    if plan.is_empty() && !may_come_later {
        tracing::error!("agent {} has nothing to run", options.target.agent);
        return ExitCode::from(NOTHING_RUNS);
    }
    let world = World {
        clock: Arc::new(SystemClock),
        seed: fastrand::u64(..),
        environment: program.environment.clone(),
    };
    let mut agent = Agent::new(program.registry.clone(), world);
    print_config(program, &plan);
    apply(&mut agent, plan).await;
    origins.write_backup().await;
    if agent.plan().is_empty() && !may_come_later {
        tracing::error!("agent {} has nothing to run", options.target.agent);
        return ExitCode::from(NOTHING_RUNS);
    }
    let monitor = match Monitor::start(&program.environment, agent.board()).await {
        Ok(monitor) => monitor,
        Err(error) => {
            // As in Java: a monitor that cannot start does not keep the agent from its work.
            tracing::error!("{error}");
            None
        }
    };
    tracing::info!("agent {} is running", options.target.agent);
    tell_idle(agent.plan());
    let known = errors_of(&problems);
    let broken = agent.broken_channel();
    let by = tokio::select! {
        biased;
        by = follow(program, options, &mut agent, &mut origins, &mut signals, known) => Some(by),
        channel = broken => {
            tracing::error!("channel {channel} is broken by a fault of the program: the agent stops");
            None
        }
    };
    let stopped = tokio::select! {
        report = agent.stop(options.drain) => report,
        () = signals.again() => {
            tracing::error!("stopped at once by a second signal");
            return ExitCode::from(NOTHING_RUNS);
        }
    };
    if let Some(monitor) = monitor {
        monitor.stop().await;
    }
    tell_stop(&stopped);
    by.map_or(ExitCode::from(BROKEN), |by| options.stopped_by(by))
}

/// Applies changes of the configuration until a signal says stop.
async fn follow(
    program: &Program,
    options: &AgentOptions,
    agent: &mut Agent,
    origins: &mut Origins,
    signals: &mut Signals,
    mut known_errors: BTreeSet<String>,
) -> StopSignal {
    let interval = match options.poll_interval {
        Duration::ZERO => options.target.sources.default_poll_interval(),
        given => given,
    };
    let mut settles_at = Some(Instant::now() + SETTLED);
    loop {
        tokio::select! {
            biased;
            told = signals.next() => match told {
                Told::Stop(by) => return by,
                Told::Reload => {}
                Told::Show => {
                    tracing::info!("SIGQUIT: what runs, and what it counts");
                    monitor::write_lines(&agent.board());
                    continue;
                }
            },
            () = sleep_until(settles_at.unwrap_or_else(Instant::now)), if settles_at.is_some() => {
                settles_at = None;
                startup::let_go_of_the_start();
                continue;
            }
            () = origins.changed(interval), if options.reload => {
                tracing::info!("the configuration has changed");
            }
        };
        // A server that hangs keeps nobody from stopping.
        let read = tokio::select! {
            biased;
            by = signals.stop() => return by,
            read = program.read_plan(origins, &options.target.agent) => read,
        };
        let (plan, problems) = match read {
            Ok(read) => read,
            Err(error) => {
                tracing::error!("{error}; the running configuration stays");
                continue;
            }
        };
        tell(&problems);
        if plan.is_empty() {
            tracing::error!("the changed configuration has nothing to run; the running one stays");
            continue;
        }
        let errors = errors_of(&problems);
        let new = errors.difference(&known_errors).count();
        if new > 0 {
            tracing::error!("the changed configuration has {new} errors more; the running one stays");
            continue;
        }
        print_config(program, &plan);
        // A stop in the middle of a reload wins: what the reload has not done yet is then not done.
        tokio::select! {
            biased;
            by = signals.stop() => return by,
            () = apply(agent, plan) => {}
        }
        settles_at = Some(Instant::now() + SETTLED);
        known_errors = errors;
        origins.write_backup().await;
    }
}

/// The errors among problems. A line may move, and it is still the same error.
fn errors_of(problems: &[Problem]) -> BTreeSet<String> {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| format!("{}: {}", problem.key, problem.what)).collect()
}

async fn apply(agent: &mut Agent, plan: Plan) {
    tell(&super::folders::taken_for_files(&plan));
    let applied = agent.apply(plan).await;
    tell(&applied.problems);
    for name in &applied.lost {
        tracing::error!(
            "{name} has stopped: it cannot be built as the configuration says, and cannot go on as it was"
        );
    }
    if !applied.gone.is_empty() {
        tracing::info!("stopped, as the configuration has them no more: {}", applied.gone.join(", "));
    }
    let changes = &applied.changes;
    if changes.is_empty() {
        tracing::info!("the configuration has not changed");
        return;
    }
    let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>();
    let groups = changes.groups_started.iter().map(|name| sinks_of(agent.plan(), name)).collect();
    let lists = [
        ("channels", names(&changes.channels_built)),
        ("sinks", groups),
        ("sources", names(&changes.sources_started)),
    ];
    let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let lists: Vec<String> = lists.map(|(what, names)| format!("{what} {}", names.join(" "))).collect();
    match lists.as_slice() {
        [] => tracing::info!("the changed configuration is in use"),
        lists => tracing::info!("starting {}", lists.join(", ")),
    }
}

/// The sinks that share a runner, with the name of their group where it has one of its own.
fn sinks_of(plan: &Plan, group: &str) -> String {
    let sinks: Vec<&str> =
        plan.groups.get(group).iter().flat_map(|plan| &plan.sinks).map(|sink| sink.name.as_str()).collect();
    match sinks.as_slice() {
        [only] if *only == group => group.to_owned(),
        sinks => format!("{} (group {group})", sinks.join(" ")),
    }
}

/// Settings stay out of the log unless the operator asks for them, as in Java.
fn print_config(program: &Program, plan: &Plan) {
    if program.environment.flag("org.apache.flume.log.printconfig") {
        for line in super::print_config::lines(plan, &program.registry) {
            tracing::info!("configuration: {line}");
        }
    }
}

/// Writes problems to the log, each at its level, and of very many the first ones.
fn tell(problems: &[Problem]) {
    if let Some(more) = problems.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        tracing::error!(
            "the configuration has {} problems; the last {more} are not shown: see flumen check",
            problems.len()
        );
    }
    for problem in problems.iter().take(MOST_TOLD) {
        match problem.severity {
            Severity::Error => tracing::error!("{problem}"),
            Severity::Warning => tracing::warn!("{problem}"),
            Severity::Info => tracing::info!("{problem}"),
        }
    }
}

/// An agent that brings nothing in, or takes nothing out, is rarely meant.
fn tell_idle(plan: &Plan) {
    if plan.sources.is_empty() {
        tracing::warn!("no source is left: nothing comes in");
    }
    if plan.groups.is_empty() {
        tracing::warn!("no sink is left: channels fill up and stay full");
    }
}

fn tell_stop(report: &StopReport) {
    for left in &report.left {
        if left.kept {
            tracing::info!(
                channel = left.channel,
                events = left.events,
                "events stay in the channel for the next start"
            );
        } else {
            tracing::warn!(
                channel = left.channel,
                events = left.events,
                "events were still in the channel and are lost; --drain SECONDS lets sinks empty it first"
            );
        }
    }
    tracing::info!("stopped");
}

/// What the system tells the process.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    quit: Signal,
}

/// What a process is sent that writes a file beyond `ulimit -f`.
const SIGXFSZ: i32 = 25;

impl Signals {
    fn listen() -> std::io::Result<Self> {
        // Once somebody listens, the write fails as on a full disk, and the process lives.
        drop(signal(SignalKind::from_raw(SIGXFSZ))?);
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// The next signal of any kind.
    async fn next(&mut self) -> Told {
        tokio::select! {
            biased;
            by = stop(&mut self.terminate, &mut self.interrupt) => Told::Stop(by),
            _ = self.hang_up.recv() => {
                tracing::info!("SIGHUP: reading the configuration");
                Told::Reload
            }
            _ = self.quit.recv() => Told::Show,
        }
    }

    /// A signal to stop while the agent stops. What comes within a second is the first one, told twice: `timeout` and some
    /// service managers tell the process and its group.
    async fn again(&mut self) {
        let first = Instant::now();
        loop {
            self.stop().await;
            if first.elapsed() >= SAME_SIGNAL {
                return;
            }
        }
    }

    /// The next signal to stop. A request to reload that comes meanwhile stays for `next`.
    async fn stop(&mut self) -> StopSignal {
        stop(&mut self.terminate, &mut self.interrupt).await
    }
}

async fn stop(terminate: &mut Signal, interrupt: &mut Signal) -> StopSignal {
    tokio::select! {
        biased;
        _ = terminate.recv() => {
            tracing::info!("SIGTERM: stopping");
            StopSignal::Terminate
        }
        _ = interrupt.recv() => {
            tracing::info!("SIGINT: stopping");
            StopSignal::Interrupt
        }
    }
}

/// What a signal means.
enum Told {
    Stop(StopSignal),
    Reload,
    /// Java prints its threads. Here the components are shown.
    Show,
}

/// Which signal stopped the agent.
#[derive(Debug, Clone, Copy)]
enum StopSignal {
    Terminate,
    Interrupt,
}

impl AgentOptions {
    /// The exit status of a clean stop.
    fn stopped_by(&self, by: StopSignal) -> ExitCode {
        match by {
            _ if !self.java_exit_status => ExitCode::SUCCESS,
            StopSignal::Terminate => ExitCode::from(128 + 15),
            StopSignal::Interrupt => ExitCode::from(128 + 2),
        }
    }
}

#[cfg(test)]
mod tests;
