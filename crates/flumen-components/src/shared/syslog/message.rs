//! The messages of `syslogtcp` and `syslogudp`: what a priority is, and the two heads that Java Flume knows, RFC 5424 and
//! RFC 3164, each with an optional version digit. What has neither head is an event as a whole.

use super::{
    custom::CustomFormat,
    fields::{Body, Fields, Status},
    keep::Keep,
    stamp::{Reading, Stamps, is_blank, rfc3164, rfc5424},
};
use std::ops::Range;

/// How messages are read.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    pub(crate) keep: Keep,
    pub(crate) stamps: Stamps,
    /// A head that is tried before the others.
    pub(crate) custom: Option<CustomFormat>,
}

/// The head of a message, as places in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) priority: Range<usize>,
    pub(super) version: Range<usize>,
    pub(super) stamp: Option<Range<usize>>,
    pub(super) timestamp: Option<i64>,
    pub(super) host: Option<Range<usize>>,
    pub(super) body: Range<usize>,
}

impl Rules {
    /// Reads a message without its line end. `is_cut`: it is the beginning of a longer one.
    pub(crate) fn read<'a>(&self, message: &'a [u8], is_cut: bool, now_ms: i64) -> Fields<'a> {
        let priority = priority(message);
        let status = match priority {
            None => Status::Invalid,
            Some(_) if is_cut => Status::Incomplete,
            Some(_) => Status::Good,
        };
        let custom = self.custom.as_ref().and_then(|custom| custom.head(message, &self.stamps, now_ms));
        let head = custom.or_else(|| priority.and_then(|_| self.head(message, now_ms)));
        let whole = Body::Part(0..message.len());
        let Some(head) = head else {
            let (timestamp, host) = (None, None);
            return Fields {
                priority,
                priority_text: None,
                version: None,
                timestamp,
                host,
                status,
                body: whole,
            };
        };
        let text = |range: &Range<usize>| std::str::from_utf8(&message[range.clone()]).ok();
        let version = text(&head.version).filter(|version| !version.is_empty());
        let body = if self.keep.all || (head.body.is_empty() && !self.keep.is_some()) {
            whole
        } else if self.keep.is_some() {
            let part =
                |range: &Option<Range<usize>>| range.clone().map_or(&b"-"[..], |range| &message[range]);
            let priority = text(&head.priority).unwrap_or_default();
            let (stamp, host) = (part(&head.stamp), part(&head.host));
            Body::Made(self.keep.body(priority, version, stamp, host, &message[head.body.clone()]))
        } else {
            Body::Part(head.body)
        };
        Fields {
            priority,
            priority_text: text(&head.priority).filter(|priority| !priority.is_empty()),
            version,
            timestamp: head.timestamp,
            host: head.host.as_ref().and_then(text),
            status,
            body,
        }
    }

    /// A head by one of the RFCs.
    fn head(&self, message: &[u8], now_ms: i64) -> Option<Head> {
        let close = message.iter().take(5).position(|byte| *byte == b'>')?;
        let digit = message.get(close + 1).is_some_and(u8::is_ascii_digit);
        // A digit may be a version or the first one of a year.
        let versions = [digit.then_some(1), Some(0)];
        let (version, at, stamp) = versions.into_iter().flatten().find_map(|len| {
            let version = close + 1..close + 1 + len;
            let at = version.end + usize::from(message.get(version.end).is_some_and(|byte| is_blank(*byte)));
            Some((version, at, Stamp::read(&message[at..])?))
        })?;
        let stamp_end = at + stamp.len;
        let host_at = stamp_end + blank(message, stamp_end)?;
        let host_len = match message.get(host_at)? {
            b'-' if stamp.may_lack_host => 1,
            _ => host_len(&message[host_at..])?,
        };
        let host = host_at..host_at + host_len;
        let body = host.end + blank(message, host.end)?;
        if has_line_end(&message[body..]) {
            return None;
        }
        Some(Head {
            priority: 1..close,
            version,
            timestamp: match &stamp.reading {
                Some(reading) if stamp.has_year => Some(self.stamps.instant(reading)),
                Some(reading) => Some(self.stamps.instant_near(reading, now_ms)),
                None => None,
            },
            stamp: (message[at..stamp_end] != *b"-").then_some(at..stamp_end),
            host: (message[host.clone()] != *b"-").then_some(host),
            body: body..message.len(),
        })
    }
}

/// A stamp at the start of what is left.
struct Stamp {
    /// `None`: `-`, or a month that is none.
    reading: Option<Reading>,
    has_year: bool,
    /// `-` may stand for the host.
    may_lack_host: bool,
    len: usize,
}

