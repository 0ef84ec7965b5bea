//! A source that puts numbered events and remembers which were acknowledged.

use super::lock;
use crate::{
    processor::{ChannelProcessor, PutError},
    source::{Shutdown, Source, SourceError},
    testing::numbered,
};
use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::sleep;

/// What a [`ScriptedSource`] does next. When its script is over, it waits for the stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceAct {
    /// Puts these events, again and again until they are stored.
    Put(Range<u64>),
    /// Does nothing for this time.
    Wait(Duration),
    /// Gives up.
    Fail,
}

/// A source for tests. All sources of one log share script and memory, so that a fresh one goes on where the last one was.
#[derive(Debug)]
pub struct ScriptedSource(Arc<SourceLog>);

/// What sources are to do, and what they got to hear.
#[derive(Debug, Default)]
pub struct SourceLog(Mutex<Log>);

#[derive(Debug, Default)]
struct Log {
    script: VecDeque<SourceAct>,
    acknowledged: Vec<u64>,
    refused: Vec<String>,
}

/// The pause after a refused put.
const RETRY: Duration = Duration::from_millis(10);

impl SourceLog {
    /// A log for sources that do this, in order.
    pub fn new(script: impl IntoIterator<Item = SourceAct>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Log { script: script.into_iter().collect(), ..Log::default() })))
    }

    /// One more source.
    pub fn source(self: &Arc<Self>) -> ScriptedSource {
        ScriptedSource(self.clone())
    }

    /// The numbers of the events that were acknowledged, in order.
    pub fn acknowledged(&self) -> Vec<u64> {
        lock(&self.0).acknowledged.clone()
    }

    /// Why puts were refused.
    pub fn refused(&self) -> Vec<String> {
        lock(&self.0).refused.clone()
    }

    async fn put(&self, out: &ChannelProcessor, range: Range<u64>) {
        let mut result = out.put(numbered(range.clone())).await;
        while let Err(error) = result {
            lock(&self.0).refused.push(error.to_string());
            sleep(RETRY).await;
            result = again(out, error).await;
        }
        let mut log = lock(&self.0);
        log.acknowledged.extend(range);
        log.script.pop_front();
    }
}

async fn again(out: &ChannelProcessor, error: PutError) -> Result<(), PutError> {
    out.retry(error).await?.await
}

impl Source for ScriptedSource {
    async fn run(&mut self, out: ChannelProcessor, mut shutdown: Shutdown) -> Result<(), SourceError> {
        let log = self.0.clone();
        loop {
            let next = lock(&log.0).script.front().cloned();
            let act = async {
                match next {
                    Some(SourceAct::Put(range)) => log.put(&out, range).await,
                    Some(SourceAct::Wait(time)) => {
                        sleep(time).await;
                        lock(&log.0).script.pop_front();
                    }
                    Some(SourceAct::Fail) => {
                        lock(&log.0).script.pop_front();
                        return Err(SourceError::new("the script says so"));
                    }
                    None => std::future::pending().await,
                }
                Ok(())
            };
            tokio::select! {
                biased;
                () = shutdown.requested() => return Ok(()),
                result = act => result?,
            }
        }
    }
}
