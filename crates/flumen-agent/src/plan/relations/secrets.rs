//! Secrets that stand in the file in clear text. Their values are never repeated.

use flumen_core::{
    config::{Problem, Settings, Severity, flat},
    registry::EntryInfo,
};

/// What to do instead.
const CURE: &str = "keep it out of the file: write ${env:NAME} or use a config filter";

/// Endings of keys that name where a secret is, and not the secret.
const PLACES: [&str; 4] = ["file", "path", "provider", "alias"];

/// Tells of a component's properties that are secret, and of passwords within the values of others. `looked_up` says which
/// came from a lookup or a filter: there they belong.
pub(in crate::plan) fn check(
    info: &EntryInfo,
    settings: &Settings,
    looked_up: impl Fn(&str) -> bool,
    problems: &mut Vec<Problem>,
) {
    let known: Vec<_> =
        [info.properties].iter().chain(info.common).flat_map(|properties| flat(properties)).collect();
    for (key, setting) in settings.iter() {
        let value = setting.value.as_str();
        // What belongs to an interceptor or a selector is told with it.
        let of_a_part = info.common.iter().copied().flatten().any(|p| p.prefix && key.starts_with(p.key));
        if of_a_part || value.contains("${") || looked_up(&settings.full_key(key)) {
            continue;
        }
        let (mut secret, mut declared) = (false, false);
        for (name, property) in &known {
            let before = &name[..name.len() - property.key.len()];
            let other = |alias: &&str| key.strip_prefix(before) == Some(*alias);
            let own = key == name || property.aliases.iter().chain(property.deprecated).any(other);
            secret |= property.secret && (own || property.prefix && key.starts_with(name.as_str()));
            declared |= own;
        }
        let what = if secret || !declared && names_secret(key) {
            "a secret stands here in clear text"
        } else if has_password(value) {
            "the value holds a password in clear text"
        } else {
            continue;
        };
        let problem = Problem::new(Severity::Warning, settings.full_key(key), setting.at.clone(), what);
        problems.push(problem.with_cure(CURE));
    }
}

/// Whether a key that no type declares (one of a client that is only handed on) names a secret.
fn names_secret(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_lowercase();
    let words = ["password", "passwd", "passphrase", "secretkey", "accesskey", "clientsecret"];
    words.iter().any(|word| plain.contains(word)) && !PLACES.iter().any(|place| plain.ends_with(place))
}

/// Whether a value has a URL with a user and a password in it (`http://user:password@host`), or `password=…` as connection
/// strings and login modules have it.
fn has_password(value: &str) -> bool {
    let in_url = value.match_indices("://").any(|(at, _)| {
        let rest = &value[at + 3..];
        let authority = rest.split(['/', '?', '#', ' ', '"', '\'', ',']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map(|(user, _)| user);
        user.and_then(|user| user.split_once(':')).is_some_and(|(_, password)| !password.is_empty())
    });
    let lower = value.to_ascii_lowercase();
    let assigned = ["password", "passwd", "pwd"].iter().any(|word| {
        lower.match_indices(word).any(|(at, _)| {
            let before = lower[..at].chars().next_back();
            let rest = lower[at + word.len()..].trim_start();
            let begins = before.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '%');
            begins
                && rest
                    .strip_prefix('=')
                    .is_some_and(|rest| !rest.trim_matches(['"', '\'', ' ', ';']).is_empty())
        })
    });
    in_url || assigned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_within_values() {
        for value in [
            "http://me:hush@host/x",
            "s3n://AKIA:abc@bucket/path",
            "jdbc:mysql://h/db?user=x&password=y",
            "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"p\";",
            "zk://a:1,ftp://u:p@h",
        ] {
            assert!(has_password(value), "{value}");
        }
        for value in [
            "http://host:80/a@b",
            "http://me@host/",
            "h:1",
            "me:x@host",
            "hdfs://h:9000/p",
            "password",
            "password=",
            "a=b",
        ] {
            assert!(!has_password(value), "{value}");
        }
    }

    #[test]
    fn keys_that_name_secrets_are_told_from_those_that_name_files() {
        assert!(names_secret("kafka.producer.ssl.key.password") && names_secret("fs.s3a.secret.key"));
        assert!(
            !names_secret("keystore-password-file")
                && !names_secret("kafka.topic")
                && !names_secret("passwordFile")
        );
    }
}
