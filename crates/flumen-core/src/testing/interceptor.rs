//! The contract of interceptors, as a suite.

use super::events::varied;
use crate::{
    event::{Batch, Event, Headers, Text},
    intercept::Interceptor,
};
use std::collections::BTreeMap;

/// Checks an interceptor: it treats each event as if it were alone, keeps the order, changes no batch that shares its bytes
/// or headers with the one it was given, and copes with empty batches, binary bodies and any number of headers.
#[derive(Debug)]
pub struct InterceptorSuite<'a> {
    interceptor: &'a dyn Interceptor,
    volatile: Vec<&'a str>,
    alone: bool,
}

/// An event as plain data.
type Plain = (BTreeMap<String, String>, Vec<u8>);

impl<'a> InterceptorSuite<'a> {
    /// A suite for this one.
    pub fn new(interceptor: &'a dyn Interceptor) -> Self {
        Self { interceptor, volatile: Vec::new(), alone: true }
    }

    /// Headers whose values are others at each call (a time, a UUID): only that they are there is compared.
    #[must_use]
    pub fn volatile(mut self, names: &[&'a str]) -> Self {
        self.volatile.extend_from_slice(names);
        self
    }

    /// For an interceptor that looks at more than one event at a time, or that counts: it is not compared with itself.
    #[must_use]
    pub fn looks_at_several(mut self) -> Self {
        self.alone = false;
        self
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// The interceptor breaks a rule.
    pub fn run(&self) {
        let mut empty = Batch::new();
        self.intercept(&mut empty, "an empty batch");
        assert!(empty.is_empty(), "events came from nowhere");
        for (what, batch) in cases() {
            self.check(&what, &batch);
        }
    }

    fn check(&self, what: &str, batch: &Batch) {
        let before = plain(batch, &[]);
        let mut whole = batch.clone();
        self.intercept(&mut whole, what);
        assert_eq!(plain(batch, &[]), before, "{what}: a batch that shares headers or bytes has changed");
        for event in whole.iter() {
            let names: Vec<_> = event.headers.iter().map(|(name, _)| name.as_str()).collect();
            let unique: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!(unique.len(), names.len(), "{what}: a name is there twice");
        }
        if !self.alone {
            return;
        }
        let (mut one_by_one, mut joined) = (Batch::new(), Batch::new());
        for at in 0..batch.len() {
            let mut one = batch.slice(at..at + 1);
            joined.append(one.clone());
            self.intercept(&mut one, what);
            one_by_one.append(one);
        }
        self.intercept(&mut joined, what);
        let expected = plain(&one_by_one, &self.volatile);
        let same = "is treated as its events one by one, in order";
        assert_eq!(plain(&whole, &self.volatile), expected, "{what}: a batch {same}");
        assert_eq!(plain(&joined, &self.volatile), expected, "{what}: a batch of many segments {same}");
    }

    fn intercept(&self, batch: &mut Batch, what: &str) {
        if let Err(error) = self.interceptor.intercept(batch) {
            panic!("{what}: {error}");
        }
    }
}

fn plain(batch: &Batch, volatile: &[&str]) -> Vec<Plain> {
    let value = |(name, value): (&Text, &Text)| {
        let value = if volatile.contains(&name.as_str()) { String::new() } else { value.to_string() };
        (name.to_string(), value)
    };
    batch.iter().map(|Event { headers, body }| (headers.iter().map(value).collect(), body.to_vec())).collect()
}

fn cases() -> Vec<(String, Batch)> {
    let one = |headers: Headers, body: &[u8]| {
        let mut batch = Batch::new();
        batch.push(headers, body.to_vec());
        batch
    };
    let every_byte: Vec<u8> = (0..=255).collect();
    let mut cases = vec![
        ("an empty body".to_owned(), one(Headers::new(), b"")),
        ("every byte once".to_owned(), one(Headers::new(), &every_byte)),
        ("text with lines".to_owned(), one(Headers::new(), "first\r\nsecond ä\n\n".as_bytes())),
        ("half a UTF-8 sequence".to_owned(), one(Headers::new(), b"\xc3")),
        ("a body of 1 MiB".to_owned(), one(Headers::new(), &vec![b'x'; 1 << 20])),
        ("empty names and values".to_owned(), one([("", ""), ("a", "")].into_iter().collect(), b"x")),
    ];
    for count in [1, 15, 16, 17, 1_000] {
        let headers: Headers = (0..count).map(|n| (format!("name-{n}"), format!("value {n}"))).collect();
        let mut batch = one(headers.clone(), b"first");
        batch.push(headers, "second");
        batch.push(Headers::new(), "without");
        cases.push((format!("{count} headers"), batch.clone()));
        batch.edit_each(|event, own| {
            own.set_fmt(Text::from_static("name-0"), event.body.len());
            own.set_str(Text::from_static("own"), "own");
        });
        cases.push((format!("{count} headers and own ones"), batch));
    }
    for seed in 0..20 {
        cases.push((format!("seed {seed}"), varied(&mut fastrand::Rng::with_seed(seed), 0..40)));
    }
    cases
}
