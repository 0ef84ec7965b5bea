//! Java's spelling of a command line, put into ours: the start script takes `-D…` and `-X…` wherever they stand, and commons-cli
//! takes long options with one dash.

use super::args::takes_value;
use clap::Command;

/// What Java's start script takes for the JVM.
const JAVA: [&str; 5] = ["-D", "-X", "-agentlib", "-agentpath", "-javaagent"];

/// A command line, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// For clap, the program's name first.
    pub(super) ours: Vec<String>,
    /// For the JVM that is not there.
    pub(super) java: Vec<String>,
}

/// Sorts a command line of a program that looks like this.
pub(super) fn sort(words: impl IntoIterator<Item = String>, program: &Command) -> Words {
    let mut sorted = Words::default();
    let mut words = words.into_iter();
    sorted.ours.extend(words.next());
    let mut command = None;
    let mut value_next = false;
    for word in words {
        if JAVA.iter().any(|start| word.starts_with(start)) {
            sorted.java.push(word);
            continue;
        }
        if std::mem::take(&mut value_next) {
            sorted.ours.push(word);
            continue;
        }
        let Some(known) = command else {
            command = program.find_subcommand(&word);
            sorted.ours.push(word);
            continue;
        };
        let word = one_dash(&word, known).unwrap_or(word);
        value_next = wants_value(&word, known);
        sorted.ours.push(word);
    }
    sorted
}

/// `-name=x` as `--name=x`, where the command has such an option.
fn one_dash(word: &str, command: &Command) -> Option<String> {
    let rest = word.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-'))?;
    let name = rest.split('=').next()?;
    let is_known = |arg: &clap::Arg| {
        arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
    };
    (name == "help" || command.get_arguments().any(is_known)).then(|| format!("-{word}"))
}

/// Whether the word is an option whose value is the next word.
fn wants_value(word: &str, command: &Command) -> bool {
    let mut arguments = command.get_arguments();
    let found = if let Some(long) = word.strip_prefix("--") {
        let names = |arg: &clap::Arg| {
            arg.get_long() == Some(long)
                || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
        };
        arguments.find(|arg| names(arg))
    } else {
        let mut letters = word.strip_prefix('-').unwrap_or_default().chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return false };
        arguments.find(|arg| arg.get_short() == Some(letter))
    };
    found.is_some_and(|arg| takes_value(arg) && arg.get_num_args().is_none_or(|n| n.min_values() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn sorted(line: &str) -> (String, String) {
        let mut program = super::super::args::Cli::command();
        program.build();
        let words = sort(line.split(' ').map(str::to_owned), &program);
        (words.ours.join(" "), words.java.join(" "))
    }

    #[test]
    fn java_options_may_stand_anywhere_and_long_options_have_one_dash() {
        let (ours, java) = sorted(
            "flume-ng agent -Da=b -name a1 -conf-file=x -Xmx20m -n -name -zkConnString h:1 -user u -pwd p -prov C -nx \
             -agentlib:jdwp=x --conf c -javaagent:j",
        );
        assert_eq!(
            ours,
            "flume-ng agent --name a1 --conf-file=x -n -name --zkConnString h:1 --user u --pwd p --prov C -nx --conf c"
        );
        assert_eq!(java, "-Da=b -Xmx20m -agentlib:jdwp=x -javaagent:j");
    }

    #[test]
    fn options_that_nobody_knows_stay_for_the_complaint() {
        assert_eq!(sorted("flumen agent -bogus --x").0, "flumen agent -bogus --x");
        assert_eq!(sorted("flumen -name").0, "flumen -name");
    }
}
