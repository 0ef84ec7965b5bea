//! One place that makes librdkafka's settings of those that Java's Kafka client has.

mod complete;
mod context;
mod jaas;
mod names;
mod pem;
#[cfg(test)]
mod tests;

pub(crate) use complete::complete;
pub(crate) use context::{Reports, told};

use flumen_core::config::{Settings, View};
use rdkafka::{ClientConfig, error::KafkaError, types::RDKafkaConfRes};
use std::collections::BTreeMap;

/// Which client the settings are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// What writes.
    Producer,
    /// What reads.
    Consumer,
}

/// Settings of a client: those that librdkafka takes as they are, and those that need files or the process to be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    /// By librdkafka's names.
    pub(crate) native: BTreeMap<String, String>,
    /// Java's `ssl.*` of key and trust stores, and `sasl.jaas.config`: by Java's names.
    pub(crate) java: BTreeMap<String, String>,
}

/// Values are not shown: passwords may be among them.
impl ClientSettings {
    /// Sets what the file has not set.
    pub(crate) fn or_set(&mut self, key: &str, value: impl Into<String>) {
        self.native.entry(key.to_owned()).or_insert_with(|| value.into());
    }

    /// Sets whatever the file says.
    pub(crate) fn force(&mut self, key: &str, value: impl Into<String>) {
        self.native.insert(key.to_owned(), value.into());
    }

    /// A setting by librdkafka's name.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.native.get(key).map(String::as_str)
    }

    /// Whether the connection is to have TLS.
    pub(crate) fn has_tls(&self) -> bool {
        matches!(self.get("security.protocol"), Some("ssl" | "sasl_ssl"))
    }
}

/// Reads all keys below `prefix` (`kafka.producer.`). What is wrong with them, and what has no counterpart, is noted in `view`;
/// `None` where the client cannot be made.
pub(crate) fn read(view: &mut View<'_>, prefix: &str, role: Role) -> Option<ClientSettings> {
    let part: Settings = view.part(prefix);
    let mut settings = ClientSettings::default();
    let mut good = true;
    for (key, setting) in part.iter() {
        if role == Role::Consumer && key == "group.id" {
            continue; // it is a property of its own
        }
        let (full, value) = (format!("{prefix}{key}"), setting.value.trim());
        match names::translate(role, key, value) {
            names::Outcome::Native(pairs) => {
                for (name, value) in pairs {
                    good &= add(view, &full, &mut settings, name, value);
                }
            }
            names::Outcome::Later => {
                settings.java.insert(key.to_owned(), value.to_owned());
            }
            names::Outcome::Nothing(why) => view.info(&full, format!("has no effect here: {why}")),
            names::Outcome::Told(why) => view.warn(&full, format!("has no counterpart here: {why}")),
            names::Outcome::Wrong(why) => {
                view.error(&full, why);
                good = false;
            }
        }
    }
    good &= jaas::check(view, prefix, &mut settings);
    host_names(&mut settings);
    good.then_some(settings)
}

/// Adds one, if librdkafka takes it. False where it must not be left out.
fn add(view: &mut View<'_>, full: &str, settings: &mut ClientSettings, name: String, value: String) -> bool {
    match ClientConfig::new().set(&*name, &*value).create_native_config().map(drop) {
        Ok(()) => {
            settings.native.insert(name, value);
            true
        }
        Err(KafkaError::ClientConfig(RDKafkaConfRes::RD_KAFKA_CONF_UNKNOWN, ..)) => {
            view.warn(full, "is no setting of a Kafka client: it is left out");
            true
        }
        Err(KafkaError::ClientConfig(_, why, ..)) => {
            // Its words repeat the value only where it is one of a few.
            view.error(full, format!("is refused: {why}"));
            false
        }
        Err(error) => {
            view.error(full, format!("is refused: {error}"));
            false
        }
    }
}

/// `ssl.disableTLSHostnameVerification` counts only with TLS, as in Java.
fn host_names(settings: &mut ClientSettings) {
    let off =
        settings.java.remove(names::NO_HOST_NAMES).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    if off && settings.has_tls() {
        settings.force("ssl.endpoint.identification.algorithm", "none");
    }
}

/// librdkafka's own form.
pub(crate) fn native(settings: &ClientSettings) -> ClientConfig {
    settings.native.iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}
