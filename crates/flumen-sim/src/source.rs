//! A source that puts numbered events, offers what was refused again or gives it up, keeps several puts open, fails and panics.

use crate::{
    events,
    observer::{Observer, observer},
    scenario::MOST_EVENTS,
};
use flumen_core::{
    config::{Configuration, Property, View},
    processor::{ChannelProcessor, PendingPut, PutError},
    registry::{BuildError, SourceContext, SourceType},
    source::{Shutdown, Source, SourceError},
};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::sleep;

/// What the configuration says of it.
#[derive(Debug)]
pub(crate) struct Script {
    world: u64,
    rules: u64,
    open_puts: u64,
}

impl Configuration for Script {
    const PROPERTIES: &'static [Property] = &[
        Property { key: "world", kind: "number", doc: "Its observer.", default: Some("0"), ..Property::NEW },
        Property { key: "rules", kind: "number", doc: "Its rules.", default: Some("0"), ..Property::NEW },
        Property { key: "openPuts", kind: "number", doc: "Open puts.", default: Some("1"), ..Property::NEW },
    ];

    fn read(view: &mut View<'_>) -> Option<Self> {
        let [world, rules, open_puts] = Self::PROPERTIES else { return None };
        Some(Self { world: view.value(world)?, rules: view.value(rules)?, open_puts: view.value(open_puts)? })
    }
}

/// See the module.
pub(crate) struct ScriptedSource {
    observer: Arc<Observer>,
    name: Arc<str>,
    rules: usize,
    open_puts: usize,
}

impl SourceType for ScriptedSource {
    const NAMES: &'static [&'static str] = &["scripted"];
    const SUMMARY: &'static str = "Puts numbered events.";
    type Config = Script;

    fn build(config: Script, context: &SourceContext) -> Result<Self, BuildError> {
        let index = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        Ok(Self {
            observer: observer(config.world),
            name: context.common.name.clone(),
            rules: index(config.rules),
            open_puts: index(config.open_puts),
        })
    }
}

impl Source for ScriptedSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        tokio::select! {
            biased;
            () = shutdown.requested() => Ok(()),
            end = self.put_for_ever(&out) => end,
        }
    }
}

impl ScriptedSource {
    async fn put_for_ever(&self, out: &ChannelProcessor) -> Result<(), SourceError> {
        let mut open: VecDeque<(Vec<u64>, PendingPut)> = VecDeque::new();
        loop {
            while open.len() >= self.open_puts.max(1) {
                self.answer(out, &mut open).await;
            }
            if self.observer.is_over() {
                while !open.is_empty() {
                    self.answer(out, &mut open).await;
                }
                return self.say_last_words(out).await;
            }
            match self.observer.chance(40) {
                0 => return Err(SourceError::new("the script says so")),
                1 => sleep(Duration::from_millis(self.observer.chance(8_000))).await,
                2 => {
                    while !open.is_empty() {
                        self.answer(out, &mut open).await;
                    }
                    sleep(Duration::from_millis(50)).await;
                }
                _ => sleep(Duration::from_millis(self.observer.chance(200))).await,
            }
            let n_events = 1 + self.observer.chance(u64::from(MOST_EVENTS));
            let numbers = self.observer.begin_put(&self.name, self.rules, n_events);
            let batch = events::batch(&numbers);
            match out.begin(batch).await {
                Ok(put) => open.push_back((numbers, put)),
                Err(error) => {
                    // Those that are under way come first.
                    while !open.is_empty() {
                        self.answer(out, &mut open).await;
                    }
                    self.offer_again(out, &numbers, error).await;
                }
            }
        }
    }

    /// One event more, again and again until it is stored: whoever gets well takes it.
    async fn say_last_words(&self, out: &ChannelProcessor) -> Result<(), SourceError> {
        let numbers = self.observer.begin_put(&self.name, self.rules, 1);
        let mut put = out.put(events::batch(&numbers)).await;
        while let Err(error) = put {
            sleep(Duration::from_secs(1)).await;
            put = match out.retry(error).await {
                Ok(put) => put.await,
                Err(refused) => Err(refused),
            };
        }
        self.observer.acknowledged(&self.name, &numbers);
        self.observer.is_well(&self.name);
        std::future::pending().await
    }

    /// Waits for the oldest open put.
    async fn answer(&self, out: &ChannelProcessor, open: &mut VecDeque<(Vec<u64>, PendingPut)>) {
        let Some((numbers, put)) = open.pop_front() else { return };
        match put.await {
            Ok(()) => self.observer.acknowledged(&self.name, &numbers),
            Err(error) => {
                // What comes behind it may be stored already: its order is lost.
                self.observer.out_of_order(&numbers);
                self.offer_again(out, &numbers, error).await;
            }
        }
    }

    /// Offers a refused batch again until it is stored, or gives it up.
    async fn offer_again(&self, out: &ChannelProcessor, numbers: &[u64], mut error: PutError) {
        loop {
            if self.observer.chance(10) == 0 || self.observer.is_over() {
                self.observer.given_up(&self.name, numbers);
                return;
            }
            sleep(Duration::from_millis(10 + self.observer.chance(2_000))).await;
            let again = match out.retry(error).await {
                Ok(put) => put.await,
                Err(refused) => Err(refused),
            };
            match again {
                Ok(()) => return self.observer.acknowledged(&self.name, numbers),
                Err(refused) => error = refused,
            }
        }
    }
}
