//! How an event becomes a record: its topic, key, partition, time, headers and value.

use super::config::Keys;
use crate::{
    datum,
    keys::is_topic,
    outbox::{Letter, NotSent},
};
use flumen_core::{
    event::{Event, EventHeaders, Text},
    registry::{BuildContext, BuildError},
    seldom::Seldom,
};
use flumen_java::dates::{HostNames, Locale, PathOptions, PathTemplate, Zone};
use rdkafka::message::{Header, OwnedHeaders};
use std::net::ToSocketAddrs;

/// The header that is the record's key.
const KEY: &str = "key";
const NO_NUMBER: &str = "its header for the partition is no number";
const NO_TOPIC: &str = "its topic is no name of a topic";
const NO_TIME: &str = "its topic needs the header timestamp, in milliseconds";

/// Makes records. It keeps buffers from event to event.
#[derive(Debug)]
pub(super) struct Records {
    topic: Topic,
    topic_header: Option<String>,
    partition: Option<i32>,
    partition_header: Option<String>,
    timestamp_header: Option<String>,
    /// Event header and record header.
    headers: Vec<(String, String)>,
    whole: bool,
    value: Vec<u8>,
    topic_text: String,
    bad_time: Seldom,
}

#[derive(Debug)]
enum Topic {
    Same(String),
    Pattern(PathTemplate),
}

impl Records {
    pub(super) fn new(keys: Keys, context: &BuildContext) -> Result<Self, BuildError> {
        let topic = match keys.allow_topic_override {
            true => Topic::of(&keys.topic, context)?,
            false => Topic::Same(keys.topic),
        };
        Ok(Self {
            topic,
            topic_header: keys.allow_topic_override.then_some(keys.topic_header),
            partition: keys.default_partition_id,
            partition_header: keys.partition_id_header,
            timestamp_header: keys.timestamp_header,
            headers: keys.record_headers.into_iter().collect(),
            whole: keys.use_flume_event_format,
            value: Vec::new(),
            topic_text: String::new(),
            bad_time: Seldom::default(),
        })
    }

