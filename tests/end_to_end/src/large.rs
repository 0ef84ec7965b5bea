//! Configurations that are very long are read in an instant or refused in one: by the real program, from a file.

use crate::{agent::Work, wait};
use std::{
    fmt::Write as _,
    fs::File,
    io::{BufWriter, Write},
    time::Duration,
};

/// What 100 MB may take on a busy machine; an idle one needs a second or two.
const LIMIT: Duration = Duration::from_secs(60);
const LENGTH: usize = 100 << 20;

const FLOW: &str = "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.channels = c\n\
    a.channels.c.type = memory\na.sinks.k.type = null\na.sinks.k.channel = c\n";

/// A file with a flow and lines of this kind behind it, 100 MB long.
fn long(work: &Work, name: &str, mut line: impl FnMut(usize) -> String) {
    let mut file = BufWriter::new(File::create(work.path(name)).unwrap());
    file.write_all(FLOW.as_bytes()).unwrap();
    let mut written = 0;
    for i in 0.. {
        let line = line(i);
        file.write_all(line.as_bytes()).unwrap();
        written += line.len();
        if written >= LENGTH {
            break;
        }
    }
    file.flush().unwrap();
}

#[test]
fn a_hundred_megabytes_are_read_or_refused_and_never_shown_whole() {
    let work = Work::new();
    let text = "x".repeat(100);
    long(&work, "remarks.conf", |_| format!("# {text}\n"));
    long(&work, "properties.conf", |i| format!("a.sinks.k.p{i} = {i}\n"));
    long(&work, "unknown.conf", |i| format!("a.sinks.k.p{i} = {text}\n"));
    long(&work, "value.conf", |i| {
        if i == 0 { format!("a.sinks.k.batchSize = {text}\\\n") } else { format!("{text}\\\n") }
    });
    for (file, code, says) in [
        ("remarks.conf", 0, "a: good"),
        ("properties.conf", 2, "more than 1000000 properties"),
        ("unknown.conf", 1, "more problems are not shown"),
        ("value.conf", 1, "a.sinks.k.batchSize: `xxxxx"),
    ] {
        let (said, took) = wait::timed(|| work.run(&["check", "-n", "a", "-f", file]));
        assert_eq!(said.code, code, "{file}: {}", said.out.get(..1_000).unwrap_or(&said.out));
        assert!(said.out.contains(says) && said.out.len() < 200_000, "{file}: {} bytes", said.out.len());
        assert!(took < LIMIT, "{file}: {took:?}");
    }
}

#[test]
fn hundreds_of_agents_in_one_file_are_checked_in_an_instant() {
    let work = Work::new();
    let mut text = String::new();
    for i in 0..300 {
        let _ = write!(text, "{}", FLOW.replace("a.", &format!("agent{i}.")));
        (0..20).for_each(|j| _ = writeln!(text, "agent{i}.sources.r.interceptors.i{j}.type = host"));
        let names: Vec<String> = (0..20).map(|j| format!("i{j}")).collect();
        let _ = writeln!(text, "agent{i}.sources.r.interceptors = {}", names.join(" "));
    }
    work.write("many.conf", &text);
    let (said, took) = wait::timed(|| work.run(&["check", "-f", "many.conf"]));
    assert_eq!((said.code, said.out.lines().count()), (0, 300), "{said:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    let said = work.run(&["agent", "-f", "many.conf"]);
    assert!(said.err.contains("agent19 and 280 more"), "{said:?}");
}
