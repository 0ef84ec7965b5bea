//! Keeps secrets out of what is printed: by the name of a setting, and inside URLs.

use std::borrow::Cow;

/// What stands in the place of a secret.
pub(crate) const MASK: &str = "*****";

/// Parts of names whose values are secret, in lower case and without separators.
const SECRET_NAMES: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "accesskey",
    "apikey",
    "privatekey",
    "authorization",
    "jaasconfig",
];

/// Whether a setting of this name holds a secret.
fn is_secret(name: &str) -> bool {
    // Where the secret is kept, or what it looks like, is none.
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let is_about = ["file", "path", "type", "class", "provider", "alias", "config"]
        .iter()
        .any(|end| plain.ends_with(end));
    (SECRET_NAMES.iter().any(|part| plain.contains(part)) && (!is_about || plain.ends_with("jaasconfig")))
        || plain.ends_with("pwd")
}

/// The value of a setting, as it may be printed.
pub(crate) fn mask<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) && !value.is_empty() { Cow::Borrowed(MASK) } else { mask_urls(value) }
}

/// The text with passwords inside URLs masked: `http://user:*****@host/?token=*****`.
pub(crate) fn mask_urls(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| c.is_whitespace() || c == '"' || c == '\'').unwrap_or(after.len());
        let (url, next) = after.split_at(end);
        mask_url(url, &mut out);
        rest = next;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// What follows the `://` of a URL.
fn mask_url(url: &str, out: &mut String) {
    let path_at = url.find(['/', '?', '#']).unwrap_or(url.len());
    let (authority, rest) = url.split_at(path_at);
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            out.push_str(user.split(':').next().unwrap_or_default());
            if user.contains(':') {
                out.push(':');
                out.push_str(MASK);
            }
            out.push('@');
            out.push_str(host);
        }
        None => out.push_str(authority),
    }
    let mut pieces = rest.split_inclusive(['?', '&', ';']);
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        match piece.split_once('=') {
            Some((name, value)) if is_secret(name) => {
                out.push_str(name);
                out.push('=');
                out.push_str(MASK);
                out.extend(value.chars().next_back().filter(|c| "?&;".contains(*c)));
            }
            _ => out.push_str(piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_by_name_and_inside_urls() {
        for (name, value, shown) in [
            ("a.sinks.k.keystore-password", "p", MASK),
            ("a.sources.r.consumer.sasl.jaas.config", "x password=p", MASK),
            ("db.pwd", "p", MASK),
            ("passwordFile", "/etc/p", "/etc/p"),
            ("a.channels.c.capacity", "100", "100"),
            (
                "url",
                "jdbc:mysql://h:1/db?user=u&password=p&x=1",
                "jdbc:mysql://h:1/db?user=u&password=*****&x=1",
            ),
            ("hosts", "http://u:p@h/a http://v@i/?token=t", "http://u:*****@h/a http://v@i/?token=*****"),
            ("password", "", ""),
        ] {
            assert_eq!(mask(name, value), shown, "{name}");
        }
    }
}
