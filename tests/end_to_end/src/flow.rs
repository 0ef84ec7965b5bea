//! The first flows: what comes in by a socket is in a file, with real parts only.

use crate::agent::{Lines, Work, free_port, http};

/// netcat → memory → file_roll; the sink's directory comes behind it.
pub(crate) fn netcat_to_files(port: u16) -> String {
    format!(
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = netcat\na.sources.r.bind = 127.0.0.1\n\
         a.sources.r.port = {port}\na.sources.r.channels = c\na.channels.c.type = memory\na.channels.c.capacity = 10000\n\
         a.sinks.k.type = file_roll\na.sinks.k.channel = c\na.sinks.k.sink.rollInterval = 0\n"
    )
}

#[test]
fn lines_and_requests_reach_the_log_and_the_files() {
    let work = Work::new();
    work.make_folder("out");
    let (lines_port, http_port) = (free_port(), free_port());
    work.write(
        "a.conf",
        &format!(
            "a.sources = lines web\na.channels = files log\na.sinks = roll show\n\
             a.sources.lines.type = netcat\na.sources.lines.bind = 127.0.0.1\na.sources.lines.port = {lines_port}\n\
             a.sources.lines.channels = files log\na.sources.web.type = http\na.sources.web.bind = 127.0.0.1\n\
             a.sources.web.port = {http_port}\na.sources.web.channels = files log\n\
             a.channels.files.type = memory\na.channels.log.type = memory\n\
             a.sinks.roll.type = file_roll\na.sinks.roll.channel = files\na.sinks.roll.sink.directory = @DIR@/out\n\
             a.sinks.show.type = logger\na.sinks.show.channel = log\n"
        ),
    );
    let mut agent = work.agent(&[]);
    assert_eq!(Lines::connect(lines_port).send("by line").unwrap(), "OK");
    agent.wait("the line", || work.lines_below("out") == ["by line"]);
    agent.wait_for_log("62 79 20 6C 69 6E 65");
    let (status, _) = http(http_port, "POST", "/", r#"[{"headers": {"h": "v"}, "body": "by request"}]"#);
    assert!(status.contains(" 200"), "{status}");
    agent.wait("the request", || work.lines_below("out") == ["by line", "by request"]);
    assert_eq!(agent.stop(), 0);
}
