//! The formats of a report, from one that is made by hand.

use super::*;
use crate::agent::{ComponentReport, Totals};
use flumen_core::{
    metrics::{Reading, Value},
    registry::Kind,
};

fn report() -> Vec<ComponentReport> {
    let reading = |name, value| Reading { name, help: "What it is.", value };
    vec![ComponentReport {
        kind: Kind::Channel,
        name: "mem \"1\"".into(),
        type_name: "memory",
        started_ms: 5,
        stopped_ms: 0,
        state: "running",
        restarts: 0,
        last_error: None,
        readings: vec![
            reading("EventPutSuccessCount", Value::Counter(2)),
            reading("ChannelSize", Value::Gauge(1.0)),
            reading("ChannelFillPercentage", Value::Fraction(0.0)),
            reading("PutTime", Value::Timer(3, 1_500_000)),
        ],
    }]
}

#[test]
fn mon_06_mon_08_json_maps_type_and_name_to_texts() {
    let json: serde_json::Value =
        serde_json::from_str(&json::render(&(report(), Totals::default()))).unwrap();
    let channel = &json["CHANNEL.mem \"1\""];
    for (name, text) in [
        ("Type", "CHANNEL"),
        ("StartTime", "5"),
        ("StopTime", "0"),
        ("EventPutSuccessCount", "2"),
        ("ChannelSize", "1"),
        ("ChannelFillPercentage", "0.0"),
        ("PutTimeCount", "3"),
        ("PutTimeUs", "1500000"),
    ] {
        assert_eq!(channel[name], text, "{name}");
    }
}

#[test]
fn prometheus_has_one_family_a_name_and_escapes_labels() {
    let text = prometheus::render(&(report(), Totals::default()));
    let labels = r#"{component="mem \"1\"",kind="channel",type="memory"}"#;
    assert!(text.contains("# TYPE Flume_EventPutSuccessCount counter\n"), "{text}");
    assert!(text.contains(&format!("Flume_EventPutSuccessCount{labels} 2\n")), "{text}");
    assert!(text.contains(&format!("Flume_PutTime_seconds_sum{labels} 1.5\n")), "{text}");
    assert_eq!(text.matches("# TYPE Flume_ChannelSize gauge").count(), 1);
}

#[test]
fn an_agent_with_a_component_in_back_off_is_not_ready() {
    let mut report = report();
    assert!(health::render(&report).0);
    report[0].state = "backing-off";
    report[0].last_error = Some("port 1 is in use".into());
    let (well, text) = health::render(&report);
    assert!(!well && text.contains("port 1 is in use"), "{text}");
}

#[tokio::test]
async fn settings_that_make_no_sense_are_named() {
    for (settings, want) in [
        (&[("type", "jmx")][..], "`jmx` is not http"),
        (&[("type", "http"), ("port", "many")], "`many` is not a number"),
        (&[("type", "ganglia")], "hosts: is required"),
        (&[("type", "log"), ("pollFrequency", "0")], "a second or more"),
    ] {
        let properties =
            settings.iter().map(|(key, value)| (format!("{PREFIX}{key}"), (*value).to_owned())).collect();
        let environment = Environment { properties, ..Environment::default() };
        let error = Monitor::start(&environment, Arc::default()).await.unwrap_err().to_string();
        assert!(error.contains(want), "{error}");
    }
}

#[tokio::test]
async fn the_server_answers_as_java_does() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let properties = [("type", "http"), ("port", "0")].map(|(k, v)| (format!("{PREFIX}{k}"), v.to_owned()));
    let environment = Environment { properties: properties.into(), ..Environment::default() };
    let monitor = Monitor::start(&environment, Arc::default()).await.unwrap().unwrap();
    let port = monitor.address.unwrap().port();
    let ask = |request: &'static str| async move {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream
            .write_all(format!("{request} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    assert!(ask("GET /metrics").await.starts_with("HTTP/1.1 200"));
    assert!(ask("GET /metrics").await.contains("application/json;charset=utf-8"));
    assert!(ask("POST /metrics").await.starts_with("HTTP/1.1 200"));
    assert!(ask("GET /nothing").await.starts_with("HTTP/1.1 404"));
    // mon_07: TRACE and OPTIONS are refused.
    assert!(ask("TRACE /metrics").await.starts_with("HTTP/1.1 403"));
    assert!(ask("OPTIONS /metrics").await.starts_with("HTTP/1.1 403"));
    assert!(ask("GET /ready").await.starts_with("HTTP/1.1 503"), "nothing runs");
    monitor.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_port_that_is_in_use_is_tried_again() {
    let other = tokio::net::TcpListener::bind("[::]:0").await.unwrap();
    let port = other.local_addr().unwrap().port();
    let properties =
        [("type", "http".to_owned()), ("port", port.to_string())].map(|(k, v)| (format!("{PREFIX}{k}"), v));
    let environment = Environment { properties: properties.into(), ..Environment::default() };
    let monitor = Monitor::start(&environment, Arc::default()).await.unwrap().unwrap();
    assert_eq!(monitor.address, None);
    drop(other);
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(tokio::time::Instant::now() < deadline, "it never listened");
        tokio::time::advance(Duration::from_millis(500)).await;
        tokio::task::yield_now().await;
    }
    monitor.stop().await;
}

#[tokio::test]
async fn idle_connections_do_not_keep_probes_out() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let properties = [("type", "http"), ("port", "0")].map(|(k, v)| (format!("{PREFIX}{k}"), v.to_owned()));
    let environment = Environment { properties: properties.into(), ..Environment::default() };
    let monitor = Monitor::start(&environment, Arc::default()).await.unwrap().unwrap();
    let port = monitor.address.unwrap().port();
    let mut idle = Vec::new();
    for _ in 0..200 {
        idle.push(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(Duration::from_secs(4), read).await.expect("idle clients block nobody").unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    monitor.stop().await;
}

#[test]
fn settings_that_nobody_reads_are_told() {
    let lines = |pairs: &[(&str, &str)]| {
        let properties =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        unread_settings(&Environment { properties, ..Environment::default() })
    };
    assert_eq!(
        lines(&[("flume.monitoring.type", "http"), ("flume.monitoring.port", "1"), ("other", "2")]),
        [""; 0]
    );
    let alone = lines(&[("flume.monitoring.port", "1")]);
    assert!(alone.len() == 1 && alone[0].contains("without -Dflume.monitoring.type"), "{alone:?}");
    let misspelt = lines(&[("flume.monitoring.type", "http"), ("flume.monitoring.prot", "1")]);
    assert!(misspelt.len() == 1 && misspelt[0].contains("prot is not known"), "{misspelt:?}");
}
