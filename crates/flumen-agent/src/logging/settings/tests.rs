//! The files that come with Java Flume, and what is not simple.

use super::*;

const LOG4J2: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Properties><Property name="LOG_DIR">.</Property></Properties>
  <Appenders>
    <Console name="Console" target="SYSTEM_ERR"><PatternLayout pattern="%d (%t) [%p - %l] %m%n" /></Console>
    <RollingFile name="LogFile" fileName="${LOG_DIR}/flume.log"
                 filePattern="${LOG_DIR}/archive/flume.log.%d{yyyyMMdd}-%i">
      <PatternLayout pattern="%d{dd MMM yyyy HH:mm:ss,SSS} %-5p [%t] (%C.%M:%L) %equals{%x}{[]}{} - %m%n" />
      <Policies>
        <SizeBasedTriggeringPolicy size="100 MB"/>
        <CronTriggeringPolicy schedule="0 0 0 * * ?"/>
      </Policies>
      <DefaultRolloverStrategy min="1" max="20">
        <Delete basePath="${LOG_DIR}/archive">
          <IfFileName glob="flume.log.*"><IfAccumulatedFileSize exceeds="1 GB"/></IfFileName>
        </Delete>
      </DefaultRolloverStrategy>
    </RollingFile>
  </Appenders>
  <Loggers>
    <Logger name="org.apache.flume.lifecycle" level="debug"/>
    <Logger name="org.apache.flume.sink.LoggerSink" level="OFF"/>
    <Root level="WARN"><AppenderRef ref="LogFile" /></Root>
  </Loggers>
</Configuration>"#;

const LOG4J1: &str = "flume.root.logger=INFO,LOGFILE\nflume.log.dir=./logs\nflume.log.file=flume.log\n\
    log4j.logger.org.apache.flume.lifecycle = INFO\nlog4j.rootLogger=${flume.root.logger}\n\
    log4j.appender.LOGFILE=org.apache.log4j.RollingFileAppender\nlog4j.appender.LOGFILE.MaxFileSize=50MB\n\
    log4j.appender.LOGFILE.MaxBackupIndex=3\nlog4j.appender.LOGFILE.File=${flume.log.dir}/${flume.log.file}\n\
    log4j.appender.LOGFILE.layout=org.apache.log4j.PatternLayout\n\
    log4j.appender.LOGFILE.layout.ConversionPattern=%d %-5p %m%n\n\
    log4j.appender.MAIL=org.apache.log4j.net.SMTPAppender\n";

fn read(file: Option<(&str, &str)>, properties: &[(&str, &str)]) -> (Settings, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    if let Some((name, text)) = file {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let properties =
        properties.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let environment = Environment { properties, ..Environment::default() };
    let mut notes = Vec::new();
    let settings = Settings::read(&environment, Some(folder.path()), false, &crate::registry(), &mut notes);
    (settings, notes)
}

fn file_of(settings: &Settings) -> &FileConfigText {
    match &settings.appenders[0].kind {
        Kind::File(file) => file,
        other => panic!("not a file: {other:?}"),
    }
}

#[test]
fn the_log4j2_file_that_flume_ships_is_understood_whole() {
    let (settings, notes) = read(Some(("log4j2.xml", LOG4J2)), &[("LOG_DIR", "/var/log/flume")]);
    assert_eq!(notes, [] as [String; 0]);
    let file = file_of(&settings);
    assert_eq!(file.path, "/var/log/flume/flume.log");
    assert_eq!(
        (file.max_bytes, file.keep, file.period.as_deref()),
        (Some(100 << 20), Some(20), Some("yyyyMMdd"))
    );
    let delete = ("/var/log/flume/archive".to_owned(), "flume.log.".to_owned(), Some(1 << 30), None);
    assert_eq!(file.delete, Some(delete));
    for (target, level, allowed) in [
        ("flumen_agent::agent::task", tracing::Level::DEBUG, true),
        ("flumen_agent::plan", tracing::Level::INFO, false),
        ("org.apache.flume.sink.LoggerSink", tracing::Level::ERROR, false),
    ] {
        assert_eq!(settings.levels.allow(target, level), allowed, "{target}");
    }
}

#[test]
fn the_log4j_file_of_older_flumes_is_understood_and_its_variables_give_way_to_the_command_line() {
    let set = [("flume.root.logger", "DEBUG,LOGFILE"), ("flume.log.dir", "/logs")];
    let (settings, notes) = read(Some(("log4j.properties", LOG4J1)), &set);
    let file = file_of(&settings);
    assert_eq!((file.path.as_str(), file.max_bytes, file.keep), ("/logs/flume.log", Some(50 << 20), Some(3)));
    assert!(settings.levels.allow("flumen_core::group", tracing::Level::DEBUG));
    assert!(!settings.levels.allow("flumen_agent::agent", tracing::Level::DEBUG), "lifecycle is at INFO");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("appender MAIL: org.apache.log4j.net.SMTPAppender is not there"), "{notes:?}");
}

