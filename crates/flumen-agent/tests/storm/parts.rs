//! A source whose events have numbers, and a sink that writes them down; what is not to be built, is not built.

use super::ledger::Ledger;
use flumen_core::{
    config::{Configuration, Property, View, Words},
    event::{Batch, Headers},
    processor::ChannelProcessor,
    registry::{BuildError, PollSourceType, SinkContext, SinkType, SourceContext},
    sink::{DeliverError, Delivery, Sink},
    source::{PollSource, Polled, SourceError},
};
use std::{sync::Arc, time::Duration};

/// The settings of both ends.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    ledger: u64,
    channels: Vec<String>,
    mode: String,
    rows: u64,
}

const fn text(key: &'static str, default: &'static str) -> Property {
    Property { key, kind: "text", doc: "What a test says.", default: Some(default), ..Property::NEW }
}

impl Configuration for Setting {
    const PROPERTIES: &'static [Property] =
        &[text("ledger", "0"), text("lands", ""), text("from", ""), text("mode", "good"), text("rows", "3")];

    fn read(view: &mut View<'_>) -> Option<Self> {
        let [ledger, lands, from, mode, rows] = [0, 1, 2, 3, 4].map(|i| &Self::PROPERTIES[i]);
        let mut channels = view.value::<Words>(lands)?.0;
        channels.extend(view.value::<Words>(from)?.0);
        Some(Self { ledger: view.value(ledger)?, channels, mode: view.value(mode)?, rows: view.value(rows)? })
    }
}

impl Setting {
    fn ledger(&self) -> Result<Arc<Ledger>, BuildError> {
        match self.mode.as_str() {
            "unbuildable" => Err(BuildError::new("the script says so")),
            _ => Ledger::find(self.ledger).ok_or_else(|| BuildError::new("there is no such ledger")),
        }
    }
}

/// Puts a few numbered events every millisecond, and writes down what was acknowledged.
pub(crate) struct Numbers(Setting, Arc<Ledger>);

impl PollSourceType for Numbers {
    const NAMES: &'static [&'static str] = &["numbers"];
    const SUMMARY: &'static str = "Puts numbers.";
    type Config = Setting;

    fn build(config: Setting, _: &SourceContext) -> Result<Self, BuildError> {
        let ledger = config.ledger()?;
        Ok(Self(config, ledger))
    }
}

impl PollSource for Numbers {
    async fn poll(&mut self, out: &ChannelProcessor) -> Result<Polled, SourceError> {
        super::wait::pause(Duration::from_millis(1)).await;
        let numbers = self.1.numbers(self.0.rows);
        let mut batch = Batch::new();
        for number in numbers.clone() {
            batch.push(Headers::new(), number.to_string());
        }
        out.put(batch).await?;
        self.0.channels.iter().for_each(|channel| self.1.acknowledge(channel, numbers.clone()));
        Ok(Polled::Ready)
    }
}

/// Writes down every event, or refuses all.
pub(crate) struct Collect(Setting, Arc<Ledger>);

impl SinkType for Collect {
    const NAMES: &'static [&'static str] = &["collect"];
    const SUMMARY: &'static str = "Writes numbers down.";
    type Config = Setting;

    fn build(config: Setting, _: &SinkContext) -> Result<Self, BuildError> {
        let ledger = config.ledger()?;
        Ok(Self(config, ledger))
    }
}

impl Sink for Collect {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        // Others get a turn in the middle of a delivery.
        tokio::task::yield_now().await;
        if self.0.mode == "failing" {
            return Err(DeliverError::backoff("the script says so"));
        }
        let numbers = batch.iter().map(|event| std::str::from_utf8(event.body).unwrap().parse().unwrap());
        self.1.deliver(&self.0.channels[0], numbers);
        Ok(Delivery::all(batch))
    }
}
