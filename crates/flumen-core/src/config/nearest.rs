//! Finds the known key that a misspelt one was probably meant to be.

use super::property::Property;

/// Longer keys are not compared: nobody misspells them by one letter, and the comparison costs their product.
const LONGEST_COMPARED: usize = 120;

/// Whether one of the properties has this key, or is a prefix of it.
pub(super) fn is_known(key: &str, known: &[(String, &Property)]) -> bool {
    known.iter().any(|(name, property)| {
        // Aliases stand beside the property's own key, below the same part.
        let before = &name[..name.len() - property.key.len()];
        let other = key.strip_prefix(before);
        let also = property.aliases.iter().chain(property.deprecated);
        name == key
            || (property.prefix && key.starts_with(name.as_str()))
            || other.is_some_and(|other| also.into_iter().any(|alias| *alias == other))
    })
}

/// The nearest known key, if one is near enough. For properties that stand for a prefix, the rest is kept.
pub(super) fn nearest(key: &str, known: &[(String, &Property)]) -> Option<String> {
    if key.len() > LONGEST_COMPARED {
        return None;
    }
    // `channels.selector.type` for `selector.type`: right but for a word too much before it.
    if let Some((_, rest)) = key.split_once('.')
        && rest.contains('.')
        && is_known(rest, known)
    {
        return Some(rest.to_owned());
    }
    let mut best: Option<(usize, String)> = None;
    for (name, property) in known {
        let (wrong, meant) = if property.prefix {
            let Some((head, rest)) = split_like(key, name) else { continue };
            (head, format!("{name}{rest}"))
        } else {
            (key, name.clone())
        };
        // `selctor.type` is rather `selector.type` than `type` with something before it.
        let is_part = property.prefix && wrong.len() < key.len();
        if let Some(distance) = distance(wrong, name).map(|d| if is_part { d.saturating_sub(2) } else { d })
            && best.as_ref().is_none_or(|(least, _)| distance < *least)
        {
            best = Some((distance, meant));
        }
    }
    best.map(|(_, meant)| meant).or_else(|| namesake(key, known))
}

/// Keys that Flume's components name differently, although they mean the same.
const NAMESAKES: [&[&str]; 2] = [&["bind", "host", "hostname"], &["port", "ports"]];

/// The property that means what this key means with another component.
fn namesake(key: &str, known: &[(String, &Property)]) -> Option<String> {
    let group = NAMESAKES.iter().find(|group| group.contains(&key))?;
    known.iter().find(|(name, _)| group.contains(&name.as_str())).map(|(name, _)| name.clone())
}

/// The nearest of these names, if one is near enough: for types, channels, agents.
pub fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_COMPARED {
        return None;
    }
    let near = known.into_iter().filter_map(|known| Some((distance(name, known)?, known)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// Cuts a key behind as many dots as `prefix` has.
fn split_like<'a>(key: &'a str, prefix: &str) -> Option<(&'a str, &'a str)> {
    let dots = prefix.matches('.').count();
    match key.match_indices('.').nth(dots.checked_sub(1)?) {
        Some((at, _)) => Some(key.split_at(at + 1)),
        // `backoff` for `backoff.503`: only the name of the whole.
        None if key.matches('.').count() + 1 == dots => Some((key, "")),
        None => None,
    }
}

/// How far apart two keys are, or `None` where they are too far. Another case or separator is nothing (`batch-size`), a missing
/// or surplus prefix little (`hdfs.batchSize`), and one letter in three may be wrong, at most three.
fn distance(wrong: &str, known: &str) -> Option<usize> {
    let (plain_wrong, plain_known) = (plain(wrong), plain(known));
    if plain_wrong == plain_known {
        return Some(0);
    }
    let last = |key: &str| plain(key.trim_end_matches('.').rsplit('.').next().unwrap_or_default());
    let (last_wrong, last_known) = (last(wrong), last(known));
    let prefix_only = wrong.contains('.') != known.contains('.') && last_wrong.len() > 2;
    if prefix_only && last_wrong == last_known {
        return Some(1);
    }
    let limit = (plain_known.chars().count().min(plain_wrong.chars().count()) / 3).clamp(1, 3);
    if let Some(whole) = edits_within(&plain_wrong, &plain_known, limit)
        && plain_wrong.len() > 1
    {
        return Some(whole * 2);
    }
    // `hdfs.bathcSize` for `batchSize`.
    let limit = (last_known.chars().count() / 4).min(2);
    if !prefix_only {
        return None;
    }
    edits_within(&last_wrong, &last_known, limit).map(|end| end * 2 + 1)
}

/// The edits between two texts, where they are not more than `limit`. Most pairs differ by more in length alone.
fn edits_within(a: &str, b: &str, limit: usize) -> Option<usize> {
    let lengths = a.chars().count().abs_diff(b.chars().count());
    (lengths <= limit).then(|| edits(a, b)).filter(|edits| *edits <= limit)
}

/// A key without what people get wrong first: case and separators.
fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_' | '.' | ' ')).flat_map(char::to_lowercase).collect()
}

/// How many letters must be put in, taken out, replaced or swapped with their neighbour (optimal string alignment).
fn edits(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_a_swap_of_neighbours_as_one_edit() {
        assert_eq!(edits("capcaity", "capacity"), 1);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("same", "same"), 0);
    }

    const CASES: &[(&str, Option<&str>)] = &[
        ("endpont", Some("endpoint")),
        ("ednpoint", Some("endpoint")),
        ("transactionCapcity", Some("transactionCapacity")),
        ("TransactionCapacity", Some("transactionCapacity")),
        ("batchSize", Some("batch-size")),
        ("hdfs.batchSize", Some("batch-size")),
        ("path", Some("hdfs.path")),
        ("filePrefix", Some("hdfs.filePrefix")),
        ("keepAlive", Some("keep-alive")),
        ("backof.503", Some("backoff.503")),
        ("backoff", Some("backoff.")),
        ("selctor.type", Some("selector.type")),
        ("x", None),
        ("somethingElse", None),
        ("bind", Some("hostname")),
        ("ports", None),
        ("kerberosPrincipal", None),
    ];

    #[test]
    fn names_the_nearest_key_for_what_people_get_wrong() {
        const KNOWN: &[&str] = &[
            "endpoint",
            "transactionCapacity",
            "batch-size",
            "hdfs.path",
            "hdfs.filePrefix",
            "keep-alive",
            "type",
            "hostname",
        ];
        let plain = Property::NEW;
        let prefix = Property { key: "backoff.", prefix: true, ..Property::NEW };
        let mut known: Vec<(String, &Property)> =
            KNOWN.iter().map(|key| ((*key).to_owned(), &plain)).collect();
        known.push(("backoff.".to_owned(), &prefix));
        let selector = Property { key: "selector.", prefix: true, ..Property::NEW };
        known.push(("selector.".to_owned(), &selector));
        for (wrong, meant) in CASES {
            assert_eq!(nearest(wrong, &known).as_deref(), *meant, "{wrong}");
        }
    }
}
