//! The words of the command line as clap reads them: help, manual page and completions come from here.

use crate::startup::StartupOptions;
use clap::{ArgAction, Args, Parser, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

const AGENT_EXAMPLES: &str = "\
Examples:
  flumen agent -n a1 -c /etc/flume/conf -f /etc/flume/conf/flume.conf
  flumen agent -n a1 -f flume.conf -Dflume.monitoring.type=http -Dflume.monitoring.port=41414
  flumen agent -n a1 -z zk1:2181,zk2:2181 -p /flume
  flumen agent -n a1 -c conf -f flume.conf --dryrun";

const CHECK_EXAMPLES: &str = "\
Examples:
  flumen check -f flume.conf
  flumen check -n a1 -f flume.conf --strict --format json";

const CHANNEL_EXAMPLES: &str = "\
Examples:
  flumen channel list /var/lib/flume/checkpoint /disk1/flume /disk2/flume
  flumen channel verify -f flume.conf -n a1 --channel c1 --format json
  flumen channel peek /var/lib/flume --events 5
  flumen channel export /var/lib/flume --output events.json";

/// Moves events from sources through channels to sinks, as an Apache Flume configuration says.
///
/// The same program is `flume-ng` when called by that name. Java's options may stand anywhere: -Dname=value, -Xmx512m.
/// Long options may have one dash (-name) and be cut short as long as it is clear which one is meant.
///
/// Exit status: 0 after a clean stop, 1 when nothing can run, 2 when the command line or the configuration cannot be read.
#[derive(Debug, Parser)]
#[command(name = "flumen", version, infer_long_args = true, max_term_width = 110)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs an agent until SIGTERM or SIGINT.
    ///
    /// SIGHUP reads the configuration again. The first SIGTERM or SIGINT stops sources, then sinks, then channels; a second
    /// one ends the program at once.
    ///
    /// Exit status: 0 after a clean stop, 1 when nothing can run, 2 when the command line or the configuration cannot be read,
    /// 70 when a fault of the program has broken a channel.
    Agent(AgentArgs),
    /// The old name of `agent`.
    #[command(hide = true)]
    Node(AgentArgs),
    /// Says everything that is wrong with a configuration, and starts nothing.
    ///
    /// Exit status: 0 when it can run as it is, 1 when something in it is wrong, 2 when it cannot be read.
    Check(CheckArgs),
    /// Runs the cases of a file: events through the interceptors and the selector of a source.
    ///
    /// Exit status: 0 when all pass, 1 when one fails, 2 when the file or the configuration cannot be used.
    Test {
        /// The cases, as TOML.
        file: PathBuf,
        /// The configuration folder: flume-env.sh and lookups.properties in it are read.
        #[arg(short = 'c', long, value_name = "DIR")]
        conf: Option<PathBuf>,
    },
    /// Lists every type that a configuration can name.
    Components {
        /// As JSON: names, properties, defaults and documentation.
        #[arg(long)]
        json: bool,
    },
    /// Sends the lines of files or of standard input to an Avro source, or to whoever a properties file says.
    ///
    /// Exit status: 0 when all was sent, 1 when not, 2 when the command line cannot be read.
    AvroClient(AvroClientArgs),
    /// Looks into the directories of a file channel that no agent uses, and repairs them.
    ///
    /// Exit status: 0 when all is well, 1 when something is damaged, missing or lost, 2 when nothing could be done: the
    /// directories are in use or cannot be read, or the command line is wrong.
    #[command(after_long_help = CHANNEL_EXAMPLES)]
    Channel {
        #[command(subcommand)]
        action: ChannelAction,
    },
    /// Runs Flume's tools: FCINTEGRITYTOOL.
    Tool(Rest),
    /// Prints the version. As `flume-ng`, or with --java, in the five lines of Java Flume.
    Version {
        /// Name and version, repository, revision, builder and date, checksum: one line each.
        #[arg(long)]
        java: bool,
        #[command(flatten)]
        rest: Rest,
    },
    /// Prints a completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints the manual page, of the program or of one of its commands.
    Man {
        /// The command.
        command: Option<String>,
    },
}

/// What is taken and not looked at.
#[derive(Debug, Args)]
pub(super) struct Rest {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) rest: Vec<String>,
}

/// What is done with a file channel.
#[derive(Debug, Subcommand)]
pub(super) enum ChannelAction {
    /// Names the checkpoint and the data files, and how many events wait in each. Writes nothing.
    List(ChannelArgs),
    /// Reads every record, and says what is damaged, missing or lost. Writes nothing.
    Verify(ChannelArgs),
    /// Shows the events that are next to be delivered. They stay, and nothing is written.
    Peek {
        #[command(flatten)]
        args: ChannelArgs,
        /// How many events.
        #[arg(long, value_name = "N", default_value_t = 10, help_heading = TELLS)]
        events: u64,
        /// How many bytes of each body, in text.
        #[arg(long, value_name = "N", default_value_t = 200, help_heading = TELLS)]
        bytes: usize,
    },
    /// Settles what opening would settle, so that Flumen and Java Flume can open it.
    ///
    /// Damaged bytes are kept in a `quarantine-N` beside the data file. Flumen does the same at every start: this is for going
    /// back to Java Flume, and for knowing before.
    Repair(ChannelArgs),
    /// Writes all events that wait: as JSON, one object a line with the body in Base64, or each body as a line. They stay in
    /// the channel.
    Export {
        #[command(flatten)]
        args: ChannelArgs,
        /// The file that is made; without it, standard output.
        #[arg(short = 'o', long, value_name = "FILE", help_heading = TELLS)]
        output: Option<PathBuf>,
    },
}

