//! The BLOB handlers: the body as it is makes one event, the parameters of the URL make its headers.

use super::handler::Refusal;
use bytes::Bytes;
use flumen_core::event::{Batch, Headers, Text};
use hyper::StatusCode;

/// Makes one event of a request. `mandatory` parameters must be there; a body beyond `max_bytes` is cut.
pub(super) fn batch(
    query: Option<&str>,
    mut body: Bytes,
    mandatory: &[String],
    max_bytes: usize,
) -> Result<Batch, Refusal> {
    let headers = parameters(query.unwrap_or_default())?;
    if let Some(name) = mandatory.iter().find(|name| headers.get(name).is_none()) {
        return Err(Refusal::failed(format!("Please specify {name} parameter in the request.")));
    }
    if body.len() > max_bytes {
        tracing::warn!(
            bytes = body.len(),
            max_bytes,
            "a body is longer than handler.maxBlobLength and was cut"
        );
        body.truncate(max_bytes);
    }
    let mut batch = Batch::with_capacity(1);
    batch.push(headers, body);
    Ok(batch)
}

/// The parameters of a query (`a=1&b=%20x+y`); of several with one name the first counts, as in Java.
fn parameters(query: &str) -> Result<Headers, Refusal> {
    let pairs = query.split('&').filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Ok((unescape(name)?, unescape(value)?))
    });
    let pairs = pairs.collect::<Result<Vec<(Text, Text)>, Refusal>>()?;
    // Of two the later one stays, so that the first one must come last; then back into the order of the query.
    let headers = Headers::from_pairs(pairs.into_iter().rev());
    let mut pairs: Vec<_> = headers.iter().cloned().collect();
    pairs.reverse();
    Ok(Headers::from_pairs(pairs))
}

/// `application/x-www-form-urlencoded`: `+` is a blank, `%` begins two hexadecimal digits, the bytes are UTF-8.
fn unescape(part: &str) -> Result<Text, Refusal> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digit = |n: usize| rest.get(n).and_then(|digit| char::from(*digit).to_digit(16));
                let (Some(high), Some(low)) = (digit(0), digit(1)) else {
                    return Err(Refusal::new(
                        StatusCode::BAD_REQUEST,
                        "the query has a % without two hexadecimal digits",
                    ));
                };
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &rest[2..];
            }
            other => bytes.push(*other),
        }
    }
    Ok(Text::from(String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(query: &str, body: &'static str, mandatory: &[&str], max_bytes: usize) -> Result<Batch, Refusal> {
        let mandatory: Vec<String> = mandatory.iter().map(|name| (*name).to_owned()).collect();
        batch(Some(query), Bytes::from_static(body.as_bytes()), &mandatory, max_bytes)
    }

    #[test]
    fn http_16_parameters_become_headers_and_the_body_stays_as_it_is() {
        for body in ["a,b,c", "a\tb\tc"] {
            let batch = one("param1=value1&param2=value2", body, &["param1", "param2"], usize::MAX).unwrap();
            let expected = Headers::from_iter([("param1", "value1"), ("param2", "value2")]);
            assert_eq!(batch.len(), 1);
            assert_eq!(batch.get(0).unwrap().headers.to_headers(), expected);
            assert_eq!(batch.get(0).unwrap().body, body.as_bytes());
        }
    }

    #[test]
    fn http_17_a_missing_mandatory_parameter_is_a_failure() {
        let refusal = one("param1=x", "a", &["param1", "param2"], usize::MAX).unwrap_err();
        assert_eq!(refusal, Refusal::failed("Please specify param2 parameter in the request."));
    }

    #[test]
    fn http_18_body_and_empty_body_make_one_event_without_headers() {
        for body in ["foo", ""] {
            let batch = one("", body, &[], 100_000_000).unwrap();
            assert_eq!(batch.len(), 1);
            assert!(batch.get(0).unwrap().headers.is_empty());
            assert_eq!(batch.get(0).unwrap().body, body.as_bytes());
        }
    }

    #[test]
    fn a_long_blob_is_cut() {
        assert_eq!(one("", "abcdef", &[], 4).unwrap().get(0).unwrap().body, b"abcd");
    }

    #[test]
    fn queries_are_unescaped_and_the_first_of_two_counts() {
        let batch = one("a=1&b=x+y%2Bz&&c&a=2&%C3%BC=%ff&=v", "", &[], 9).unwrap();
        let expected =
            Headers::from_iter([("a", "1"), ("b", "x y+z"), ("c", ""), ("ü", "\u{fffd}"), ("", "v")]);
        let found = batch.get(0).unwrap().headers.to_headers();
        assert_eq!(found.len(), expected.len());
        assert!(expected.iter().all(|(name, value)| found.get(name) == Some(value)), "{found:?}");
        for query in ["a=%", "a=%1", "%zz=1"] {
            assert_eq!(one(query, "", &[], 9).unwrap_err().status, StatusCode::BAD_REQUEST);
        }
    }
}
