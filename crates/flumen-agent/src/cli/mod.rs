//! The command line: Flume's words and ours, the same for `flumen` and `flume-ng`.

use crate::{
    commands::{Program, Target, agent, check, components},
    conf::Sources,
};
use clap::{Args, Parser, Subcommand};
use flumen_core::registry::{Environment, Registry};
use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};
use tracing_subscriber::EnvFilter;

/// Moves events from sources through channels to sinks, as an Apache Flume configuration says.
#[derive(Debug, Parser)]
#[command(name = "flumen", version, disable_help_subcommand = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs an agent until SIGTERM or SIGINT.
    Agent(AgentArgs),
    /// Says everything that is wrong with a configuration, and starts nothing.
    Check(CheckArgs),
    /// Lists every type that a configuration can name.
    Components {
        /// As JSON: names, properties, defaults and documentation.
        #[arg(long)]
        json: bool,
    },
    /// Prints the version.
    Version,
}

#[derive(Debug, Args)]
struct TargetArgs {
    /// The name of the agent in the configuration.
    #[arg(short = 'n', long = "name")]
    name: String,
    /// The configuration file; of several, a later one wins.
    #[arg(short = 'f', long = "conf-file", required = true)]
    conf_file: Vec<PathBuf>,
    /// The configuration folder.
    #[arg(short = 'c', long = "conf")]
    conf: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct AgentArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Do not follow changes of the configuration file.
    #[arg(long)]
    no_reload_conf: bool,
    /// Seconds between looks for changes.
    #[arg(short = 'i', long, default_value_t = 30)]
    poll_interval: u64,
    /// Seconds that sinks may take to empty the channels at the stop.
    #[arg(long, default_value_t = 0)]
    drain: u64,
    /// Do not start with warnings.
    #[arg(long)]
    strict: bool,
    /// Log lines as JSON.
    #[arg(long)]
    log_json: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    #[command(flatten)]
    target: TargetArgs,
    /// Warnings are faults too.
    #[arg(long)]
    strict: bool,
}

impl TargetArgs {
    fn target(self, program: &Program) -> Target {
        let environment = program.environment.clone();
        let conf_dirs = self.conf.into_iter().collect();
        let sources = Sources { files: self.conf_file, conf_dirs, environment, ..Sources::default() };
        Target { agent: self.name, sources }
    }
}

/// Runs the program with these types.
pub fn main(registry: Registry) -> ExitCode {
    let mut properties = BTreeMap::new();
    let (java, words): (Vec<_>, Vec<_>) = std::env::args().partition(|word| word.starts_with("-D"));
    for setting in java {
        let (name, value) = setting[2..].split_once('=').unwrap_or((&setting[2..], ""));
        properties.insert(name.to_owned(), value.to_owned());
    }
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let environment = Environment { properties, variables, ..Environment::default() };
    let program = Program { registry: Arc::new(registry), environment: Arc::new(environment) };
    match Cli::parse_from(words).command {
        Command::Agent(args) => run_agent(&program, args),
        Command::Check(args) => done(check::run(&program, &args.target.target(&program), args.strict)),
        Command::Components { json } => {
            done(components::run(&program.registry, json).map(|()| ExitCode::SUCCESS))
        }
        Command::Version => {
            println!("Flumen {}", env!("CARGO_PKG_VERSION"));
            ExitCode::SUCCESS
        }
    }
}

/// Standard output that is closed early (`| head`) is no failure.
fn done(result: io::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flumen: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_agent(program: &Program, args: AgentArgs) -> ExitCode {
    let builder = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("info"))
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    if args.log_json {
        builder.json().init();
    } else {
        builder.init();
    }
    let options = agent::AgentOptions {
        target: args.target.target(program),
        reload: !args.no_reload_conf,
        poll_interval: Duration::from_secs(args.poll_interval.max(1)),
        drain: Duration::from_secs(args.drain),
        strict: args.strict,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(agent::run(program, &options)),
        Err(error) => {
            eprintln!("flumen: no runtime: {error}");
            ExitCode::FAILURE
        }
    }
}
