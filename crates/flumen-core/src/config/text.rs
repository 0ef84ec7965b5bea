//! Texts with a meaning: secrets, which are never printed, and URLs.

use std::borrow::Cow;
use std::fmt;

use super::property::PropertyValue;

/// A password, token or key. It prints as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// An absolute URL with a host (`https://user:password@host:8080/path?query`), checked only as far as to find its parts. It
/// prints without the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    text: String,
    host: std::ops::Range<usize>,
    port: Option<u16>,
    path: usize,
}

impl Secret {
    /// A secret that does not come from a property.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// The secret itself, to use and not to print.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl PropertyValue for Secret {
    const KIND: &'static str = "a secret";
    const SECRET: bool = true;

    fn parse(text: &str) -> Result<Self, String> {
        Ok(Secret(text.to_owned()))
    }
}

impl Url {
    /// The whole text, with the password.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What stands before `://`.
    pub fn scheme(&self) -> &str {
        self.text.split("://").next().unwrap_or_default()
    }

    /// `user` or `user:password`, as it stands there.
    pub fn user_info(&self) -> Option<&str> {
        let authority = &self.text[self.scheme().len() + 3..self.path];
        authority.rsplit_once('@').map(|(user, _)| user)
    }

    /// The host's name or address, an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.text[self.host.clone()]
    }

    /// The port, where the URL has one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Path and query, without the fragment: at least `/`.
    pub fn path(&self) -> &str {
        match self.text[self.path..].split('#').next().unwrap_or_default() {
            "" => "/",
            path => path,
        }
    }
}

impl PropertyValue for Url {
    const KIND: &'static str = "a URL";

    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("it holds a blank".to_owned());
        }
        let (scheme, rest) = text.split_once("://").ok_or("expected `scheme://host`")?;
        let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        if !scheme.starts_with(|c: char| c.is_ascii_alphabetic()) || !scheme.chars().all(letters) {
            return Err("expected a scheme like `http`".to_owned());
        }
        let start = scheme.len() + 3;
        let path = start + rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let at_host = start + text[start..path].rfind('@').map_or(0, |at| at + 1);
        let host_port = &text[at_host..path];
        let (host, port) = match host_port.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
            Some((host, port)) => (at_host + 1..at_host + 1 + host.len(), port),
            None => {
                let end = host_port.rfind(':').unwrap_or(host_port.len());
                (at_host..at_host + end, &host_port[end..])
            }
        };
        if host.is_empty() {
            return Err("expected a host".to_owned());
        }
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some("") => None,
            Some(port) => Some(u16::parse(port).map_err(|why| format!("port: {why}"))?),
            None => return Err("expected `:` and a port behind the host".to_owned()),
        };
        let mut text = text.to_owned();
        if text[path..].starts_with('?') {
            text.insert(path, '/');
        }
        Ok(Url { text, host, port, path })
    }

    /// Hides what stands before the last `@`, wherever that is: the text may not be a URL at all.
    fn shown(text: &str) -> Cow<'_, str> {
        match text.rsplit_once('@') {
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
                let between = if scheme.is_empty() { "" } else { "://" };
                Cow::Owned(format!("{scheme}{between}***@{host}"))
            }
            None => Cow::Borrowed(text),
        }
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Url::shown(&self.text))
    }
}