#[test]
fn without_a_file_the_properties_name_console_and_logfile() {
    let (settings, notes) =
        read(None, &[("flume.root.logger", "WARN,console,LOGFILE"), ("flume.log.file", "a.log")]);
    assert_eq!(notes, [] as [String; 0]);
    assert_eq!(settings.appenders.len(), 2);
    assert_eq!(settings.appenders[0].kind, Kind::Stderr);
    let Kind::File(file) = &settings.appenders[1].kind else { panic!("no file") };
    assert_eq!((file.path.as_str(), file.max_bytes, file.keep), ("./logs/a.log", Some(100 << 20), Some(10)));
    assert!(!settings.levels.allow("flumen_agent", tracing::Level::INFO));
}

#[test]
fn what_is_broken_is_told_and_the_log_goes_to_standard_error() {
    for (name, text, want) in [
        ("log4j2.xml", "<Configuration><Appenders>", "standard error"),
        (
            "log4j2.xml",
            "<Configuration><Loggers><Root level='x'><AppenderRef ref='No'/></Root></Loggers></Configuration>",
            "level `x`",
        ),
        ("log4j.properties", "log4j.rootLogger=INFO,SYSLOG\n", "log appender SYSLOG is not there"),
    ] {
        let (settings, notes) = read(Some((name, text)), &[]);
        assert_eq!(settings.appenders, [AppenderConfig::default()], "{text}");
        assert!(notes.iter().any(|note| note.contains(want)), "{notes:?}");
    }
}

#[test]
fn names_of_finished_files_never_write_over_each_other() {
    let parts = name_parts("x.old", &mut Vec::new());
    assert!(matches!(parts.last(), Some(NamePart::Number)), "{parts:?}");
    assert_eq!(date_pattern("a.%d{yyyy}-%i").as_deref(), Some("yyyy"));
}

#[test]
fn a_level_of_a_reference_holds_for_its_appender() {
    let text = LOG4J2.replace(
        r#"<AppenderRef ref="LogFile" />"#,
        r#"<AppenderRef ref="LogFile"/><AppenderRef ref="Console" level="ERROR"/><AppenderRef ref="LogFile" level="LOUD"/>"#,
    );
    let (settings, notes) = read(Some(("log4j2.xml", &text)), &[]);
    let to: Vec<(String, LevelFilter)> = goes(&settings, "flumen_agent");
    let want =
        [("./flume.log", LevelFilter::TRACE), ("", LevelFilter::ERROR), ("./flume.log", LevelFilter::TRACE)];
    assert_eq!(to, want.map(|(path, level)| (path.to_owned(), level)));
    assert!(notes.iter().any(|note| note.contains("level `LOUD` of the reference to LogFile")), "{notes:?}");
}

