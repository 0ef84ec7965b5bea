//! `/metrics` of a running agent beside what Java Flume said, by names and form.

use crate::agent::{Lines, Work, free_port, http, root};
use serde_json::Value;
use std::fs;

fn fixture(name: &str) -> String {
    fs::read_to_string(root().join("tests/parity/fixtures/metrics").join(name)).unwrap()
}

#[test]
fn mon_06_mon_08_every_attribute_of_javas_is_there_and_every_value_is_a_text() {
    let java: Value = serde_json::from_str(&fixture("metrics-after-input.json")).unwrap();
    let work = Work::new();
    work.make_folder("out");
    let (port, monitor) = (free_port(), free_port());
    work.write(
        "a.conf",
        &format!(
            "a.sources = nc sq\na.channels = mem other\na.sinks = roll nul\na.sources.nc.type = netcat\n\
             a.sources.nc.bind = 127.0.0.1\na.sources.nc.port = {port}\na.sources.nc.channels = mem\n\
             a.sources.sq.type = seq\na.sources.sq.totalEvents = 5\na.sources.sq.channels = other\n\
             a.channels.mem.type = memory\na.channels.mem.capacity = 1000\na.channels.other.type = memory\n\
             a.sinks.roll.type = file_roll\na.sinks.roll.channel = mem\na.sinks.roll.sink.directory = @DIR@/out\n\
             a.sinks.nul.type = null\na.sinks.nul.channel = other\n"
        ),
    );
    let words = ["-Dflume.monitoring.type=HTTP", &format!("-Dflume.monitoring.port={monitor}")];
    let mut agent = work.agent(&words);
    assert_eq!(Lines::connect(port).send("one").unwrap(), "OK");
    let mut report = Value::Null;
    agent.wait("the counts", || {
        report = serde_json::from_str(&http(monitor, "GET", "/metrics", "").1).unwrap();
        report["SINK.roll"]["EventDrainSuccessCount"] == "1"
            && report["CHANNEL.other"]["EventTakeSuccessCount"] == "5"
    });
    // Java's netcat source and null sink count nothing.
    for component in ["SOURCE.sq", "CHANNEL.mem", "SINK.roll"] {
        for (name, value) in java[component].as_object().unwrap() {
            let own = report[component][name].as_str();
            let own = own.unwrap_or_else(|| panic!("{component} has no text {name}: {}", report[component]));
            if ["Type", "ChannelCapacity", "StopTime"].contains(&name.as_str()) {
                assert_eq!(own, value, "{component} {name}");
            }
        }
    }
    for (component, attributes) in report.as_object().unwrap() {
        assert!(attributes.as_object().unwrap().values().all(Value::is_string), "{component}");
    }
    assert_eq!(report["CHANNEL.mem"]["EventPutSuccessCount"], "1");
    assert_eq!(report["SOURCE.nc"]["EventAcceptedCount"], "1");
    assert_eq!(agent.stop(), 0);
}

#[test]
fn mon_07_the_server_answers_each_method_as_java_does() {
    let work = Work::new();
    let monitor = free_port();
    work.write(
        "a.conf",
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.channels = c\n\
         a.sources.r.totalEvents = 1\na.channels.c.type = memory\na.sinks.k.type = null\na.sinks.k.channel = c\n",
    );
    let words = ["-Dflume.monitoring.type=http", &format!("-Dflume.monitoring.port={monitor}")];
    let mut agent = work.agent(&words);
    for line in fixture("http.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (method, path) = (row["method"].as_str().unwrap(), row["path"].as_str().unwrap());
        let (status, _) = http(monitor, method, path, "");
        assert!(status.contains(&format!(" {} ", row["status"])), "{method} {path}: {status}");
    }
    let (status, text) = http(monitor, "GET", "/metrics/prometheus", "");
    assert!(
        status.contains(" 200 ") && text.contains("# TYPE Flume_EventTakeSuccessCount counter"),
        "{status} {text}"
    );
    assert_eq!(agent.stop(), 0);
}

#[test]
fn a_monitor_whose_port_is_taken_does_not_keep_the_agent_from_its_work() {
    let taken = std::net::TcpListener::bind(("0.0.0.0", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let work = Work::new();
    work.write(
        "a.conf",
        "a.sources = r\na.channels = c\na.sinks = k\na.sources.r.type = seq\na.sources.r.channels = c\n\
         a.channels.c.type = memory\na.sinks.k.type = null\na.sinks.k.channel = c\n",
    );
    let words = ["-Dflume.monitoring.type=http", &format!("-Dflume.monitoring.port={port}")];
    let mut agent = work.agent(&words);
    agent.wait_for_log("choose another with -Dflume.monitoring.port=N");
    assert_eq!(agent.stop(), 0);
}