    /// The record of an event.
    ///
    /// # Errors
    /// `Refused`: the event cannot become one.
    pub(super) fn letter<'a>(&'a mut self, event: Event<'a>) -> Result<Letter<'a>, NotSent> {
        let header = |name: &str| event.headers.get(name).map(|text| -> &'a str { text });
        let timestamp = self.timestamp_header.as_deref().and_then(header).and_then(|text| {
            let time = text.trim().parse().ok();
            if time.is_none() && self.bad_time.due().is_some() {
                tracing::warn!(
                    header = self.timestamp_header,
                    "no milliseconds since 1970: the record's time is that of sending"
                );
            }
            time
        });
        let partition = match self.partition_header.as_deref().and_then(header) {
            Some(text) => {
                Some(text.trim().parse().ok().filter(|n| *n >= 0).ok_or(NotSent::Refused(NO_NUMBER))?)
            }
            None => self.partition,
        };
        let headers = record_headers(&self.headers, &event.headers);
        if self.whole {
            self.value.clear();
            datum::encode(event, &mut self.value);
        }
        let named = self.topic_header.as_deref().and_then(header);
        let topic = match (named, &self.topic) {
            (Some(named), _) => checked(named)?,
            (None, Topic::Same(topic)) => topic,
            (None, Topic::Pattern(pattern)) => {
                self.topic_text.clear();
                let rendered = pattern.render(&mut self.topic_text, |name| header(name), None);
                rendered.map_err(|_| NotSent::Refused(NO_TIME))?;
                checked(&self.topic_text)?
            }
        };
        let value = if self.whole { &self.value } else { event.body };
        Ok(Letter { topic, partition, key: header(KEY), value, timestamp, headers })
    }
}

fn checked(topic: &str) -> Result<&str, NotSent> {
    if is_topic(topic) { Ok(topic) } else { Err(NotSent::Refused(NO_TOPIC)) }
}

fn record_headers(names: &[(String, String)], headers: &EventHeaders<'_>) -> Option<OwnedHeaders> {
    let mut found: Option<OwnedHeaders> = None;
    for (name, key) in names {
        let Some(value) = headers.get(name) else { continue };
        let header = Header { key, value: Some(Text::as_str(value)) };
        found = Some(found.unwrap_or_else(|| OwnedHeaders::new_with_capacity(names.len())).insert(header));
    }
    found
}

impl Topic {
    fn of(text: &str, context: &BuildContext) -> Result<Self, BuildError> {
        if !text.contains('%') {
            return Ok(Self::Same(text.to_owned()));
        }
        let hosts = if text.contains("%[") { host_names() } else { HostNames::default() };
        let options = PathOptions { zone: Zone::system(), locale: Locale::us(), rounding: None, hosts };
        let pattern = PathTemplate::compile(text, &options).map_err(|error| {
            BuildError::with(
                format!("{}.sinks.{}.kafka.topic", context.agent, context.name),
                error.to_string(),
            )
        })?;
        Ok(match pattern.as_constant() {
            Some(constant) => Self::Same(constant.to_owned()),
            None => Self::Pattern(pattern),
        })
    }
}

/// Names of this machine; its host name where nothing else is known.
fn host_names() -> HostNames {
    let localhost = dns_lookup::get_hostname().unwrap_or_else(|_| "localhost".to_owned());
    let address = (localhost.as_str(), 0).to_socket_addrs().ok().and_then(|mut found| found.next());
    let address = address.map(|address| address.ip());
    let fqdn = address.and_then(|address| dns_lookup::lookup_addr(&address).ok());
    HostNames {
        fqdn: fqdn.unwrap_or_else(|| localhost.clone()),
        ip: address.map_or_else(|| localhost.clone(), |address| address.to_string()),
        localhost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build_context, config};
    use flumen_core::event::Batch;

    fn records(pairs: &[(&str, &str)]) -> Records {
        let config: super::super::KafkaSinkConfig = config("a.sinks.k", pairs);
        Records::new(config.keys, &build_context("k")).unwrap()
    }

    fn batch(headers: &[(&str, &str)]) -> Batch {
        let mut batch = Batch::new();
        batch.push(headers.iter().copied().collect(), "body");
        batch
    }

    fn topic(pairs: &[(&str, &str)], headers: &[(&str, &str)]) -> Result<String, NotSent> {
        let batch = batch(headers);
        records(pairs).letter(batch.get(0).unwrap()).map(|letter| letter.topic.to_owned())
    }

    #[test]
    fn kss_30_a_header_names_the_topic_and_another_the_key() {
        let batch = batch(&[("topic", "other"), ("key", "k")]);
        let mut records = records(&[]);
        let letter = records.letter(batch.get(0).unwrap()).unwrap();
        assert_eq!((letter.topic, letter.key, letter.value), ("other", Some("k"), &b"body"[..]));
        assert_eq!(topic(&[("topicHeader", "t")], &[("topic", "other")]).unwrap(), "default-flume-topic");
        assert_eq!(
            topic(&[("allowTopicOverride", "false")], &[("topic", "o")]).unwrap(),
            "default-flume-topic"
        );
    }

    #[test]
    fn kss_33_escapes_are_replaced_in_the_topic() {
        let pattern = [("kafka.topic", "%{header1}-topic")];
        assert_eq!(topic(&pattern, &[("header1", "x")]).unwrap(), "x-topic");
        assert_eq!(topic(&pattern, &[("header1", "a/b")]), Err(NotSent::Refused(NO_TOPIC)));
        let dated = [("kafka.topic", "t-%Y")];
        assert_eq!(topic(&dated, &[("timestamp", "1600000000000")]).unwrap(), "t-2020");
        assert_eq!(topic(&dated, &[]), Err(NotSent::Refused(NO_TIME)));
        let host = topic(&[("kafka.topic", "t-%[localhost]")], &[]).unwrap();
        assert_eq!(host, format!("t-{}", dns_lookup::get_hostname().unwrap()));
    }

    #[test]
    fn kss_31_time_and_record_headers_come_from_event_headers() {
        let pairs = [
            ("timestampHeader", "timestamp"),
            ("header.correlator", "C"),
            ("header.method", "M"),
            ("header.none", "N"),
        ];
        let mut records = records(&pairs);
        let events = batch(&[("timestamp", "17"), ("correlator", "12345"), ("method", "hall\u{f6}")]);
        let letter = records.letter(events.get(0).unwrap()).unwrap();
        assert_eq!(letter.timestamp, Some(17));
        use rdkafka::message::Headers as _;
        let headers = letter.headers.unwrap();
        let all: Vec<_> = headers.iter().map(|header| (header.key, header.value)).collect();
        assert_eq!(all, [("C", Some(&b"12345"[..])), ("M", Some("hall\u{f6}".as_bytes()))]);
        let events = batch(&[("timestamp", "noon")]);
        let letter = records.letter(events.get(0).unwrap()).unwrap();
        assert_eq!((letter.timestamp, letter.headers.is_none()), (None, true));
    }

    #[test]
    fn kss_36_a_header_wins_over_the_static_partition() {
        let partition = |pairs: &[(&str, &str)], headers: &[(&str, &str)]| {
            let events = batch(headers);
            records(pairs).letter(events.get(0).unwrap()).map(|letter| letter.partition)
        };
        let both = [("defaultPartitionId", "3"), ("partitionIdHeader", "p")];
        assert_eq!(partition(&both, &[("p", "1")]), Ok(Some(1)));
        assert_eq!(partition(&both, &[]), Ok(Some(3)));
        assert_eq!(partition(&both[1..], &[]), Ok(None));
        assert_eq!(partition(&both, &[("p", "one")]), Err(NotSent::Refused(NO_NUMBER)));
        assert_eq!(partition(&both, &[("p", "-1")]), Err(NotSent::Refused(NO_NUMBER)));
    }

    #[test]
    fn kss_34_the_whole_event_is_a_datum_and_the_key_is_the_header() {
        let events = batch(&[("key", "k"), ("topic", "t")]);
        let mut records = records(&[("useFlumeEventFormat", "true")]);
        let letter = records.letter(events.get(0).unwrap()).unwrap();
        let (headers, body) = datum::decode(letter.value).unwrap();
        assert_eq!((headers.len(), &letter.value[body], letter.key), (2, &b"body"[..], Some("k")));
    }
}
