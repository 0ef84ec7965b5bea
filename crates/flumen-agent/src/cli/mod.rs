//! The command line: Flume's words and ours, the same for `flumen` and `flume-ng`.

mod args;
mod dry_run;
mod options_file;
mod tools;
mod version;
mod words;

use crate::{
    commands::{Program, Target, agent, avro_client, check, components, config_test},
    conf::{Origins, Sources},
    logging::{self, Logging},
    plan,
    startup::Startup,
};
use args::{AgentArgs, AvroClientArgs, CheckArgs, Cli, Command, Format, TargetArgs};
use clap::{CommandFactory, FromArgMatches};
use flumen_core::{config::Secret, registry::Registry};
use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};
use words::Words;

/// Exit status of a command line that cannot be understood.
const USAGE: u8 = 2;
/// The class of Java's that does what `--conf-user` and `--conf-password` do.
const BASIC_AUTHORIZATION: &str = "org.apache.flume.node.net.BasicAuthorizationProvider";

/// How long work that blocks may still take when the agent has stopped.
const LAST_WORK: std::time::Duration = std::time::Duration::from_secs(3);
/// How long the configuration may take to be read only to name its agents.
const LOOK_FOR_AGENTS: Duration = Duration::from_secs(5);

/// Runs the program with these types.
pub fn main(registry: Registry) -> ExitCode {
    run(registry).unwrap_or_else(|refused| refused.tell())
}

/// Why a command line is not carried out.
enum Refused {
    /// By clap: also help and version, which are no failures.
    Words(clap::Error),
    /// In one line.
    Line(String),
}

impl Refused {
    fn tell(&self) -> ExitCode {
        match self {
            Self::Words(error) => {
                let _ = error.print();
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
            }
            Self::Line(line) => {
                let _ = writeln!(io::stderr(), "flumen: {line}");
                ExitCode::from(USAGE)
            }
        }
    }
}

/// A command line that was understood.
struct Parsed {
    command: Command,
    java: Vec<String>,
    /// The words, as they count.
    words: Vec<String>,
    notes: Vec<String>,
}