/// Which channel.
#[derive(Debug, Args)]
pub(super) struct ChannelArgs {
    /// Its directories, those of the data in the order of dataDirs; or one that they are in. What each is for is seen from what
    /// is in it.
    #[arg(value_name = "DIR", required_unless_present = "channel", conflicts_with = "channel")]
    pub(super) dirs: Vec<PathBuf>,
    /// The directory of the checkpoint, where it is not among them or is empty.
    #[arg(long, value_name = "DIR", conflicts_with = "channel")]
    pub(super) checkpoint_dir: Option<PathBuf>,
    /// In place of directories: the name of a file channel of the configuration, whose keys are needed where it is encrypted.
    #[arg(long, value_name = "NAME", requires = "name")]
    pub(super) channel: Option<String>,
    /// How it is told. The default is text, and for an export JSON.
    #[arg(long, help_heading = TELLS, value_enum)]
    pub(super) format: Option<Format>,
    #[command(flatten)]
    pub(super) target: TargetArgs,
}

/// The flags of Java's integrity tool.
#[derive(Debug, Parser)]
#[command(name = "FCINTEGRITYTOOL", no_binary_name = true, disable_help_flag = true)]
pub(super) struct IntegrityArgs {
    /// Data directories of a file channel that no agent uses, separated by commas. What is damaged in their files becomes a
    /// no-op; a file is copied to log-N.bak before.
    #[arg(short = 'l', long = "dataDirs", value_name = "DIR,…", value_delimiter = ',')]
    pub(super) data_dirs: Vec<PathBuf>,
    /// A Java class that says which events are valid: refused.
    #[arg(short = 'e', long = "eventValidator", value_name = "CLASS")]
    pub(super) event_validator: Option<String>,
    /// A setting for that class.
    #[arg(short = 'D', value_name = "KEY=VALUE")]
    pub(super) validator_settings: Vec<String>,
    /// Prints this.
    #[arg(short = 'h', long)]
    pub(super) help: bool,
}

/// What is sent where.
#[derive(Debug, Args)]
pub(super) struct AvroClientArgs {
    /// The host of an Avro source.
    #[arg(short = 'H', long, required_unless_present = "rpc_props")]
    pub(super) host: Option<String>,
    /// Its port.
    #[arg(short = 'p', long, required_unless_present = "rpc_props", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: Option<u16>,
    /// The file whose lines are sent; without it, and without --dirname, standard input.
    #[arg(short = 'F', long, value_name = "FILE", conflicts_with = "dirname")]
    pub(super) filename: Option<PathBuf>,
    /// The folder whose files are sent, oldest first; each that is sent gets the ending .COMPLETED.
    #[arg(long, value_name = "DIR")]
    pub(super) dirname: Option<PathBuf>,
    /// A file of headers for every event, one name=value a line.
    #[arg(short = 'R', long = "headerFile", value_name = "FILE")]
    pub(super) header_file: Option<PathBuf>,
    /// A properties file that says who gets the events, and how (client.type, hosts, batch-size, ssl …). It wins over --host
    /// and --port.
    #[arg(short = 'P', long = "rpcProps", value_name = "FILE")]
    pub(super) rpc_props: Option<PathBuf>,
    /// End with 0 also when not all was sent, as Java's client does.
    #[arg(long)]
    pub(super) java_exit_status: bool,
    /// The configuration folder: flume-env.sh, log4j2.xml and log4j.properties in it are read.
    #[arg(short = 'c', long, value_name = "DIR", help_heading = JAVA)]
    pub(super) conf: Option<PathBuf>,
    /// Java's class path: nothing of it is used.
    #[arg(short = 'C', long, value_name = "PATH", help_heading = JAVA)]
    pub(super) classpath: Option<String>,
    /// Where plugins are: none can be loaded.
    #[arg(long, value_name = "DIRS", help_heading = JAVA)]
    pub(super) plugins_path: Option<String>,
}

/// The headings of options in help.
const JAVA: &str = "In place of a JVM";
const RUNS: &str = "How it runs";
const TELLS: &str = "How it is told";

