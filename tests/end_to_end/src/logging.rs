//! The log as operators configured it.

use crate::agent::{Work, free_port};
use std::fs;

fn flow(work: &Work) {
    work.make_folder("out");
    work.write(
        "a.conf",
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.totalEvents = 3\n\
         a.sources.r.channels = c\na.channels.c.type = memory\na.sinks.k.type = logger\na.sinks.k.channel = c\n",
    );
}

#[test]
fn flume_root_logger_names_level_and_file_and_no_line_is_lost_at_the_stop() {
    let work = Work::new();
    flow(&work);
    let words = ["-Dflume.root.logger=INFO,LOGFILE", "-Dflume.log.dir=mine", "-Dflume.log.file=agent.log"];
    let mut agent = work.start(&words);
    let read = || fs::read_to_string(work.path("mine/agent.log")).unwrap_or_default();
    agent.wait("the events", || read().matches("Event: {").count() == 3);
    assert_eq!(agent.stop(), 0);
    assert!(read().contains("(org.apache.flume.sink.LoggerSink."), "{}", read());
    assert!(read().trim_end().ends_with("stopped"), "{}", read());
    assert_eq!(agent.log(), "");
}

#[test]
fn log4j2_xml_in_the_configuration_folder_is_read() {
    let work = Work::new();
    flow(&work);
    work.write(
        "conf/log4j2.xml",
        r#"<Configuration><Properties><Property name="LOG_DIR">.</Property></Properties>
        <Appenders><File name="F" fileName="${LOG_DIR}/x.log"><PatternLayout pattern="%p|%c{1}|%m%n"/></File></Appenders>
        <Loggers><Logger name="org.apache.flume.sink" level="INFO"/><Root level="ERROR"><AppenderRef ref="F"/></Root></Loggers>
        </Configuration>"#,
    );
    let mut agent = work.start(&["-c", "conf", "-DLOG_DIR=there"]);
    let read = || fs::read_to_string(work.path("there/x.log")).unwrap_or_default();
    agent.wait("the events", || read().lines().count() >= 3);
    assert_eq!(agent.stop(), 0);
    assert!(read().lines().all(|line| line.starts_with("INFO|LoggerSink|Event: {")), "{}", read());
}

#[test]
fn appenders_of_single_loggers_get_their_lines() {
    let work = Work::new();
    flow(&work);
    work.write(
        "conf/log4j2.xml",
        r#"<Configuration><Appenders>
        <File name="All" fileName="all.log"><PatternLayout pattern="%p|%c{1}|%m%n"/></File>
        <File name="Events" fileName="events.log"><PatternLayout pattern="%m%n"/></File></Appenders>
        <Loggers><Logger name="org.apache.flume.sink.LoggerSink" level="INFO" additivity="false"><AppenderRef ref="Events"/></Logger>
        <Root level="INFO"><AppenderRef ref="All"/></Root></Loggers></Configuration>"#,
    );
    let mut agent = work.start(&["-c", "conf"]);
    let read = |name: &str| fs::read_to_string(work.path(name)).unwrap_or_default();
    agent.wait("the events", || read("events.log").lines().count() == 3);
    assert_eq!(agent.stop(), 0);
    assert!(read("events.log").lines().all(|line| line.starts_with("Event: {")), "{}", read("events.log"));
    assert!(
        read("all.log").contains("stopped") && !read("all.log").contains("Event: {"),
        "{}",
        read("all.log")
    );
    assert_eq!(agent.log(), "");
}

#[test]
fn json_lines_are_objects() {
    let work = Work::new();
    flow(&work);
    let mut agent = work.agent(&["--log-json"]);
    agent.wait_for_log("Event: {");
    assert_eq!(agent.stop(), 0);
    for line in agent.log().lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["message"].is_string() && object["level"].is_string(), "{line}");
    }
}

#[test]
fn fix_110_printconfig_shows_settings_with_secrets_masked_and_only_on_request() {
    let work = Work::new();
    flow(&work);
    let port = free_port();
    let more = format!(
        "a.sources = r s\na.sources.s.type = netcat\na.sources.s.bind = 127.0.0.1\na.sources.s.port = {port}\n\
         a.sources.s.channels = c\na.sources.s.keystore-password = hidden\n"
    );
    let conf = fs::read_to_string(work.path("a.conf")).unwrap().replace("a.sources = r\n", &more);
    work.write("a.conf", &conf);
    for (words, shown) in [(&["-Dorg.apache.flume.log.printconfig=true"][..], true), (&[], false)] {
        let mut agent = work.agent(words);
        assert_eq!(agent.stop(), 0);
        let log = agent.log();
        assert_eq!(log.contains("a.channels.c.type = memory"), shown, "{log}");
        assert_eq!(log.contains("a.sources.s.keystore-password = *****"), shown, "{log}");
        assert!(!log.contains("hidden"), "{log}");
    }
}
