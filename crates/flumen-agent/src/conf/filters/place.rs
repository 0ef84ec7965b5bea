//! Finds placeholders of config filters in a value.

/// One placeholder, by the bytes that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placeholder {
    pub(super) filter: String,
    pub(super) key: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// All `${filter["key"]}`, `${filter['key']}` and `${filter[key]}`, from left to right. Quotes must match, and a key is made of
/// letters, digits, `-`, `_` and `.` (Java: without the dot, and a credential with one cannot be named).
pub(super) fn find(value: &str) -> Vec<Placeholder> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = value[at..].find("${").map(|i| at + i) {
        at = start + 2;
        if let Some(one) = one(value, start) {
            at = one.end;
            found.push(one);
        }
    }
    found
}

fn one(value: &str, start: usize) -> Option<Placeholder> {
    let inside = &value[start + 2..];
    let open = inside.find(['[', '}', '$'])?;
    let filter = &inside[..open];
    if filter.is_empty() || filter.contains(char::is_whitespace) {
        return None;
    }
    let rest = inside[open..].strip_prefix('[')?;
    let (rest, quote) = match rest.as_bytes().first()? {
        b'"' => (&rest[1..], "\""),
        b'\'' => (&rest[1..], "'"),
        _ => (rest, ""),
    };
    let len =
        rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')).count();
    let after = rest[len..].strip_prefix(quote)?.strip_prefix("]}")?;
    (len > 0).then(|| Placeholder {
        filter: filter.to_owned(),
        key: rest[..len].to_owned(),
        start,
        end: value.len() - after.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(value: &str) -> Vec<String> {
        find(value).into_iter().map(|one| format!("{}/{}", one.filter, one.key)).collect()
    }

    #[test]
    fn cfg_07_three_spellings_several_a_value() {
        assert_eq!(keys("${f1['a']}x${f2[\"b-c\"]}y${f1[d_9]}"), ["f1/a", "f2/b-c", "f1/d_9"]);
        let one = &find("x${f['k']}y")[0];
        assert_eq!((one.start, one.end), (1, 10));
    }

    #[test]
    fn cfg_07_what_is_none() {
        for text in [
            "${f['a\"]}",
            "${f[a']}",
            "${f[]}",
            "${f['']}",
            "${f['a b']}",
            "${f[a]",
            "${f[a}",
            "${}",
            "${[a]}",
            "${",
            "${f",
        ] {
            assert_eq!(keys(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(keys("${${f[a]}"), ["f/a"]);
    }
}
