//! The options of a JVM, as far as they mean something without one.

use std::collections::BTreeMap;

/// What options of a JVM have set.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JavaOptions {
    /// `-Dname=value`, a later one winning.
    pub(super) properties: BTreeMap<String, String>,
    /// `-Xmx`, in bytes.
    pub(super) max_heap_bytes: Option<u64>,
    /// What cannot have an effect and deserves a word.
    pub(super) notes: Vec<String>,
}

impl JavaOptions {
    /// Adds an option from where `origin` says.
    pub(super) fn add(&mut self, option: &str, origin: &str) {
        if let Some(setting) = option.strip_prefix("-D") {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            if name.is_empty() {
                self.notes.push(format!(
                    "{origin}: `{option}` names no property: write -Dname=value, without blanks"
                ));
                return;
            }
            if name.starts_with("com.sun.management.jmxremote") {
                self.note_once(format!(
                    "{origin}: there is no JMX: watch the agent with -Dflume.monitoring.type=http or =prometheus and \
                     -Dflume.monitoring.port=N instead of -Dcom.sun.management.jmxremote…"
                ));
            }
            if name == "flume.called.from.service" {
                self.note_once(format!(
                    "{origin}: -D{name} is without effect, as in Flume since 1.10: an agent whose file is missing ends with 2, \
                     and its service manager starts it again"
                ));
            }
            if matches!(name, "java.security.krb5.conf" | "java.security.auth.login.config") {
                self.note_once(format!(
                    "{origin}: -D{name} is without effect: no component logs in by Kerberos or JAAS; where a peer asks for a \
                     login, its component says what it takes"
                ));
            }
            self.properties.insert(name.to_owned(), value.to_owned());
        } else if let Some(size) = option.strip_prefix("-Xmx") {
            match bytes(size) {
                Some(bytes) => self.max_heap_bytes = Some(bytes),
                None => self.notes.push(format!("{origin}: `{option}` is no size: write -Xmx512m or -Xmx2g")),
            }
        } else if ["-agentlib", "-agentpath", "-javaagent"].iter().any(|agent| option.starts_with(agent)) {
            let instead = if option.contains("jmx") || option.contains("prometheus") {
                "; -Dflume.monitoring.type=prometheus and -Dflume.monitoring.port=N serve metrics"
            } else {
                ""
            };
            self.notes.push(format!("{origin}: `{option}` is without effect, as there is no JVM{instead}"));
        }
        // Other options (-Xms, -XX:…, -server) tune a JVM: nothing is lost without them.
    }

    fn note_once(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// `512m`, `2g`, `65536`: as `-Xmx` takes it (java(1)).
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_and_heap_are_read_and_later_ones_win() {
        let mut options = JavaOptions::default();
        for option in ["-Xmx20m", "-Da=1", "-Da=2=3", "-Db", "-Xmx2G", "-XX:+UseG1GC", "-Xms1g"] {
            options.add(option, "test");
        }
        let set: Vec<_> = options.properties.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(set, ["a=2=3", "b="]);
        assert_eq!(options.max_heap_bytes, Some(2 << 30));
        assert_eq!(options.notes, [] as [String; 0]);
    }

    #[test]
    fn what_needs_a_jvm_is_told_once_with_what_replaces_it() {
        let mut options = JavaOptions::default();
        for option in [
            "-Dcom.sun.management.jmxremote",
            "-Dcom.sun.management.jmxremote.port=1",
            "-javaagent:/jmx.jar=1",
            "-Xmxlots",
            "-D",
            "-Djava.security.krb5.conf=/etc/krb5.conf",
        ] {
            options.add(option, "flume-env.sh");
        }
        assert_eq!(options.notes.len(), 5, "{:?}", options.notes);
        assert!(options.notes[1].contains("flume.monitoring.type=prometheus"), "{:?}", options.notes);
    }
}
