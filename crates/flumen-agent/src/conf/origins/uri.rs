//! The URIs of `-u`: `file:`, `http:`, `https:`, `classpath:`.

use super::{Kind, file::FileOrigin, http::HttpOrigin};
use crate::conf::Sources;
use flumen_core::config::nearest_name;
use std::path::{Path, PathBuf};

const SCHEMES: [&str; 4] = ["file", "http", "https", "classpath"];

/// Why a URI names no configuration.
#[derive(Debug, Clone, thiserror::Error)]
#[error("configuration {uri}: {what}")]
pub struct UriError {
    uri: String,
    what: String,
}

impl UriError {
    fn new(uri: &str, what: impl Into<String>) -> Self {
        Self { uri: uri.to_owned(), what: what.into() }
    }

    /// A class path without the file.
    pub(super) fn nowhere(searched: &[String]) -> Self {
        let what = if searched.is_empty() {
            "there is no folder to look in; -c names the configuration folder".to_owned()
        } else {
            format!("is in none of the folders: looked for {}", searched.join(", "))
        };
        Self { uri: "of the class path".to_owned(), what }
    }
}

/// A source by its URI: the name to show, the path whose extension counts, and where it is. A text without a scheme is a path.
pub(super) fn origin(uri: &str, sources: &Sources) -> (String, String, Kind) {
    let never = |what: String| (uri.to_owned(), String::new(), Kind::Never(UriError::new(uri, what)));
    let Some((scheme, rest)) = uri.split_once(':').filter(|(scheme, _)| is_scheme(scheme)) else {
        let file = FileOrigin::new(vec![PathBuf::from(uri)], true);
        return (uri.to_owned(), uri.to_owned(), Kind::File(file));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "file" => match path_of_file(rest) {
            Ok(path) => {
                let file = FileOrigin::new(vec![path.clone()], true);
                (uri.to_owned(), path.display().to_string(), Kind::File(file))
            }
            Err(what) => never(what.to_owned()),
        },
        "classpath" => {
            let Some(name) = decoded(rest.trim_start_matches('/')).filter(|name| !name.is_empty()) else {
                return never("names no file".to_owned());
            };
            if Path::new(&name).components().any(|part| matches!(part, std::path::Component::ParentDir)) {
                return never("leads out of the class path".to_owned());
            }
            let candidates = sources.conf_dirs.iter().map(|dir| dir.join(&name)).collect();
            (uri.to_owned(), format!("/{name}"), Kind::File(FileOrigin::new(candidates, true)))
        }
        "http" | "https" => match HttpOrigin::new(uri, sources) {
            Ok(http) => (http.name(), http.path().to_owned(), Kind::Http(http)),
            // The text may hold a password: it is not repeated.
            Err(what) => {
                let shown = format!("{scheme}://…");
                (shown.clone(), String::new(), Kind::Never(UriError::new(&shown, what)))
            }
        },
        other => {
            let nearest = nearest_name(other, SCHEMES).map(|name| format!("; did you mean `{name}:`?"));
            never(format!(
                "`{other}:` is not read{}; there are {}",
                nearest.unwrap_or_default(),
                SCHEMES.join(", ")
            ))
        }
    }
}

/// Two letters or more: a single one is a drive of Windows.
fn is_scheme(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// The path behind `file:`.
fn path_of_file(rest: &str) -> Result<PathBuf, &'static str> {
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let at = rest.find('/').ok_or("names no path")?;
            let (host, path) = rest.split_at(at);
            if !matches!(host, "" | "localhost") {
                return Err("names a file of another machine; write file:///path");
            }
            path
        }
        None => rest,
    };
    let path = decoded(path).filter(|path| !path.is_empty()).ok_or("names no path")?;
    Ok(PathBuf::from(path))
}

/// Takes `%20` and the like apart.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// The extension, if it is of a kind of file that is not read. As in Java it begins behind the first dot of the whole path.
pub(super) fn refused_extension(path: &str) -> Option<&str> {
    let extension = path.split_once('.')?.1;
    ["json", "yaml", "xml"].contains(&extension).then_some(extension)
}