/// Which configuration, and what the process is started with.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Which configuration")]
pub(super) struct TargetArgs {
    /// The name of the agent in the configuration.
    #[arg(short = 'n', long, value_name = "AGENT")]
    pub(super) name: Option<String>,
    /// A configuration file. Of several, a later one wins.
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(super) conf_file: Vec<PathBuf>,
    /// The configuration folder: flume-env.sh, log4j2.xml, log4j.properties and flume.opts in it are read.
    #[arg(short = 'c', long, value_name = "DIR")]
    pub(super) conf: Option<PathBuf>,
    /// A configuration at file:, http:, https: or classpath:. Of several, a later one wins.
    #[arg(short = 'u', long, value_name = "URI")]
    pub(super) conf_uri: Vec<String>,
    /// ZooKeeper's addresses: the configuration is the content of the node BASE/AGENT.
    #[arg(short = 'z', long = "zkConnString", value_name = "HOST:PORT,…")]
    pub(super) zk_conn_string: Option<String>,
    /// The node above those of the agents.
    #[arg(short = 'p', long = "zkBasePath", value_name = "NODE", default_value = "/flume")]
    pub(super) zk_base_path: String,
    /// Who asks web servers for the configuration.
    #[arg(long, alias = "user", value_name = "NAME")]
    pub(super) conf_user: Option<String>,
    /// The password for web servers. It can be seen in the list of processes: flume.opts is a better place.
    #[arg(long, alias = "pwd", value_name = "TEXT")]
    pub(super) conf_password: Option<String>,
    /// Where the last good configuration is kept, to be used when no source has one.
    #[arg(short = 'b', long, value_name = "DIR")]
    pub(super) backup_directory: Option<PathBuf>,
    /// A Java class that authorises requests: only Flume's own, which is --conf-user and --conf-password.
    #[arg(short = 'a', long, value_name = "CLASS", hide = true)]
    pub(super) auth_provider: Option<String>,
    /// A Java class that provides the configuration: refused.
    #[arg(long, alias = "prov", value_name = "CLASS", hide = true)]
    pub(super) conf_provider: Option<String>,
    /// The data folder of a node, in Flume 1.0: refused.
    #[arg(long, value_name = "DIR", hide = true)]
    pub(super) data: Option<String>,
    /// Whether the host names in certificates of web servers are checked: always.
    #[arg(long, value_name = "BOOL", hide = true, num_args = 0..=1, default_missing_value = "true")]
    pub(super) verify_host: Option<bool>,
    /// Java's class path: folders are searched for classpath: addresses, jars are named as ones that cannot be loaded.
    #[arg(short = 'C', long, value_name = "PATH", help_heading = JAVA)]
    pub(super) classpath: Option<String>,
    /// Java's plug-in folders: their jars are named as ones that cannot be loaded.
    #[arg(long, value_name = "DIRS", help_heading = JAVA)]
    pub(super) plugins_path: Option<String>,
    /// Do not read flume-env.sh.
    #[arg(short = 'E', long, help_heading = JAVA)]
    pub(super) no_env: bool,
    /// Let `sh` run flume-env.sh. Without it, its simple assignments are read and other lines are named.
    #[arg(long, help_heading = JAVA)]
    pub(super) env_shell: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = AGENT_EXAMPLES)]
pub(super) struct AgentArgs {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Do not follow changes of the configuration. SIGHUP still reads it.
    #[arg(long, help_heading = RUNS)]
    pub(super) no_reload_conf: bool,
    /// Seconds between looks for changes; 0 for the default: 30, with http(s) 300.
    #[arg(short = 'i', long, help_heading = RUNS, value_name = "SECONDS", default_value_t = 0)]
    pub(super) poll_interval: u64,
    /// Seconds that sinks may take to empty the channels at the stop.
    #[arg(long, help_heading = RUNS, value_name = "SECONDS", default_value_t = 0)]
    pub(super) drain: u64,
    /// Do not start with warnings.
    #[arg(long, help_heading = RUNS)]
    pub(super) strict: bool,
    /// Print the command line as it counts, and what it would run, and run nothing.
    ///
    /// Standard output gets the command line, with what flume-env.sh and flume.opts add; standard error gets what `check` says.
    /// The exit status is 0 where the agent would start.
    #[arg(short = 'd', long, help_heading = RUNS)]
    pub(super) dryrun: bool,
    /// End with 143 after SIGTERM and 130 after SIGINT, as a JVM does, and not with 0.
    #[arg(long, help_heading = RUNS)]
    pub(super) java_exit_status: bool,
    /// Log lines as JSON, on standard error.
    #[arg(long, help_heading = RUNS)]
    pub(super) log_json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Warnings are faults too.
    #[arg(long, help_heading = TELLS)]
    pub(super) strict: bool,
    /// How problems are printed.
    #[arg(long, help_heading = TELLS, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

/// How `check` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// A line each, for people.
    Text,
    /// One object, for programs.
    Json,
}

impl TargetArgs {
    pub(super) fn startup(&self, java_options: Vec<String>) -> StartupOptions {
        StartupOptions {
            conf: self.conf.clone(),
            class_path: self.classpath.clone(),
            plugins_path: self.plugins_path.clone(),
            java_options,
            env_file: !self.no_env,
            env_shell: self.env_shell,
        }
    }
}

/// Whether an option is followed by a value.
pub(super) fn takes_value(arg: &clap::Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}
