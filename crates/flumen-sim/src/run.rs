//! One run: an agent lives through what happens to it, gets well, and is asked whether anything is missing.

use crate::{
    STUCK_AFTER_S,
    observer::{Guard, Observer},
    ops::{self, Op},
    scenario::Scenario,
    sink::ScriptedSink,
    source::ScriptedSource,
};
use fastrand::Rng;
use flumen_agent::{
    agent::{Agent, World},
    conf::{ConfigText, load},
    plan::{self, Plan, PlanContext},
};
use flumen_core::{
    config::Severity,
    metrics::Value,
    registry::{Environment, Kind, Registry},
    world::SetClock,
};
use flumen_java::properties::Encoding;
use std::{
    collections::BTreeMap,
    ops::AddAssign,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout};

/// Beyond what it may drain, how long a stop of an agent may take: 10 s for its sources, and as much for its sinks and channels.
const STOP_LIMIT: Duration = Duration::from_secs(45);

/// How long everything that is owed may take to arrive once all is well.
const HEAL_LIMIT: Duration = Duration::from_secs(1_800);

/// What runs did, so that runs that do nothing are noticed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Runs.
    pub runs: u64,
    /// Events that sources were told are stored.
    pub acknowledged: u64,
    /// Reloads of a changed configuration.
    pub reloads: u64,
    /// Orderly stops, but the last one of each run.
    pub restarts: u64,
    /// Processes gone at once.
    pub crashes: u64,
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.acknowledged += other.acknowledged;
        self.reloads += other.reloads;
        self.restarts += other.restarts;
        self.crashes += other.crashes;
    }
}

/// What went wrong in a run, and all that happened in it.
#[derive(Debug)]
pub struct Failure {
    /// The first thing that must not be.
    pub what: String,
    /// The configuration at the end, and what happened, in order.
    pub trace: Vec<String>,
}

/// The run of a seed.
///
/// # Errors
/// Something happened that must never happen.
pub fn run_seed(seed: u64) -> Result<Figures, Failure> {
    run_ops(seed, &ops_of(seed))
}

/// What happens in the run of a seed.
pub(crate) fn ops_of(seed: u64) -> Vec<Op> {
    ops::some(&mut Rng::with_seed(seed ^ 0x6f70_735f))
}

