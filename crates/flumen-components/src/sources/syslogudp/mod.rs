//! Takes syslog messages over UDP, one a datagram, by RFC 5424 and RFC 3164.
//!
//! Delivery: at most once, as UDP is: the system drops datagrams when its buffer is full. What was read is held until it is
//! stored.
//! Transient failure (a full channel): tried again until it works; meanwhile the system holds what its buffer holds.
//! Permanent failure (a message that no channel can ever hold): told and counted; the others go on. A message that is none of
//! syslog's is an event too, with the header `flume.syslog.status`.
//! Duplicates: none from here.

mod config;
#[cfg(test)]
mod tests;

pub use config::SyslogUdpConfig;

use crate::shared::{
    datagrams::Datagrams,
    syslog::{CustomFormat, Names, PeerHeaders, PeerNames, Puts, Rows, Rules, Stamps},
};
use flumen_core::{
    event::Headers,
    processor::ChannelProcessor,
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    source::{Shutdown, Source, SourceError},
};
use flumen_java::dates::Zone;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{sync::watch, time::sleep};

/// Messages in a batch, where channels take more.
const MAX_BATCH: usize = 1_000;
/// The pause after a failed read.
const READ_PAUSE: Duration = Duration::from_millis(100);

/// See the module.
#[derive(Debug)]
pub struct SyslogUdpSource {
    context: SourceContext,
    rules: Rules,
    peer_names: PeerNames,
    host: Option<String>,
    port: u16,
    port_key: String,
    address: watch::Sender<Option<SocketAddr>>,
}

impl SyslogUdpSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }

    fn with_zone(config: SyslogUdpConfig, context: &SourceContext, zone: Zone) -> Result<Self, BuildError> {
        let common = &context.common;
        let ip = config.client_ip_header.as_deref();
        Ok(Self {
            context: context.clone(),
            rules: Rules {
                keep: config.keep_fields,
                custom: CustomFormat::new(config.format, &zone)?,
                stamps: Stamps::new(zone),
            },
            peer_names: PeerNames::new(ip, config.client_hostname_header.as_deref()),
            host: config.host,
            port: config.port.0,
            port_key: format!("{}.sources.{}.port", common.agent, common.name),
            address: watch::Sender::new(None),
        })
    }
}

impl SourceType for SyslogUdpSource {
    const NAMES: &'static [&'static str] = &["syslogudp", "org.apache.flume.source.SyslogUDPSource"];
    const SUMMARY: &'static str = "Takes syslog messages over UDP.";
    type Config = SyslogUdpConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        Self::with_zone(config, context, Zone::system())
    }

    fn facts(config: &Self::Config) -> Facts {
        let host = config.host.as_deref().map_or("0.0.0.0", str::trim).to_owned();
        let listening = Listening { host, port: config.port.0, transport: Transport::Udp, key: "port" };
        // The time of each message that has one.
        Facts { listens: vec![listening], sets_timestamp: true, ..Facts::default() }
    }
}

impl Source for SyslogUdpSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let mut datagrams = Datagrams::bind(self.host.as_deref(), self.port).await.map_err(|error| {
            let (port, key) = (self.port, &self.port_key);
            SourceError::with(format!("cannot listen on UDP port {port} (choose another with {key})"), error)
        })?;
        let name = self.context.common.name.clone();
        if let Some(address) = datagrams.address() {
            self.address.send_replace(Some(address));
            tracing::info!(source = &*name, %address, "listens for syslog");
        }
        let max = (out.max_batch_events() as usize).clamp(1, MAX_BATCH);
        let mut puts = Puts::new(name.clone(), out, shutdown.clone(), Arc::default());
        let mut rows = Rows::new(Names::lower());
        let mut peers = PeerHeaders::new(self.peer_names.clone());
        let mut last = Headers::new();
        loop {
            let (bytes, found) = tokio::select! {
                biased;
                () = shutdown.requested() => break,
                () = puts.oldest_ended(), if puts.are_open() => {
                    puts.settle_ended().await;
                    continue;
                }
                read = datagrams.next(max) => match read {
                    Ok(read) => read,
                    Err(error) => {
                        puts.out().metrics().read_fail.add(1);
                        tracing::warn!(source = &*name, %error, "a datagram could not be read");
                        sleep(READ_PAUSE).await;
                        continue;
                    }
                }
            };
            let now_ms = self.context.common.clock.now_ms();
            for datagram in found {
                let more = peers.of(datagram.sender).await;
                if more != last {
                    rows.forget();
                    last = more.clone();
                }
                let text = &bytes[datagram.range.clone()];
                // Newlines around a message are no part of it.
                let start = text.iter().take_while(|byte| **byte == b'\n').count();
                let end = text.iter().rposition(|byte| *byte != b'\n').map_or(start, |last| last + 1);
                if start < end {
                    let fields = self.rules.read(&text[start..end], false, now_ms);
                    rows.push(datagram.range.start + start, &fields, true, &more);
                }
            }
            let batch = rows.finish(bytes);
            puts.add(batch).await;
        }
        puts.finish().await;
        self.address.send_replace(None);
        Ok(())
    }
}
