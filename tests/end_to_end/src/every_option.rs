//! Every row of Java Flume's command line, as `tests/parity/lists/command_line.tsv` says what becomes of it.

use crate::agent::{Said, Work, program, root};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Not looked at: Windows.
const OUT_OF_SCOPE: &str = "bin/flume-ng.ps1";
/// What can become of a row.
const VERDICTS: [&str; 6] = ["works", "refused", "no effect", "differs", "not applicable", "later"];

/// The cells of a list's lines, without remarks and without its header.
fn rows(list: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("tests/parity/lists").join(list)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn every_row_of_javas_command_line_works_or_is_refused_by_name() {
    let ours: BTreeMap<Vec<String>, Vec<String>> =
        rows("command_line.tsv").into_iter().map(|row| (row[..3].to_vec(), row[3..].to_vec())).collect();
    let theirs: Vec<Vec<String>> = rows("cli.tsv")
        .into_iter()
        .filter(|row| row[0] != OUT_OF_SCOPE)
        .map(|row| row[..3].to_vec())
        .collect();
    let mut wrong: Vec<String> = theirs
        .iter()
        .filter(|row| !ours.contains_key(*row))
        .map(|row| format!("{row:?} has no row"))
        .collect();
    wrong.extend(ours.keys().filter(|row| !theirs.contains(row)).map(|row| format!("{row:?} is not Java's")));
    let (work, java) = folder();
    let mut shown = 0;
    for (row, rest) in &ours {
        let [verdict, line, status, says, by, note] = rest.as_slice() else {
            wrong.push(format!("{row:?} has {} cells", rest.len() + 3));
            continue;
        };
        let mut complain = |what: String| wrong.push(format!("{row:?}: {what}"));
        if !VERDICTS.contains(&verdict.as_str()) {
            complain(format!("no verdict is `{verdict}`"));
        }
        match (line.as_str(), by.as_str()) {
            ("-", "-") if ["no effect", "not applicable"].contains(&verdict.as_str()) && note.is_empty() => {
                complain("why?".to_owned());
            }
            ("-", "-") if ["works", "refused", "differs"].contains(&verdict.as_str()) => {
                complain("nothing shows it".to_owned());
            }
            ("-", by) if by != "-" && !is_there(by) => complain(format!("{by} is not there")),
            ("-", _) => {}
            (line, _) => {
                shown += 1;
                let said = run(&work, &java, line);
                let all = format!("{}{}", said.out, said.err);
                let fits = match says.strip_prefix('!') {
                    Some(not) => !all.contains(not),
                    None => all.contains(says.as_str()),
                };
                if !fits || said.code.to_string() != *status {
                    complain(format!("`{line}` was to end with {status} and say `{says}`: {said:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown > 40, "{shown}");
}

/// Whether a test is there, or a row of the list of differences.
fn is_there(by: &str) -> bool {
    match by.split_once("::") {
        Some((file, name)) => {
            let text = fs::read_to_string(root().join(file)).unwrap_or_default();
            text.contains(&format!("fn {name}()"))
        }
        None => {
            let text = fs::read_to_string(root().join("docs/differences.md")).unwrap();
            text.lines().any(|line| line.starts_with(&format!("| {by} |")))
        }
    }
}

/// A folder with what the lines name, and the program as flume-ng.
fn folder() -> (Work, PathBuf) {
    let work = Work::new();
    let flow = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.totalEvents = 1\n\
        a.sources.r.channels = c\na.channels.c.type = memory\na.sinks.k.type = null\na.sinks.k.channel = c\n";
    work.write("a.conf", flow);
    work.write("more.conf", "a.sinks.k.nonsense = 1\n");
    work.write("more.json", "{}");
    work.write("backup/.a.properties", flow);
    work.write("conf/flume-env.sh", "export JAVA_OPTS=\"-Dfrom.env=1\"\n");
    for jar in [
        "plugins/p/lib/own.jar",
        "plugins/p/libext/dep.jar",
        "plugins/p/native/lib.so",
        "home/plugins.d/h/lib/home.jar",
    ] {
        work.write(jar, "");
    }
    let java = work.path("flume-ng");
    symlink(program(), &java).unwrap();
    (work, java)
}

fn run(work: &Work, java: &Path, line: &str) -> Said {
    let folder = work.path("").display().to_string();
    let line = line.replace("@DIR@", folder.trim_end_matches('/'));
    let words: Vec<&str> = line.split(' ').collect();
    let is_variable = |word: &&&str| {
        word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['-', '.']))
    };
    let variables: Vec<(&str, &str)> =
        words.iter().take_while(is_variable).filter_map(|word| word.split_once('=')).collect();
    work.run_with(java, &words[variables.len()..], &variables)
}