/// The run of a seed, with other things that happen.
pub(crate) fn run_ops(seed: u64, ops: &[Op]) -> Result<Figures, Failure> {
    static WORLDS: AtomicU64 = AtomicU64::new(1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime without I/O needs nothing of the system");
    runtime.block_on(async {
        let world = WORLDS.fetch_add(1, Ordering::Relaxed);
        let mut rng = Rng::with_seed(seed);
        let (observer, guard) = Observer::enter(world, rng.fork());
        let mut run = Run::new(seed, world, observer, guard, &mut rng);
        let life = timeout(Duration::from_secs(STUCK_AFTER_S), run.live(ops)).await;
        if life.is_err() {
            run.observer.problem(format!("stuck: the run is not over after {STUCK_AFTER_S} s"));
        }
        match run.observer.verdict() {
            None => Ok(run.figures),
            Some((what, mut trace)) => {
                trace.insert(0, run.text());
                Err(Failure { what, trace })
            }
        }
    })
}

struct Run {
    seed: u64,
    world: u64,
    observer: Arc<Observer>,
    registry: Arc<Registry>,
    scenario: Scenario,
    /// The most that each channel may have had room for.
    capacities: BTreeMap<usize, u64>,
    agent: Option<Agent>,
    figures: Figures,
    _guard: Guard,
}

impl Run {
    fn new(seed: u64, world: u64, observer: Arc<Observer>, guard: Guard, rng: &mut Rng) -> Self {
        let registry = flumen_agent::registry().source::<ScriptedSource>().sink::<ScriptedSink>();
        Self {
            seed,
            world,
            observer,
            registry: Arc::new(registry),
            scenario: Scenario::new(rng),
            capacities: BTreeMap::new(),
            agent: None,
            figures: Figures { runs: 1, ..Figures::default() },
            _guard: guard,
        }
    }

    async fn live(&mut self, ops: &[Op]) {
        self.start().await;
        for op in ops {
            self.observer.note(&format!("{op:?}"));
            match *op {
                Op::Wait(ms) => self.wait(ms).await,
                Op::Reload(chance) => {
                    let next = self.scenario.edited(&mut Rng::with_seed(chance));
                    self.scenario = next;
                    self.figures.reloads += 1;
                    self.apply().await;
                    self.wait(500).await;
                }
                Op::Restart(drain_s) => {
                    self.stop(Duration::from_secs(drain_s.into())).await;
                    self.figures.restarts += 1;
                    self.start().await;
                }
                Op::Crash => {
                    drop(self.agent.take());
                    // What was aborted ends at its next turn.
                    sleep(Duration::from_millis(1)).await;
                    self.observer.ended(None);
                    self.figures.crashes += 1;
                    self.start().await;
                }
                Op::Storm(ms) => {
                    self.observer.storm_until(Instant::now() + Duration::from_millis(ms.into()));
                    self.wait(ms / 2).await;
                }
            }
            if self.observer.is_wrong() {
                return;
            }
        }
        self.heal().await;
        self.figures.acknowledged = self.observer.counts().2;
    }

    /// Everything is well now: all that is owed arrives, the figures agree, and the end leaves nothing.
    async fn heal(&mut self) {
        self.observer.be_over();
        let deadline = Instant::now() + HEAL_LIMIT;
        for n in 0..self.scenario.sources.len() {
            while !self.observer.well().contains(&*format!("r{n}")) {
                if Instant::now() > deadline {
                    return self
                        .observer
                        .problem(format!("stuck: all is well, and source r{n} cannot put anything"));
                }
                self.wait(1_000).await;
                if self.observer.is_wrong() {
                    return;
                }
            }
        }
        while let Some((number, channel)) = self.observer.owed() {
            if Instant::now() > deadline {
                let what =
                    format!("lost: event {number} was acknowledged, and does not come out of c{channel}");
                return self.observer.problem(what);
            }
            self.wait(1_000).await;
            if self.observer.is_wrong() {
                return;
            }
        }
        // What was not acknowledged may be on its way, too.
        while self.figure("EventsInChannels") + self.figure("EventsInFlight") > 0 {
            if Instant::now() > deadline {
                let of = |name| self.figure(name);
                let (in_channels, in_flight) = (of("EventsInChannels"), of("EventsInFlight"));
                return self.observer.problem(format!(
                    "figures: nothing is owed, and {in_channels} are said to be in channels, {in_flight} in flight"
                ));
            }
            self.wait(1_000).await;
        }
        let (received, accepted, _) = self.observer.counts();
        for (name, due) in [("EventReceivedCount", received), ("EventAcceptedCount", accepted)] {
            let said = self.figure(name);
            if u64::try_from(said) != Ok(due) {
                self.observer.problem(format!("figures: {name} is {said}, and {due} were seen"));
            }
        }
        self.stop(Duration::from_secs(60)).await;
    }

    async fn start(&mut self) {
        let clock = Arc::new(SetClock::at(1_700_000_000_000));
        let world = World { clock, seed: self.seed, environment: Arc::new(Environment::default()) };
        self.agent = Some(Agent::new(self.registry.clone(), world));
        self.capacities.clear();
        self.apply().await;
    }

    async fn apply(&mut self) {
        for (n, channel) in self.scenario.channels.iter().enumerate() {
            let most = self.capacities.entry(n).or_default();
            *most = channel.capacity.max(*most);
            let (n_runners, n_sinks) = self.scenario.takers(n);
            if n_sinks > 1 {
                self.observer.share(n, n_runners > 1);
            }
        }
        let text = self.text();
        let (plan, mut problems) = self.plan(&text);
        let Some(agent) = &mut self.agent else { return };
        let began = Instant::now();
        problems.extend(agent.apply(plan).await.problems.iter().map(ToString::to_string));
        if began.elapsed() > STOP_LIMIT {
            self.observer.problem(format!("a reload took {:?}", began.elapsed()));
        }
        if !problems.is_empty() {
            self.observer.problem(format!("the configuration is refused: {problems:?}\n{text}"));
        }
    }

    fn text(&self) -> String {
        self.scenario.text(self.world, |rules| self.observer.number_of(rules))
    }

    fn plan(&self, text: &str) -> (Plan, Vec<String>) {
        let context = PlanContext {
            registry: self.registry.clone(),
            environment: Arc::default(),
            clock: Arc::new(SetClock::default()),
        };
        let text = ConfigText { name: "flume.conf".into(), bytes: text.into(), encoding: Encoding::Latin1 };
        let (plan, problems) = plan::read(&load(&[text]).0, "a", &context);
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        (plan, errors.map(ToString::to_string).collect())
    }

    /// Lets time pass, and looks at the agent now and then.
    async fn wait(&mut self, ms: u32) {
        let end = Instant::now() + Duration::from_millis(ms.into());
        while Instant::now() < end && !self.observer.is_wrong() {
            sleep((end - Instant::now()).min(Duration::from_millis(700))).await;
            self.look();
        }
    }

    fn look(&self) {
        let Some(agent) = &self.agent else { return };
        for channel in agent.board().report().iter().filter(|component| component.kind == Kind::Channel) {
            let size = channel.readings.iter().find(|reading| reading.name == "ChannelSize");
            let number = channel.name.strip_prefix('c').and_then(|digits| digits.parse().ok());
            let (Some(size), Some(number)) = (size, number) else { continue };
            let most = self.capacities.get(&number).copied().unwrap_or(0);
            #[expect(clippy::cast_precision_loss, reason = "capacities here have two digits")]
            if matches!(size.value, Value::Gauge(n) if n > most as f64) {
                self.observer.problem(format!(
                    "capacity: {:?} are in {}, which has room for {most}",
                    size.value, channel.name
                ));
            }
        }
        for name in ["EventBalance", "EventsInFlight"] {
            let value = self.figure(name);
            if value < 0 || (name == "EventBalance" && value != 0) {
                self.observer.problem(format!("figures: {name} is {value}"));
            }
        }
    }

    fn figure(&self, name: &str) -> i64 {
        let Some(agent) = &self.agent else { return 0 };
        let figures = agent.board().report_with_totals().1.figures();
        figures.iter().find(|(figure, _)| *figure == name).map_or(0, |(_, value)| *value)
    }

    async fn stop(&mut self, drain: Duration) {
        let Some(agent) = self.agent.take() else { return };
        let began = Instant::now();
        let report = agent.stop(drain).await;
        if began.elapsed() > drain + STOP_LIMIT {
            self.observer.problem(format!("a stop took {:?}", began.elapsed()));
        }
        if self.observer.is_over() && (!report.left.is_empty() || report.cut_off > 0) {
            self.observer.problem(format!("all was well, and the stop left {report:?}"));
        }
        let left = report.left.iter().filter_map(|left| {
            let number = left.channel.strip_prefix('c').and_then(|digits| digits.parse().ok())?;
            Some((number, left.events))
        });
        self.observer.ended(Some(&left.collect()));
    }
}
