//! The messages of `multiport_syslogtcp`, as its own parser of Java Flume reads them: stricter heads, and a bad message is told
//! apart by its status alone.

use crate::shared::syslog::{
    Body, Fields, Keep, Names, Stamps, Status,
    hostile::{Choice, NOW_MS, through},
    rfc3164, rfc5424,
};
use flumen_core::event::Batch;
use flumen_java::charset::{Charset, OnError};
use std::borrow::Cow;

/// How messages are read.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) keep: Keep,
    pub(super) stamps: Stamps,
}

/// A message in its charset, as the text that is read.
pub(super) fn decode(charset: Charset, message: &[u8]) -> Option<Cow<'_, str>> {
    charset.decode(message, OnError::Report).ok()
}

/// What is no message: the whole line, and nothing told of it.
pub(super) fn invalid(len: usize) -> Fields<'static> {
    Fields {
        priority: None,
        priority_text: None,
        version: None,
        timestamp: None,
        host: None,
        status: Status::Invalid,
        body: Body::Part(0..len),
    }
}

/// The events that a stream in UTF-8 becomes, for hostile input.
#[doc(hidden)]
pub fn events(stream: &[u8], choice: Choice) -> Batch {
    let rules = Rules { keep: choice.keep(), stamps: Choice::stamps() };
    through(stream, choice, Names::capital(), |message, is_cut, with| match std::str::from_utf8(message) {
        Ok(text) => with(&rules.read(text, is_cut, NOW_MS)),
        Err(_) => with(&invalid(message.len())),
    })
}

impl Rules {
    /// Reads a message without its line end. `is_cut`: it is the beginning of a longer one.
    pub(super) fn read<'a>(&self, message: &'a str, is_cut: bool, now_ms: i64) -> Fields<'a> {
        let fields = self.head(message, now_ms).unwrap_or_else(|| invalid(message.len()));
        match fields.status {
            Status::Good if is_cut => Fields { status: Status::Incomplete, ..fields },
            _ => fields,
        }
    }

    fn head<'a>(&self, message: &'a str, now_ms: i64) -> Option<Fields<'a>> {
        // The number has one to five digits.
        let (priority_text, mut rest) = message.strip_prefix('<')?.split_once('>')?;
        if priority_text.len() > 5 || !priority_text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let priority = priority_text.parse().ok()?;
        let version = rest.strip_prefix("1 ").map(|after| {
            rest = after;
            "1"
        });
        let (stamp, timestamp, rest) = self.stamp(rest, now_ms)?;
        let (host, text) = rest.split_once(' ')?;
        let body = if self.keep.all || text.is_empty() {
            Body::Part(0..message.len())
        } else if self.keep.is_some() {
            let (stamp, host) = (stamp.as_bytes(), host.as_bytes());
            Body::Made(self.keep.body(priority_text, version, stamp, host, text.as_bytes()))
        } else {
            Body::Part(message.len() - text.len()..message.len())
        };
        Some(Fields {
            priority: Some(priority),
            priority_text: Some(priority_text),
            version,
            timestamp,
            host: Some(host),
            status: Status::Good,
            body,
        })
    }

    /// The stamp as it is written, its instant, and what follows behind a blank. A date of RFC 3164 that no clock shows gives no
    /// instant; one of RFC 5424 is no stamp.
    fn stamp<'a>(&self, text: &'a str, now_ms: i64) -> Option<(&'a str, Option<i64>, &'a str)> {
        if let Some(rest) = text.strip_prefix("- ") {
            return Some(("-", Some(now_ms), rest));
        }
        if text.starts_with(|c: char| c.is_ascii_uppercase()) {
            let (reading, len) = rfc3164(text.as_bytes())?;
            let instant = reading.filter(|reading| reading.is_real_in_some_year());
            let instant = instant.map(|reading| self.stamps.instant_near(&reading, now_ms));
            return Some((&text[..len], instant, text[len..].strip_prefix([' ', '\t'])?));
        }
        let (stamp, rest) = text.split_once(' ')?;
        // Nineteen characters without a zone are refused, as in Java Flume.
        if stamp.len() < 20 {
            return None;
        }
        let upper = stamp.to_ascii_uppercase();
        let (reading, len) = rfc5424(upper.as_bytes(), usize::MAX)?;
        let reading = reading.or_utc();
        (len == stamp.len() && reading.is_real()).then(|| (stamp, Some(self.stamps.instant(&reading)), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_java::dates::Zone;

    fn rules() -> Rules {
        Rules { keep: Keep::default(), stamps: Stamps::new(Zone::utc()) }
    }

    #[test]
    fn sys_02_known_messages_have_no_status() {
        for message in [
            "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8",
            "<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!",
            "<165>Aug 24 05:34:00 CST 1987 mymachine myproc[10]: %% It's",
            "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - BOM'su root' failed",
            "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time",
            "<13>2012-04-13T08:08:08+00:00 no.version.example text without a tag",
        ] {
            assert_eq!(rules().read(message, false, 1_796_060_063_000).status, Status::Good, "{message}");
        }
    }

    #[test]
    fn sys_03_kept_parts_stand_in_front_of_the_text() {
        let message = "<34>1 2003-10-11T22:14:15Z host.example text";
        let all = Rules { keep: Keep { all: true, ..Keep::default() }, ..rules() };
        assert_eq!(all.read(message, false, 0).body, Body::Part(0..message.len()));
        let hostname = Rules { keep: Keep { hostname: true, ..Keep::default() }, ..rules() };
        assert_eq!(hostname.read(message, false, 0).body, Body::Made(b"host.example text".to_vec()));
    }

    #[test]
    fn stamps_that_no_clock_shows() {
        for (message, status, timestamp) in [
            ("<13>Feb 31 12:00:00 h t", Status::Good, None),
            ("<13>Foo 11 12:00:00 h t", Status::Good, None),
            ("<13>Feb 29 25:00:00 h t", Status::Good, None),
            ("<13>1 2003-13-11T22:14:15Z h t", Status::Invalid, None),
            ("<13>1 2003-10-11T22:14:15.250 h t", Status::Good, Some(1_065_910_455_250)),
            ("<13>1 2003-10-11T22:14:15 h t", Status::Invalid, None),
            ("<13>1 2003-10-11T22:14:15Zx h t", Status::Invalid, None),
            ("<13>1 - h t", Status::Good, Some(1_796_060_063_000)),
        ] {
            let fields = rules().read(message, false, 1_796_060_063_000);
            assert_eq!((fields.status, fields.timestamp), (status, timestamp), "{message}");
        }
    }

    #[test]
    fn any_text_can_be_read() {
        let good = "<34>1 2003-10-11T22:14:15.003+02:00 hôst.example - text";
        for at in (0..=good.len()).filter(|at| good.is_char_boundary(*at)) {
            for put in ["", "é", " ", "<", ">", "-", "9", "\0", "Z"] {
                let message = format!("{}{put}{}", &good[..at], &good[at..]);
                rules().read(&message, false, 0);
                rules().read(&message[..at], true, 0);
            }
        }
    }
}
