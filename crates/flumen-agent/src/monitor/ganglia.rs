//! Sends what every component counts to Ganglia, in its own datagrams (XDR, RFC 4506): 3.1 by default, or 3.0.

use super::{
    MonitorError, PREFIX,
    json::{texts, type_word},
    poll_frequency,
};
use crate::agent::Board;
use flumen_core::{registry::Environment, source::Shutdown};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::{UdpSocket, lookup_host};

/// Ganglia's port, where an address names none.
const DEFAULT_PORT: &str = "8649";
/// What Ganglia groups the metrics under.
const GROUP: &str = "flume";
/// How long Ganglia expects to wait for the next value, in seconds.
const TMAX_S: u32 = 60;
/// Never forget a metric that is no longer sent.
const DMAX_S: u32 = 0;
/// The value may go up and down (`GANGLIA_SLOPE_BOTH`).
const SLOPE_BOTH: u32 = 3;
/// Message number of a 3.0 metric.
const METRIC_30: u32 = 0;
/// Message number of a 3.1 metric's description.
const METADATA_31: u32 = 128;
/// Message number of a 3.1 value in text form.
const STRING_31: u32 = 133;

/// Where to send, how often, and in which version.
#[derive(Debug)]
pub(super) struct Settings {
    hosts: Vec<String>,
    every: Duration,
    version_3_0: bool,
    host_name: String,
}

impl Settings {
    pub(super) fn read(environment: &Environment) -> Result<Self, MonitorError> {
        let hosts = environment.property(&format!("{PREFIX}hosts")).unwrap_or_default();
        let hosts: Vec<String> = hosts
            .split(',')
            .map(str::trim)
            .filter(|host| !host.is_empty())
            .map(|host| if host.contains(':') { host.to_owned() } else { format!("{host}:{DEFAULT_PORT}") })
            .collect();
        if hosts.is_empty() {
            let what = "is required: host:port of each gmond, with commas between them".to_owned();
            return Err(MonitorError::Setting { key: "hosts", what });
        }
        let version_3_0 = environment.flag(&format!("{PREFIX}isGanglia3"));
        let host_name =
            environment.variables.get("HOSTNAME").cloned().unwrap_or_else(|| "localhost".to_owned());
        Ok(Self { hosts, every: poll_frequency(environment)?, version_3_0, host_name })
    }
}

/// Runs until told to stop. An address that cannot be resolved or reached is told once each time it fails.
pub(super) async fn run(settings: Settings, board: Arc<Board>, mut shutdown: Shutdown) {
    loop {
        if let Err(error) = send_all(&settings, &board).await {
            tracing::warn!("monitoring: cannot send to ganglia: {error}");
        }
        tokio::select! {
            biased;
            () = shutdown.requested() => return,
            () = tokio::time::sleep(settings.every) => {}
        }
    }
}

async fn send_all(settings: &Settings, board: &Board) -> std::io::Result<()> {
    let mut targets: Vec<SocketAddr> = Vec::new();
    for host in &settings.hosts {
        match lookup_host(host.as_str()).await {
            Ok(mut found) => targets.extend(found.next()),
            Err(error) => tracing::warn!("monitoring: ganglia host {host}: {error}"),
        }
    }
    let (v4, v6) = (UdpSocket::bind("0.0.0.0:0").await?, UdpSocket::bind("[::]:0").await.ok());
    for component in board.report() {
        for (attribute, value) in component.readings.iter().flat_map(texts) {
            let name = format!("flume.{}.{}.{attribute}", type_word(component.kind), component.name);
            for message in messages(settings, &name, &value) {
                for target in &targets {
                    let socket = if target.is_ipv4() { Some(&v4) } else { v6.as_ref() };
                    if let Some(socket) = socket {
                        socket.send_to(&message, target).await?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The datagrams for one value.
fn messages(settings: &Settings, name: &str, value: &str) -> Vec<Vec<u8>> {
    let kind = if value.parse::<f64>().is_ok() { "float" } else { "string" };
    if settings.version_3_0 {
        let mut xdr = Xdr::new(METRIC_30);
        xdr.text(kind).text(name).text(value).text("").number(SLOPE_BOTH).number(TMAX_S).number(DMAX_S);
        return vec![xdr.0];
    }
    let mut about = Xdr::new(METADATA_31);
    about.text(&settings.host_name).text(name).number(0);
    about.text(kind).text(name).text("").number(SLOPE_BOTH).number(TMAX_S).number(DMAX_S);
    about.number(1).text("GROUP").text(GROUP);
    let mut with_value = Xdr::new(STRING_31);
    with_value.text(&settings.host_name).text(name).number(0).text("%s").text(value);
    vec![about.0, with_value.0]
}

/// External data representation: big-endian numbers, texts with their length, padded to four bytes.
struct Xdr(Vec<u8>);

impl Xdr {
    fn new(message: u32) -> Self {
        Self(message.to_be_bytes().to_vec())
    }

    fn number(&mut self, n: u32) -> &mut Self {
        self.0.extend_from_slice(&n.to_be_bytes());
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        // A datagram holds 64 KiB; names and values here are far shorter.
        let bytes = &text.as_bytes()[..text.len().min(1024)];
        self.number(u32::try_from(bytes.len()).expect("1024 at most"));
        self.0.extend_from_slice(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(version_3_0: bool) -> Settings {
        Settings { hosts: Vec::new(), every: Duration::from_secs(1), version_3_0, host_name: "h".into() }
    }

    #[test]
    fn a_3_0_value_is_one_datagram() {
        let sent = messages(&settings(true), "flume.SINK.k.x", "5");
        let mut want = vec![0, 0, 0, 0];
        want.extend(b"\0\0\0\x05float\0\0\0");
        want.extend(b"\0\0\0\x0eflume.SINK.k.x\0\0");
        want.extend(b"\0\0\0\x015\0\0\0");
        want.extend([0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, 0]);
        assert_eq!(sent, [want]);
    }

    #[test]
    fn a_3_1_value_is_described_and_then_sent() {
        let sent = messages(&settings(false), "n", "true");
        assert_eq!(sent.len(), 2);
        let mut about = vec![0, 0, 0, 128];
        about.extend(b"\0\0\0\x01h\0\0\0\0\0\0\x01n\0\0\0\0\0\0\0");
        about.extend(b"\0\0\0\x06string\0\0\0\0\0\x01n\0\0\0\0\0\0\0");
        about.extend([0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, 0, 0, 0, 0, 1]);
        about.extend(b"\0\0\0\x05GROUP\0\0\0\0\0\0\x05flume\0\0\0");
        assert_eq!(sent[0], about);
        let mut value = vec![0, 0, 0, 133];
        value.extend(b"\0\0\0\x01h\0\0\0\0\0\0\x01n\0\0\0\0\0\0\0\0\0\0\x02%s\0\0\0\0\0\x04true");
        assert_eq!(sent[1], value);
    }
}
