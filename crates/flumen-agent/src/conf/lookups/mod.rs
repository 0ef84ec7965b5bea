//! Lookups: `${env:NAME}`, `${sys:name}`, `${date:yyyy}` and `${other.key}` in values, as Flume resolves them, but in an order that
//! does not depend on a hash table, and with a limit on everything.

mod expand;
mod table;
#[cfg(test)]
mod tests;

pub use table::LookupTable;

use super::Entries;
use expand::Expander;
use flumen_core::{config::Problem, registry::Environment};
use std::sync::Arc;

/// Everything that lookups ask.
#[derive(Debug, Clone)]
pub struct Lookups {
    /// What each prefix means.
    pub table: LookupTable,
    /// Variables and `-D` settings.
    pub environment: Arc<Environment>,
    /// The time of day for `${date:…}`, in milliseconds since 1970.
    pub now_ms: i64,
}

/// The `-D` setting that makes `${NAME}` an environment variable, and its value.
const IMPLEMENTATION: (&str, &str) =
    ("propertiesImplementation", "org.apache.flume.node.EnvVarResolverProperties");

impl Lookups {
    /// Replaces the lookups in all values. What cannot be found stays as it is; what never ends is an error of the property.
    pub fn resolve(&self, entries: &mut Entries) -> Vec<Problem> {
        if !entries.list.iter().any(|entry| entry.value.contains("${")) {
            return Vec::new();
        }
        Expander::new(self, &entries.list).run(&mut entries.list)
    }

    /// Whether `${NAME}` is an environment variable, as with Flume's old resolver.
    fn bare_names_are_variables(&self) -> bool {
        self.environment.property(IMPLEMENTATION.0) == Some(IMPLEMENTATION.1)
    }
}

/// Whether a name is of the kind that stands for a secret.
pub(super) fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 8] =
        ["password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "apikey"];
    let plain: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_ascii_lowercase();
    let ends = ["accesskey", "privatekey", "secretkey", "accountkey"];
    WORDS.iter().chain(&ends).any(|word| plain.contains(word))
}