impl Stamp {
    fn read(text: &[u8]) -> Option<Self> {
        let (has_year, may_lack_host) = (true, true);
        if text.first() == Some(&b'-') {
            return Some(Self { reading: None, has_year, may_lack_host, len: 1 });
        }
        if let Some((reading, len)) = rfc5424(text, 6) {
            return Some(Self { reading: Some(reading), has_year, may_lack_host, len });
        }
        let (reading, len) = rfc3164(text)?;
        Some(Self { reading, has_year: false, may_lack_host: false, len })
    }
}

/// The number of `<number>` at the start, of one to three digits.
fn priority(message: &[u8]) -> Option<u32> {
    let digits = message.strip_prefix(b"<")?;
    let len = digits.iter().take(4).position(|byte| *byte == b'>')?;
    std::str::from_utf8(&digits[..len])
        .ok()
        .filter(|_| digits[..len].iter().all(u8::is_ascii_digit))?
        .parse()
        .ok()
}

/// One blank at `at`.
fn blank(message: &[u8], at: usize) -> Option<usize> {
    message.get(at).is_some_and(|byte| is_blank(*byte)).then_some(1)
}

/// The length of a host name or an IPv4 address, as Java Flume takes one: not of an IPv6 address.
fn host_len(text: &[u8]) -> Option<usize> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    is_word(text.first()?)
        .then(|| text.iter().take_while(|byte| is_word(byte) || matches!(byte, b'.' | b'@' | b'-')).count())
}

/// Whether there is what `.` does not match in a Java pattern, but for the newline: a datagram may have lines behind its head.
fn has_line_end(text: &[u8]) -> bool {
    memchr::memchr3_iter(b'\r', 0xc2, 0xe2, text).any(|at| {
        text[at] == b'\r'
            || text[at..].starts_with("\u{85}".as_bytes())
            || text[at..].starts_with("\u{2028}".as_bytes())
            || text[at..].starts_with("\u{2029}".as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flumen_java::dates::Zone;

    fn rules(keep: Keep) -> Rules {
        Rules { keep, stamps: Stamps::new(Zone::utc()), custom: None }
    }

    fn body(fields: &Fields<'_>, message: &[u8]) -> Vec<u8> {
        match &fields.body {
            Body::Part(range) => message[range.clone()].to_vec(),
            Body::Made(body) => body.clone(),
        }
    }

    #[test]
    fn sys_19_what_is_no_priority() {
        for (message, priority) in [
            (&b"<0>"[..], Some(0)),
            (b"<13>x", Some(13)),
            (b"<007>", Some(7)),
            (b"<999>", Some(999)),
            (b"<1000>", None),
            (b"<>", None),
            (b"<10F>", None),
            (b"<-1>", None),
            (b"< 5>", None),
            (b"<34", None),
            (b"<", None),
            (b"x", None),
            (b"", None),
        ] {
            assert_eq!(super::priority(message), priority, "{message:?}");
        }
    }

    #[test]
    fn sys_19_a_bad_message_is_kept_whole_and_told_apart() {
        let message = b"<10F>Apr  1 13:14:04 host text";
        let fields = rules(Keep::default()).read(message, false, 0);
        assert_eq!((fields.priority, fields.status, fields.host), (None, Status::Invalid, None));
        assert_eq!(body(&fields, message), message);
    }

    #[test]
    fn a_cut_message_is_incomplete_unless_it_is_none() {
        let rules = rules(Keep::default());
        assert_eq!(rules.read(b"<13>x", true, 0).status, Status::Incomplete);
        assert_eq!(rules.read(b"x", true, 0).status, Status::Invalid);
    }

    #[test]
    fn lines_behind_the_head_of_a_datagram_belong_to_the_text() {
        let message = b"<13>Oct 11 22:14:15 host first\nsecond";
        let fields = rules(Keep::default()).read(message, false, 0);
        assert_eq!((fields.host, body(&fields, message)), (Some("host"), b"first\nsecond".to_vec()));
    }

    #[test]
    fn bytes_that_are_no_utf_8_stay_as_they_are() {
        let message = b"<13>Oct 11 22:14:15 host gr\xfc\xdfe";
        assert_eq!(body(&rules(Keep::default()).read(message, false, 0), message), b"gr\xfc\xdfe");
    }

    #[test]
    fn any_bytes_can_be_read() {
        let keep = Keep { priority: true, version: true, timestamp: true, hostname: true, all: false };
        let good = b"<34>1 2003-10-11T22:14:15.003+02:00 host.example - text\r";
        for rules in [rules(Keep::default()), rules(keep)] {
            for at in 0..good.len() {
                for byte in 0..=255 {
                    let mut message = good.to_vec();
                    message[at] = byte;
                    rules.read(&message, false, 1_796_060_063_000);
                    rules.read(&message[..at], true, 1_796_060_063_000);
                    rules.read(&message[at..], false, 1_796_060_063_000);
                }
            }
        }
    }
}