/// Where lines of a target go: the file (or nothing for the console), and from which level on.
fn goes(settings: &Settings, target: &str) -> Vec<(String, LevelFilter)> {
    let name = |appender: &AppenderConfig| match &appender.kind {
        Kind::File(file) => file.path.clone(),
        _ => String::new(),
    };
    settings.routes.of(target).map(|(to, level)| (name(&settings.appenders[to]), level)).collect()
}

#[test]
fn appenders_of_a_logger_get_its_lines_and_those_above_it_too_unless_it_says_no() {
    let log4j2 = |additivity: &str| {
        LOG4J2.replace(
            r#"<Logger name="org.apache.flume.lifecycle" level="debug"/>"#,
            &format!(
                r#"<Logger name="org.apache.flume.sink" level="debug" additivity="{additivity}">
                <AppenderRef ref="Console" level="WARN"/></Logger>"#
            ),
        )
    };
    let log4j1 = |additivity: &str| {
        format!(
            "log4j.rootLogger=INFO, LogFile\nlog4j.appender.LogFile=org.apache.log4j.FileAppender\n\
             log4j.appender.LogFile.File=./flume.log\nlog4j.logger.org.apache.flume.sink=DEBUG, Console\n\
             log4j.additivity.org.apache.flume.sink={additivity}\nlog4j.appender.Console=org.apache.log4j.ConsoleAppender\n\
             log4j.appender.Console.Threshold=WARN\n"
        )
    };
    let file = || ("./flume.log".to_owned(), LevelFilter::TRACE);
    for (additivity, both) in [("true", true), ("FALSE", false)] {
        for (name, text, level) in [
            ("log4j2.xml", log4j2(additivity), LevelFilter::WARN),
            ("log4j.properties", log4j1(additivity), LevelFilter::TRACE),
        ] {
            let (settings, notes) = read(Some((name, &text)), &[]);
            assert_eq!(notes, [] as [String; 0], "{name}");
            let mut want = vec![(String::new(), level)];
            want.extend(both.then(file));
            assert_eq!(goes(&settings, "flumen_components::sinks::null"), want, "{name} {additivity}");
            assert_eq!(goes(&settings, "flumen_components::sources::seq"), [file()], "{name}");
            assert!(settings.levels.allow("flumen_components::sinks::null", tracing::Level::DEBUG), "{name}");
        }
    }
}

#[test]
fn a_logger_whose_appender_is_not_there_goes_where_those_above_it_go() {
    let text = "log4j.rootLogger=INFO, console\nlog4j.logger.org.apache.flume.sink=INHERITED, MAIL\n\
        log4j.additivity.org.apache.flume.sink=false\nlog4j.additivity.org.apache.flume.source=false\n\
        log4j.logger.org.apache.flume.source=ERROR\n";
    let (settings, notes) = read(Some(("log4j.properties", text)), &[]);
    assert_eq!(goes(&settings, "flumen_components::sinks::null").len(), 1);
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("log appender MAIL is not there"), "{notes:?}");
    assert!(notes[1].contains("logger org.apache.flume.sink is left without an appender"), "{notes:?}");
    // One that names none and keeps its lines to itself is silent, as in log4j.
    assert_eq!(goes(&settings, "flumen_components::sources::seq"), []);
}

#[test]
fn a_logger_counts_before_those_above_it_wherever_it_stands() {
    let text = LOG4J2.replace(
        r#"<Root level="WARN">"#,
        r#"<Logger name="org.apache.flume" level="ERROR"/><Root level="WARN">"#,
    );
    let (settings, _) = read(Some(("log4j2.xml", &text)), &[]);
    assert!(settings.levels.allow("flumen_agent::agent::task", tracing::Level::DEBUG));
    assert!(!settings.levels.allow("flumen_agent::plan", tracing::Level::WARN));
}

#[test]
fn a_form_that_is_not_read_is_named_with_the_way_out() {
    for name in ["log4j2.properties", "log4j2.yaml", "log4j.xml"] {
        let (_, notes) = read(Some((name, "x")), &[]);
        assert!(notes[0].contains(name) && notes[0].contains("write log4j2.xml"), "{notes:?}");
    }
}
