//! The order in which a `java.util.HashMap` with text keys lists its entries, and `Map.toString`.

use super::hash_code;
use std::collections::HashSet;

/// How a map came to be: that decides how large its table is, and so its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// `new HashMap<>()` and a put for each key.
    Empty,
    /// `new HashMap<>(other)`: the table fits the number of entries.
    Copy,
    /// `new HashSet<>(list)`: at least 16 places.
    Set,
}

/// The order of the keys, as positions in `keys` (in the order put; of equal keys the first place counts). Exact up to 8 keys with
/// one bucket in common; beyond that Java makes trees of the buckets and the order within one may differ.
pub fn order<S: AsRef<str>>(keys: &[S], made: Made) -> Vec<usize> {
    let mut seen = HashSet::new();
    let unique: Vec<usize> = (0..keys.len()).filter(|i| seen.insert(keys[*i].as_ref())).collect();
    let mut capacity = match made {
        Made::Empty => 16,
        Made::Copy => (unique.len() as f32 / 0.75 + 1.0) as usize,
        Made::Set => ((keys.len() as f32 / 0.75) as usize + 1).max(16),
    }
    .next_power_of_two();
    let hashes: Vec<u32> = unique.iter().map(|i| spread(keys[*i].as_ref())).collect();
    let in_bucket = |hash: u32, n: usize, capacity: usize| {
        hashes[..n].iter().filter(|h| **h as usize & (capacity - 1) == hash as usize & (capacity - 1)).count()
    };
    for (n, hash) in hashes.iter().enumerate() {
        // A bucket of more than eight makes a small table grow; so does a table three quarters full.
        if capacity < 64 && in_bucket(*hash, n, capacity) >= 8 {
            capacity *= 2;
        }
        if n + 1 > capacity / 4 * 3 + capacity % 4 * 3 / 4 {
            capacity *= 2;
        }
    }
    let mut order: Vec<usize> = (0..unique.len()).collect();
    order.sort_by_key(|i| hashes[*i] as usize & (capacity - 1));
    order.into_iter().map(|i| unique[i]).collect()
}

fn spread(key: &str) -> u32 {
    let hash = hash_code(key) as u32;
    hash ^ hash >> 16
}

/// `HashMap.toString` of a map made by puts: `{a=1, b=2}`. Of equal keys the last value counts.
pub fn map_to_string<K: AsRef<str>, V: AsRef<str>>(entries: &[(K, V)]) -> String {
    let keys: Vec<&str> = entries.iter().map(|e| e.0.as_ref()).collect();
    let mut last = std::collections::HashMap::new();
    for (key, value) in entries {
        last.insert(key.as_ref(), value.as_ref());
    }
    let mut out = String::from("{");
    for (n, i) in order(&keys, Made::Empty).into_iter().enumerate() {
        if n > 0 {
            out.push_str(", ");
        }
        out.push_str(keys[i]);
        out.push('=');
        out.push_str(last.get(keys[i]).copied().unwrap_or_default());
    }
    out.push('}');
    out
}
