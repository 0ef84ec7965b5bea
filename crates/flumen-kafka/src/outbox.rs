//! A producer whose records belong to batches: it says of each batch once what has become of all its records.

use crate::client::{Reports, told};
use rdkafka::{
    ClientConfig, ClientContext, Message,
    config::RDKafkaLogLevel,
    error::KafkaError,
    message::{DeliveryResult, OwnedHeaders},
    producer::{BaseRecord, NoCustomPartitioner, ProducerContext, ThreadedProducer},
    types::RDKafkaErrorCode as Code,
};
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// A record to send.
#[derive(Debug, Default)]
pub(crate) struct Letter<'a> {
    pub(crate) topic: &'a str,
    pub(crate) partition: Option<i32>,
    pub(crate) key: Option<&'a str>,
    pub(crate) value: &'a [u8],
    /// Milliseconds since 1970.
    pub(crate) timestamp: Option<i64>,
    pub(crate) headers: Option<OwnedHeaders>,
}

/// Why a record was not even queued.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// The client's queue is full: to be sent when some have been confirmed.
    Full,
    /// Nobody will ever take it.
    Refused(&'static str),
    /// Something else; in words. After a fatal error the client takes nothing any more.
    Failed { why: String, fatal: bool },
}

/// What has become of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Records that the broker will never take, by position.
    pub(crate) refused: Vec<(u32, &'static str)>,
    /// Records that came with others and were too large together; perhaps not each by itself.
    pub(crate) too_large: Vec<u32>,
    /// Why others were not confirmed.
    pub(crate) failure: Option<String>,
}

/// Called once, on the client's thread.
type Done = Box<dyn FnOnce(Outcome) + Send>;

/// See the module. Dropping it gives up what is not confirmed; it may take a second, so not on an async thread.
pub(crate) struct Outbox {
    producer: ThreadedProducer<Letters>,
    flights: Arc<Flights>,
}

/// What the sending side and the client's thread share.
#[derive(Default)]
struct Flights {
    state: Mutex<State>,
    /// Raised when records have been confirmed.
    confirmed: Notify,
}

#[derive(Default)]
struct State {
    /// The serial number of the first of `open`.
    first: u32,
    open: VecDeque<Option<Flight>>,
}

struct Flight {
    /// Records without an answer, and one more while some are still to be sent.
    pending: u32,
    outcome: Outcome,
    done: Done,
}

/// The client's side.
struct Letters {
    flights: Arc<Flights>,
    reports: Reports,
}

impl Flights {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `n` answers at once; the end of the sending counts as one.
    fn answer(&self, serial: u32, n: u32, note: impl FnOnce(&mut Outcome)) {
        let finished = {
            let mut state = self.lock();
            let place = serial.wrapping_sub(state.first) as usize;
            let Some(slot) = state.open.get_mut(place) else { return };
            let Some(flight) = slot else { return };
            note(&mut flight.outcome);
            flight.pending = flight.pending.saturating_sub(n);
            let finished = if flight.pending == 0 { slot.take() } else { None };
            while state.open.front().is_some_and(Option::is_none) {
                state.open.pop_front();
                state.first = state.first.wrapping_add(1);
            }
            finished
        };
        if let Some(Flight { outcome, done, .. }) = finished {
            done(outcome);
        }
        self.confirmed.notify_waiters();
    }
}

impl Outbox {
    /// A producer with these settings. It connects by itself.
    ///
    /// # Errors
    /// The settings do not fit together; in words.
    pub(crate) fn new(config: &ClientConfig, reports: Reports) -> Result<Self, String> {
        let flights = Arc::new(Flights::default());
        let letters = Letters { flights: flights.clone(), reports };
        let producer = config.create_with_context(letters).map_err(|error| error.to_string())?;
        Ok(Self { producer, flights })
    }

    /// Begins a batch of so many records; `done` is called when all of them are answered, after [`Self::end`].
    pub(crate) fn begin(&self, n_records: u32, done: impl FnOnce(Outcome) + Send + 'static) -> u32 {
        let mut state = self.flights.lock();
        state.open.push_back(Some(Flight {
            pending: n_records + 1,
            outcome: Outcome::default(),
            done: Box::new(done),
        }));
        state.first.wrapping_add(u32::try_from(state.open.len() - 1).unwrap_or(u32::MAX))
    }