fn run(registry: Registry) -> Result<ExitCode, Refused> {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let called = words.first().map(Path::new).and_then(Path::file_name);
    let as_java = called.is_some_and(|name| name == "flume-ng");
    let parsed = parse(words, as_java)?;
    let command = parsed.command;
    let code = match command {
        Command::Agent(args) => run_agent(registry, args, parsed.java, parsed.words, parsed.notes),
        Command::Node(args) => {
            let mut notes = parsed.notes;
            notes.push("`node` is the old name of `agent`: write `agent`".to_owned());
            run_agent(registry, args, parsed.java, parsed.words, notes)
        }
        Command::Check(args) => run_check(registry, args, parsed.java, parsed.notes),
        Command::Test { file, conf } => run_test(registry, &file, conf, parsed.java),
        Command::Components { json } => {
            Ok(done(components::run(&registry, json).map(|()| ExitCode::SUCCESS)))
        }
        Command::AvroClient(args) => run_avro_client(registry, args, parsed.java, parsed.notes),
        Command::Channel { action } => tools::channel(registry, action, parsed.java),
        Command::Tool(args) => Ok(done(tools::java_tool(&args.rest, &mut io::stdout().lock()))),
        Command::Version { java, .. } => Ok(done(print_version(java || as_java))),
        Command::Completions { shell } => {
            let name = if as_java { "flume-ng" } else { "flumen" };
            clap_complete::generate(shell, &mut Cli::command(), name, &mut io::stdout());
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { command } => man(command.as_deref()),
    }?;
    Ok(code)
}

/// Reads the words, and flume.opts for what they do not say.
fn parse(words: Vec<String>, as_java: bool) -> Result<Parsed, Refused> {
    let mut program = Cli::command();
    if as_java {
        program = program.name("flume-ng").bin_name("flume-ng");
    }
    program.build();
    let Words { mut ours, java } = words::sort(words, &program);
    let mut matches = program.clone().try_get_matches_from(&ours).map_err(Refused::Words)?;
    let mut notes = Vec::new();
    if let Some((name @ ("agent" | "node" | "check"), given)) = matches.subcommand() {
        let conf = given.get_one::<PathBuf>("conf").map(PathBuf::as_path);
        if let Some(path) = options_file::find(conf) {
            // `check` is told of options that only the agent has, too: those are none of its business.
            let known = program.find_subcommand(name).expect("it was just parsed");
            let read = options_file::read(&path, known, given);
            let added =
                read.map_err(|error| Refused::Line(format!("cannot read {}: {error}", path.display())))?;
            ours.extend(added.words);
            if name != "check" {
                notes = added.notes;
            }
            matches = program.clone().try_get_matches_from(&ours).map_err(Refused::Words)?;
        }
    }
    let cli = Cli::from_arg_matches(&matches).map_err(Refused::Words)?;
    Ok(Parsed { command: cli.command, java, words: ours, notes })
}

fn print_version(as_java: bool) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    if as_java {
        for line in version::THIS.java_lines() {
            writeln!(out, "{line}")?;
        }
    } else {
        writeln!(out, "Flumen {}", version::THIS.number)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn man(command: Option<&str>) -> Result<ExitCode, Refused> {
    let mut program = Cli::command();
    program.build();
    let page = match command {
        None => program,
        Some(name) => {
            let found = program.find_subcommand(name).cloned();
            let found = found.ok_or_else(|| Refused::Line(format!("man: there is no command `{name}`")))?;
            found.name(format!("flumen-{name}"))
        }
    };
    Ok(done(clap_mangen::Man::new(page).render(&mut io::stdout()).map(|()| ExitCode::SUCCESS)))
}

/// Standard output that is closed early (`| head`) is no failure.
fn done(result: io::Result<ExitCode>) -> ExitCode {
    match result {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "flumen: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The program with what it was started with.
fn start(registry: Registry, args: &TargetArgs, java: Vec<String>) -> Result<(Program, Startup), Refused> {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    let variables: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let startup =
        Startup::read(&args.startup(java), variables).map_err(|error| Refused::Line(error.to_string()))?;
    let environment = Arc::new(startup.environment.clone());
    Ok((Program { registry: Arc::new(registry), environment }, startup))
}

/// What cannot be done without a JVM, and a configuration that is not named.
fn refuse(args: &TargetArgs) -> Result<(), Refused> {
    if let Some(class) = &args.conf_provider {
        let what = format!(
            "--conf-provider {class}: Java classes cannot be loaded; name the configuration with -f, -u or -z"
        );
        return Err(Refused::Line(what));
    }
    if let Some(class) = args.auth_provider.as_deref().filter(|class| *class != BASIC_AUTHORIZATION) {
        let what = format!(
            "--auth-provider {class}: Java classes cannot be loaded; --conf-user and --conf-password give basic authorisation"
        );
        return Err(Refused::Line(what));
    }
    if args.verify_host == Some(false) {
        let what = "--verify-host false: host names of web servers are always checked; trust their certificate with \
                    -Djavax.net.ssl.trustStore";
        return Err(Refused::Line(what.to_owned()));
    }
    if let Some(folder) = &args.data {
        let what = format!(
            "--data {folder}: only Flume 1.0 has it; name folders in the configuration (dataDirs, checkpointDir)"
        );
        return Err(Refused::Line(what));
    }
    Ok(())
}

fn names_configuration(args: &TargetArgs) -> bool {
    !args.conf_file.is_empty() || !args.conf_uri.is_empty() || args.zk_conn_string.is_some()
}

/// That no configuration is named.
fn unnamed() -> Refused {
    Refused::Line("no configuration was named: add -f FILE, -u URI or -z HOST:PORT".to_owned())
}

/// Where the flags say that the configuration is.
fn target(args: &TargetArgs, agent: &str, program: &Program, folders: Vec<PathBuf>) -> Target {
    let sources = Sources {
        files: args.conf_file.clone(),
        uris: args.conf_uri.clone(),
        zookeeper: args.zk_conn_string.clone(),
        zookeeper_base: args.zk_base_path.clone(),
        user: args.conf_user.clone(),
        password: args.conf_password.clone().map(Secret::new),
        conf_dirs: folders,
        backup_dir: args.backup_directory.clone(),
        environment: program.environment.clone(),
    };
    Target { agent: agent.to_owned(), sources }
}

fn run_check(
    registry: Registry,
    args: CheckArgs,
    java: Vec<String>,
    mut notes: Vec<String>,
) -> Result<ExitCode, Refused> {
    refuse(&args.target)?;
    if !names_configuration(&args.target) {
        return Err(unnamed());
    }
    let (program, startup) = start(registry, &args.target, java)?;
    notes.extend(startup.notes);
    let name = args.target.name.as_deref().unwrap_or_default();
    let options = check::CheckOptions {
        target: target(&args.target, name, &program, startup.folders),
        strict: args.strict,
        unknown_keys_fail: true,
        json: args.format == Format::Json,
        notes,
    };
    Ok(done(check::run(&program, &options, &mut io::stdout().lock())))
}

fn run_test(
    registry: Registry,
    file: &Path,
    conf: Option<PathBuf>,
    java: Vec<String>,
) -> Result<ExitCode, Refused> {
    let args = TargetArgs { conf, ..TargetArgs::default() };
    let (program, startup) = start(registry, &args, java)?;
    for note in &startup.notes {
        let _ = writeln!(io::stderr(), "warning: {note}");
    }
    Ok(done(config_test::run(&program, file, &startup.folders)))
}

fn run_avro_client(
    registry: Registry,
    args: AvroClientArgs,
    java: Vec<String>,
    mut notes: Vec<String>,
) -> Result<ExitCode, Refused> {
    let peer = match (args.rpc_props, args.host, args.port) {
        (Some(file), ..) => avro_client::Peer::Properties(file),
        (None, Some(host), Some(port)) => avro_client::Peer::Address(host, port),
        _ => return Err(Refused::Line("whom to send to? add --host and --port, or --rpcProps".to_owned())),
    };
    let input = match (args.filename, args.dirname) {
        (Some(file), _) => avro_client::Input::File(file),
        (None, Some(folder)) => avro_client::Input::Folder(folder),
        (None, None) => avro_client::Input::Standard,
    };
    let target = TargetArgs {
        conf: args.conf,
        classpath: args.classpath,
        plugins_path: args.plugins_path,
        ..TargetArgs::default()
    };
    let (program, startup) = start(registry, &target, java)?;
    notes.extend(startup.notes);
    let environment = &program.environment;
    let settings =
        logging::Settings::read(environment, target.conf.as_deref(), false, &program.registry, &mut notes);
    let logging = Logging::start(settings).map_err(Refused::Line)?;
    notes.iter().for_each(|note| tracing::warn!("{note}"));
    let java_exit_status = args.java_exit_status;
    let options =
        avro_client::AvroClientOptions { peer, input, header_file: args.header_file, java_exit_status };
    let code = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(avro_client::run(&options, environment)),
        Err(error) => {
            tracing::error!("no runtime: {error}");
            ExitCode::FAILURE
        }
    };
    // Writes what is queued.
    drop(logging);
    Ok(code)
}

fn run_agent(
    registry: Registry,
    args: AgentArgs,
    java: Vec<String>,
    words: Vec<String>,
    mut notes: Vec<String>,
) -> Result<ExitCode, Refused> {
    refuse(&args.target)?;
    let name = args.target.name.clone().filter(|name| !name.is_empty());
    let named = names_configuration(&args.target);
    if !args.dryrun && name.is_some() && !named {
        return Err(unnamed());
    }
    let (program, startup) = start(registry, &args.target, java)?;
    if args.dryrun {
        notes.extend(startup.notes);
        let name = name.filter(|_| named);
        let target = name.map(|name| target(&args.target, &name, &program, startup.folders));
        return Ok(done(dry_run::run(&words, &program, target, args.strict, notes)));
    }
    let Some(name) = name else {
        return Err(Refused::Line(which_agent(&args.target, &program, startup.folders)));
    };
    let settings = logging::Settings::read(
        &program.environment,
        args.target.conf.as_deref(),
        args.log_json,
        &program.registry,
        &mut notes,
    );
    let logging = Logging::start(settings).map_err(Refused::Line)?;
    notes.extend(startup.notes);
    for note in &notes {
        tracing::warn!("{note}");
    }
    let options = agent::AgentOptions {
        target: target(&args.target, &name, &program, startup.folders),
        reload: !args.no_reload_conf,
        poll_interval: Duration::from_secs(args.poll_interval),
        drain: Duration::from_secs(args.drain),
        strict: args.strict,
        java_exit_status: args.java_exit_status,
    };
    let code = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => {
            let code = runtime.block_on(agent::run(&program, &options));
            // A file of a disk that hangs keeps its thread; it does not keep the process.
            runtime.shutdown_timeout(LAST_WORK);
            code
        }
        Err(error) => {
            tracing::error!("no runtime: {error}");
            ExitCode::FAILURE
        }
    };
    // Writes what is queued.
    drop(logging);
    Ok(code)
}

/// That no agent is named, with the agents that there are.
fn which_agent(args: &TargetArgs, program: &Program, folders: Vec<PathBuf>) -> String {
    let ask = "which agent is to run? add -n AGENT, with the name that the keys in the file begin with";
    if args.zk_conn_string.is_some() {
        return ask.to_owned();
    }
    let mut origins = Origins::new(target(args, "", program, folders).sources, "");
    let read = async { tokio::time::timeout(LOOK_FOR_AGENTS, program.read_entries(&mut origins)).await };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map(|runtime| runtime.block_on(read)) {
        Ok(Ok(Ok((entries, _)))) => match plan::agents(&entries).as_slice() {
            [] => format!("{ask}; there is none in {}", entries.files.join(", ")),
            names => format!("{ask}: {}", plan::some_names(names)),
        },
        _ => ask.to_owned(),
    }
}
