//! The commands about file channels: `channel`, and Java's `tool`.

use super::{
    Refused,
    args::{ChannelAction, ChannelArgs, Format, IntegrityArgs},
    done, names_configuration, refuse, start, target, unnamed,
};
use crate::commands::{
    channel::{self, Action, Chosen, Form},
    integrity_tool,
};
use clap::{CommandFactory, Parser};
use flumen_core::registry::Registry;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// The one tool that Java Flume has.
const INTEGRITY: &str = "FCINTEGRITYTOOL";

/// `flumen channel`.
pub(super) fn channel(
    registry: Registry,
    action: ChannelAction,
    java: Vec<String>,
) -> Result<ExitCode, Refused> {
    let (args, action, default) = match action {
        ChannelAction::List(args) => (args, Action::List, Form::Text),
        ChannelAction::Verify(args) => (args, Action::Verify, Form::Text),
        ChannelAction::Peek { args, events, bytes } => (args, Action::Peek { events, bytes }, Form::Text),
        ChannelAction::Repair(args) => (args, Action::Repair, Form::Text),
        ChannelAction::Export { args, output } => (args, Action::Export { output }, Form::Json),
    };
    let form = match args.format {
        None => default,
        Some(Format::Text) => Form::Text,
        Some(Format::Json) => Form::Json,
    };
    let chosen = chosen(registry, args, java)?;
    Ok(done(channel::run(&chosen, &action, form, &mut io::stdout().lock())))
}

fn chosen(registry: Registry, args: ChannelArgs, java: Vec<String>) -> Result<Chosen, Refused> {
    let Some(name) = &args.channel else {
        return channel::from_directories(&args.dirs, args.checkpoint_dir).map_err(Refused::Line);
    };
    refuse(&args.target)?;
    if !names_configuration(&args.target) {
        return Err(unnamed());
    }
    let (program, startup) = start(registry, &args.target, java)?;
    let agent = args.target.name.as_deref().unwrap_or_default();
    let target = target(&args.target, agent, &program, startup.folders);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Refused::Line(format!("no runtime: {error}")))?;
    runtime.block_on(channel::from_configuration(&program, &target, name)).map_err(Refused::Line)
}

/// `flumen tool`. As in Java, the exit status is 1 for help and for what cannot be understood.
pub(super) fn java_tool(words: &[String], out: &mut dyn Write) -> io::Result<ExitCode> {
    let refused = |what: String| {
        writeln!(io::stderr(), "flumen: tool: {what}")?;
        Ok(ExitCode::FAILURE)
    };
    let Some((name, words)) = words.split_first() else {
        writeln!(out, "Available tools: {INTEGRITY}: repairs damaged data files of a file channel")?;
        return refused("name a tool".to_owned());
    };
    if !name.eq_ignore_ascii_case(INTEGRITY) {
        return refused(format!("there is no tool `{name}`; there is {INTEGRITY}"));
    }
    let args = match IntegrityArgs::try_parse_from(words.iter().map(|word| two_dashes(word))) {
        Ok(args) => args,
        Err(error) => {
            write!(io::stderr(), "{}", error.render())?;
            return Ok(ExitCode::FAILURE);
        }
    };
    if args.help {
        write!(out, "{}", IntegrityArgs::command().render_long_help())?;
        return Ok(ExitCode::FAILURE);
    }
    if let Some(class) = &args.event_validator {
        return refused(format!(
            "-e {class}: Java classes cannot be loaded. Without -e every event that can be read is kept; `flumen channel export` \
             shows them, and the interceptor `regex_filter` of the next agent leaves out those that it should not get"
        ));
    }
    if !args.validator_settings.is_empty() {
        writeln!(io::stderr(), "warning: -D is for event validators, of which there are none")?;
    }
    if args.data_dirs.is_empty() {
        return refused("-l DIR,DIR: name the data directories".to_owned());
    }
    if let Some(dir) = args.data_dirs.iter().find(|dir| !dir.is_dir()) {
        return refused(format!("-l {}: there is no such directory", dir.display()));
    }
    integrity_tool::run(&args.data_dirs, out)
}

/// Java takes long options with one dash, too.
fn two_dashes(word: &str) -> String {
    let long = ["-dataDirs", "-eventValidator", "-help"];
    let name = word.split('=').next().unwrap_or(word);
    if long.contains(&name) { format!("-{word}") } else { word.to_owned() }
}
