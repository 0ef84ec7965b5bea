//! Joda-Time patterns against the answers of Joda-Time 2.9.9.

#![allow(clippy::unwrap_used, reason = "what does not unwrap fails the test")]

mod support;

use flumen_java::dates::{JodaError, JodaFormat, Locale, Zone};
use support::{compare, rows};

const JODA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/parity/golden/dates/joda.tsv");

/// Rows that differ: see "Dates and times" in docs/differences.md, row "Time zone data".
const EXCEPTIONS: [(&str, &str); 2] = [
    ("J340", "Joda-Time 2.9.9 has zone data of 2017, in which Kolkata's time before 1906 was another"),
    (
        "J343",
        "Joda-Time 2.9.9 has zone data of 2017, in which Shanghai's summer time of 1986 began at another hour",
    ),
];

#[test]
fn texts_are_read_as_joda_time_reads_them() {
    compare(&rows(JODA), &EXCEPTIONS, 280, |row| {
        let text = &row[3];
        let zone = Zone::of_id(&row[2]);
        let actual = match JodaFormat::compile(&row[1], &Locale::us(), &zone, 1_750_000_000_000) {
            Err(_) => "!pattern IllegalArgumentException".to_owned(),
            Ok(format) => match format.parse(text) {
                Ok(millis) => millis.to_string(),
                Err(JodaError::Malformed(0)) => "!IllegalArgumentException".to_owned(),
                Err(JodaError::Malformed(at)) if at == text.len() => {
                    "!IllegalArgumentException too short".to_owned()
                }
                Err(JodaError::Malformed(at)) => format!("!IllegalArgumentException rest={}", &text[at..]),
                Err(JodaError::Value { .. }) => "!IllegalFieldValueException".to_owned(),
                Err(JodaError::Skipped(_)) => "!IllegalInstantException".to_owned(),
            },
        };
        (row[4].clone(), actual)
    });
}