    /// Sends one record of a batch.
    pub(crate) fn send(&self, serial: u32, index: u32, letter: Letter<'_>) -> Result<(), NotSent> {
        let opaque = ((serial as usize) << 32) | index as usize;
        let mut record =
            BaseRecord::<str, [u8], usize>::with_opaque_to(letter.topic, opaque).payload(letter.value);
        if let Some(key) = letter.key {
            record = record.key(key);
        }
        if let Some(partition) = letter.partition {
            record = record.partition(partition);
        }
        if let Some(timestamp) = letter.timestamp {
            record = record.timestamp(timestamp);
        }
        if let Some(headers) = letter.headers {
            record = record.headers(headers);
        }
        let Err((error, _)) = self.producer.send(record) else { return Ok(()) };
        Err(match error.rdkafka_error_code() {
            Some(Code::QueueFull) => NotSent::Full,
            Some(code) => match refusal(code) {
                Some(why) => NotSent::Refused(why),
                None => NotSent::Failed { why: told(&error), fatal: code == Code::Fatal },
            },
            None => NotSent::Refused("its topic is no name of a topic"),
        })
    }

    /// All records of a batch are sent, but for those that were refused.
    pub(crate) fn end(&self, serial: u32, refused: Vec<(u32, &'static str)>) {
        let n = u32::try_from(refused.len()).unwrap_or(u32::MAX);
        self.flights.answer(serial, n.saturating_add(1), |outcome| outcome.refused.extend(refused));
    }

    /// No more records of a batch are sent: the last `n_left` were not.
    pub(crate) fn break_off(&self, serial: u32, n_left: u32, why: String) {
        self.flights.answer(serial, n_left.saturating_add(1), |outcome| {
            outcome.failure.get_or_insert(why);
        });
    }

    /// Listens for confirmations.
    pub(crate) fn confirmed(&self) -> tokio::sync::futures::Notified<'_> {
        self.flights.confirmed.notified()
    }
}

/// What no retry can help.
fn refusal(code: Code) -> Option<&'static str> {
    match code {
        Code::MessageSizeTooLarge => Some(TOO_LARGE),
        Code::InvalidRecord => Some("the broker does not take it (a compacted topic wants keys)"),
        Code::InvalidTimestamp => Some("its time is outside of what the topic takes"),
        Code::InvalidTopic => Some("its topic is no name of a topic"),
        Code::UnknownPartition => Some("its topic has no partition of that number"),
        _ => None,
    }
}

/// Why a record that is too large is given up.
pub(crate) const TOO_LARGE: &str =
    "it is larger than max.request.size here, or max.message.bytes of the topic: raise both";

impl ClientContext for Letters {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        self.reports.log(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.reports.error(&error, reason);
    }
}

impl ProducerContext<NoCustomPartitioner> for Letters {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, opaque: usize) {
        let (serial, index) = ((opaque >> 32) as u32, opaque as u32);
        self.flights.answer(serial, 1, |outcome| {
            let Err((error, message)) = result else { return };
            match error.rdkafka_error_code() {
                Some(Code::MessageSizeTooLarge) => outcome.too_large.push(index),
                code => match code.and_then(refusal) {
                    Some(why) => outcome.refused.push((index, why)),
                    None => {
                        outcome.failure.get_or_insert_with(|| {
                            let partition = message.partition();
                            let place = if partition < 0 {
                                String::new()
                            } else {
                                format!(", partition {partition}")
                            };
                            let servers = self.reports.servers();
                            format!("topic {}{place} at {servers}: {}", message.topic(), told(error))
                        });
                    }
                },
            }
        });
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("open", &self.flights.lock().open.len()).finish_non_exhaustive()
    }
}

/// Drops what takes its time to drop, beside the async threads.
pub(crate) fn drop_aside(what: Option<impl Send + 'static>) {
    let Some(what) = what else { return };
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(move || drop(what))),
        Err(_) => {
            // Perhaps a thread of the client's own, which its end waits for. Without a thread it is left to the process's end.
            let thread = std::thread::Builder::new().name("kafka-end".to_owned());
            let _ = thread.spawn(move || drop(what));
        }
    }
}
