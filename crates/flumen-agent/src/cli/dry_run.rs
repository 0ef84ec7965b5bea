//! `flumen agent --dryrun`: the command line as it counts, and what it would run.

use crate::{
    commands::{
        Program, Target,
        check::{self, CheckOptions},
    },
    logging,
};
use std::{
    borrow::Cow,
    io::{self, Write},
    process::ExitCode,
};

/// Prints the command line to standard output. Where agent and configuration are named, standard error gets everything that is
/// wrong and what would run, and the exit status is that of the start: 0, 1 where nothing can run, 2 where it cannot be read.
///
/// # Errors
/// Standard output is closed.
pub(super) fn run(
    words: &[String],
    program: &Program,
    target: Option<Target>,
    strict: bool,
    notes: Vec<String>,
) -> io::Result<ExitCode> {
    writeln!(io::stdout(), "{}", line(words, program))?;
    let Some(target) = target else {
        notes.iter().try_for_each(|note| writeln!(io::stderr(), "warning: {note}"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let options = CheckOptions { target, strict, unknown_keys_fail: false, json: false, notes };
    let report = check::report(program, &options)?;
    report.print_parts(&mut io::stderr().lock())?;
    Ok(ExitCode::from(report.start_status(strict)))
}

/// The words with what flume-env.sh and flume.opts have added, for a shell. Secrets are masked.
fn line(words: &[String], program: &Program) -> String {
    let mut line = Vec::new();
    let mut secret_next = false;
    for word in words.iter().filter(|word| !["-d", "--dryrun"].contains(&word.as_str())) {
        let name = word.split('=').next().unwrap_or_default();
        let is_secret = ["--conf-password", "--pwd"].contains(&name);
        line.push(match word.split_once('=') {
            Some(_) if is_secret => format!("{name}={}", logging::MASK),
            _ if secret_next => logging::MASK.to_owned(),
            _ => logging::mask_urls(word).into_owned(),
        });
        secret_next = is_secret && !word.contains('=');
    }
    for (name, value) in &program.environment.properties {
        line.push(format!("-D{name}={}", logging::mask(name, value)));
    }
    if let Some(bytes) = program.environment.max_heap_bytes {
        line.push(format!("-Xmx{bytes}"));
    }
    line.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=,@%+-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => Cow::Borrowed(word),
        false => Cow::Owned(format!("'{}'", word.replace('\'', "'\\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_core::registry::Environment;
    use std::sync::Arc;

    #[test]
    fn the_line_can_be_given_to_a_shell_and_shows_no_secret() {
        let properties = [("a.b", "it's"), ("my.password", "hidden"), ("x", "1")];
        let properties = properties.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
        let environment = Environment { properties, ..Environment::default() };
        let program = Program { registry: Arc::new(crate::registry()), environment: Arc::new(environment) };
        let words =
            "flumen agent -d --pwd hidden --conf-password=hidden -u http://me:hidden@h/x -f".split(' ');
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.push("my conf".to_owned());
        assert_eq!(
            line(&words, &program),
            "flumen agent --pwd '*****' '--conf-password=*****' -u 'http://me:*****@h/x' -f 'my conf' '-Da.b=it'\\''s' \
             '-Dmy.password=*****' -Dx=1"
        );
    }
}
