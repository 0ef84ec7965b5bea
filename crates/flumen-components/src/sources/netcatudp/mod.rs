//! Takes datagrams of text over UDP, one event each: what stands before the first newline.
//!
//! Delivery: at most once, as UDP is: the system drops datagrams when its buffer is full. What was read is held until it is
//! stored.
//! Transient failure (a full channel): tried again until it works; meanwhile the system holds what its buffer holds.
//! Permanent failure (a datagram that no channel can ever hold): told and counted; the others go on.
//! Duplicates: none from here.

mod config;
#[cfg(test)]
mod tests;

pub use config::NetcatUdpConfig;

use crate::shared::{datagrams::Datagrams, local_host::shown, puts::Puts};
use flumen_core::{
    event::{Batch, Headers, Text},
    processor::ChannelProcessor,
    registry::{BuildError, Facts, Listening, SourceContext, SourceType, Transport},
    source::{Shutdown, Source, SourceError},
};
use memchr::memchr;
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{sync::watch, time::sleep};

/// Events in a batch, where channels take more.
const MAX_BATCH: usize = 1_000;
/// The pause after a failed read.
const READ_PAUSE: Duration = Duration::from_millis(100);

/// See the module.
#[derive(Debug)]
pub struct NetcatUdpSource {
    name: Arc<str>,
    bind: Option<String>,
    port: u16,
    /// The property that names the port, for messages.
    port_key: String,
    sender_header: Option<Text>,
    address: watch::Sender<Option<SocketAddr>>,
}

impl NetcatUdpSource {
    /// The address that it listens on, once it does: with port 0 only the system knows it.
    pub fn address(&self) -> watch::Receiver<Option<SocketAddr>> {
        self.address.subscribe()
    }
}

impl SourceType for NetcatUdpSource {
    const NAMES: &'static [&'static str] = &["netcatudp", "org.apache.flume.source.NetcatUdpSource"];
    const SUMMARY: &'static str = "Takes datagrams of text over UDP, one event each.";
    type Config = NetcatUdpConfig;

    fn build(config: Self::Config, context: &SourceContext) -> Result<Self, BuildError> {
        let common = &context.common;
        Ok(Self {
            name: common.name.clone(),
            bind: config.bind,
            port: config.port.0,
            port_key: format!("{}.sources.{}.port", common.agent, common.name),
            sender_header: config.remote_address.filter(|name| !name.is_empty()).as_deref().map(Text::kept),
            address: watch::Sender::new(None),
        })
    }

    fn facts(config: &Self::Config) -> Facts {
        let host = config.bind.as_deref().map_or("0.0.0.0", str::trim).to_owned();
        let listening = Listening { host, port: config.port.0, transport: Transport::Udp, key: "port" };
        Facts { listens: vec![listening], ..Facts::default() }
    }
}

impl Source for NetcatUdpSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let mut datagrams = Datagrams::bind(self.bind.as_deref(), self.port).await.map_err(|error| {
            let (port, key) = (self.port, &self.port_key);
            SourceError::with(format!("cannot listen on UDP port {port} (choose another with {key})"), error)
        })?;
        if let Some(address) = datagrams.address() {
            self.address.send_replace(Some(address));
            tracing::info!(source = &*self.name, %address, "listens for datagrams");
        }
        let max = (out.max_batch_events() as usize).clamp(1, MAX_BATCH);
        let mut puts = Puts::new(self.name.clone(), out, shutdown.clone(), Arc::default());
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
                        tracing::warn!(source = &*self.name, %error, "a datagram could not be read");
                        sleep(READ_PAUSE).await;
                        continue;
                    }
                }
            };
            let mut batch = Batch::with_capacity(found.len());
            let segment = batch.add_segment(bytes.clone());
            let mut last: Option<(SocketAddr, u32)> = None;
            for datagram in found {
                let set = match last {
                    Some((sender, set)) if sender == datagram.sender => set,
                    _ => batch.add_headers(self.headers(datagram.sender)),
                };
                last = Some((datagram.sender, set));
                let text = &bytes[datagram.range.clone()];
                let end = datagram.range.start + memchr(b'\n', text).unwrap_or(text.len());
                // What is read at a time is far below 4 GiB.
                batch.push_slice(set, segment, datagram.range.start as u32..end as u32);
            }
            puts.add(batch).await;
        }
        puts.finish().await;
        self.address.send_replace(None);
        Ok(())
    }
}

impl NetcatUdpSource {
    fn headers(&self, sender: SocketAddr) -> Headers {
        let mut headers = Headers::new();
        if let Some(name) = &self.sender_header {
            let port = sender.port();
            let value = match sender.ip().to_canonical() {
                address @ IpAddr::V4(_) => format!("/{}:{port}", shown(address)),
                address @ IpAddr::V6(_) => format!("/[{}]:{port}", shown(address)),
            };
            headers.set(name.clone(), value.into());
        }
        headers
    }
}
