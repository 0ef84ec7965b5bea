//! What the prefixes of lookups mean: Flume's four, or those of a file of the operator's.

use super::Lookups;
use crate::conf::Sources;
use base64ct::{Base64, Encoding as _};
use flumen_core::{
    config::{Place, Problem, Severity},
    registry::Environment,
};
use flumen_java::{
    dates::{DateFormat, Locale, Zone},
    properties::{self, Encoding},
};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The file of an operator's own table.
const FILE: &str = "lookups.properties";
/// The longest file that a lookup reads, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// What the values of the table begin with, as Java names them.
const CLASS: &str = "org.apache.commons.text.lookup.DefaultStringLookup.";
/// The Java whose behaviour is followed, for those who ask.
const JAVA_VERSION: &str = "17";

/// What each prefix looks up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookupTable {
    pub(super) prefixes: BTreeMap<String, Kind>,
}

/// Kinds of lookup that only read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Env,
    Sys,
    Java,
    Date,
    File,
    Properties,
    Base64Decoder,
    Base64Encoder,
}

/// What a lookup found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Value(String),
    /// Nothing, and why.
    Nothing(String),
    /// No lookup has this prefix.
    NoSuchPrefix,
    /// Java has such a lookup, and it is off.
    Off(String),
}

/// Java's names of the kinds, and the prefixes that Java gives them by default.
const KINDS: [(&str, Option<&str>, Kind); 8] = [
    ("ENVIRONMENT", Some("env"), Kind::Env),
    ("SYSTEM_PROPERTIES", Some("sys"), Kind::Sys),
    ("JAVA", Some("java"), Kind::Java),
    ("DATE", Some("date"), Kind::Date),
    ("FILE", None, Kind::File),
    ("PROPERTIES", None, Kind::Properties),
    ("BASE64_DECODER", None, Kind::Base64Decoder),
    ("BASE64_ENCODER", None, Kind::Base64Encoder),
];

/// Prefixes of lookups that Java has and does not switch on for Flume.
const OFF: [&str; 15] = [
    "const",
    "script",
    "url",
    "dns",
    "xml",
    "xmldecoder",
    "xmlencoder",
    "resourcebundle",
    "localhost",
    "file",
    "properties",
    "base64decoder",
    "base64encoder",
    "urldecoder",
    "urlencoder",
];

impl Default for LookupTable {
    fn default() -> Self {
        let named =
            |&(_, prefix, kind): &(&str, Option<&'static str>, Kind)| Some((prefix?.to_owned(), kind));
        Self { prefixes: KINDS.iter().filter_map(named).collect() }
    }
}

impl LookupTable {
    /// The table of the `-Dlookups=` file or of `lookups.properties` in a configuration folder; without either, Flume's own.
    ///
    /// This reads files and is not meant for an async task.
    pub fn read(sources: &Sources) -> (Self, Vec<Problem>) {
        let named = sources.environment.property("lookups");
        let Some(path) = find(named, &sources.conf_dirs) else {
            let missing = named.map(|named| {
                let what =
                    format!("the file of -Dlookups, `{named}`, is not there; the lookups are Flume's own");
                Problem::new(Severity::Warning, named, None, what)
            });
            return (Self::default(), missing.into_iter().collect());
        };
        match read_limited(&path) {
            Ok(bytes) => Self::parse(&bytes, &path.display().to_string()),
            Err(why) => {
                let name = path.display().to_string();
                let what = format!("cannot be read ({why}); the lookups are Flume's own");
                (Self::default(), vec![Problem::new(Severity::Warning, name, None, what)])
            }
        }
    }

    /// Reads a table: prefix and kind in each line. It stands in the place of Flume's own, not beside it.
    pub(super) fn parse(bytes: &[u8], file: &str) -> (Self, Vec<Problem>) {
        let (mut prefixes, mut problems) = (BTreeMap::new(), Vec::new());
        let loaded = properties::load(bytes, Encoding::Latin1);
        if let Some(error) = loaded.error {
            problems.push(Problem::new(Severity::Warning, file, None, error.to_string()));
        }
        for pair in loaded.pairs {
            let word = pair.value.trim();
            let kind = word.strip_prefix(CLASS).unwrap_or(word);
            match KINDS.iter().find(|(name, ..)| *name == kind) {
                Some((.., kind)) => drop(prefixes.insert(pair.key.trim().to_ascii_lowercase(), *kind)),
                None => {
                    let names: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
                    let what = if word.starts_with(CLASS) {
                        format!("lookups of the kind `{kind}` run or fetch something and are not there")
                    } else {
                        format!("`{word}` is a Java class, which cannot be loaded")
                    };
                    let at = Place { file: file.into(), line: pair.line };
                    let problem = Problem::new(Severity::Warning, pair.key.trim(), Some(at), what);
                    problems.push(problem.with_cure(format!("there are {CLASS} and {}", names.join(", "))));
                }
            }
        }
        (Self { prefixes }, problems)
    }

    /// Looks a name up behind a prefix in lower case.
    pub(super) fn look_up(&self, prefix: &str, name: &str, lookups: &Lookups) -> Found {
        let Some(kind) = self.prefixes.get(prefix) else {
            return if OFF.contains(&prefix) {
                let cure = format!("a {FILE} in the configuration folder can switch harmless ones on");
                Found::Off(format!(
                    "lookups of the kind `{prefix}` are off, and `${{{prefix}:{name}}}` stays as it is; {cure}"
                ))
            } else {
                Found::NoSuchPrefix
            };
        };
        let environment = &lookups.environment;
        let value = match kind {
            Kind::Env => environment
                .variables
                .get(name)
                .cloned()
                .ok_or_else(|| format!("the environment variable `{name}` is not set")),
            Kind::Sys => system_property(environment, name)
                .ok_or_else(|| format!("the system property `{name}` is not set (-D{name}=…)")),
            Kind::Java => java(environment, name).ok_or_else(|| format!("there is no `java:{name}`")),
            Kind::Date => date(name, lookups.now_ms),
            Kind::File => file(name),
            Kind::Properties => property_of_file(name),
            Kind::Base64Decoder => Base64::decode_vec(name.trim())
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                .map_err(|_| "this is no Base64".to_owned()),
            Kind::Base64Encoder => Ok(Base64::encode_string(name.as_bytes())),
        };
        value.map_or_else(Found::Nothing, Found::Value)
    }
}

/// The table's file: as a path, then in the folders.
fn find(named: Option<&str>, dirs: &[PathBuf]) -> Option<PathBuf> {
    let path =
        named.map(|name| PathBuf::from(name.trim_start_matches("classpath:"))).filter(|path| path.is_file());
    path.or_else(|| {
        let name = named.unwrap_or(FILE).trim_start_matches("classpath:").trim_start_matches('/');
        dirs.iter().map(|dir| dir.join(name)).find(|path| path.is_file())
    })
}

fn read_limited(path: &Path) -> Result<Vec<u8>, String> {
    let meta = fs::metadata(path).map_err(|error| error.to_string())?;
    if !meta.is_file() || meta.len() > MAX_FILE {
        return Err(format!("it is no file, or longer than {MAX_FILE} bytes"));
    }
    fs::read(path).map_err(|error| error.to_string())
}

/// A `-D` setting, or what every JVM has of itself.
fn system_property(environment: &Environment, name: &str) -> Option<String> {
    if let Some(value) = environment.property(name) {
        return Some(value.to_owned());
    }
    let variable = |name: &str| environment.variables.get(name).cloned();
    match name {
        "user.home" => Some(environment.home().to_owned()),
        "user.name" => variable("USER").or_else(|| variable("LOGNAME")),
        "user.dir" => std::env::current_dir().ok().map(|dir| dir.display().to_string()),
        "java.io.tmpdir" => Some("/tmp".to_owned()),
        "java.version" | "java.specification.version" => Some(JAVA_VERSION.to_owned()),
        "file.separator" => Some("/".to_owned()),
        "path.separator" => Some(":".to_owned()),
        "line.separator" => Some("\n".to_owned()),
        "file.encoding" => Some("UTF-8".to_owned()),
        "os.name" => Some("Linux".to_owned()),
        "os.arch" => Some(architecture().to_owned()),
        _ => None,
    }
}

/// The machine, by Java's name.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        other => other,
    }
}

/// What `${java:…}` says of the runtime, with this program in the place of a JVM.
fn java(environment: &Environment, name: &str) -> Option<String> {
    let version = environment.property("java.version").unwrap_or(JAVA_VERSION);
    let bits = usize::BITS;
    Some(match name {
        "version" => format!("Java version {version}"),
        "runtime" | "vm" => format!("Flumen {} (as Java {version})", env!("CARGO_PKG_VERSION")),
        "os" => format!("Linux, architecture: {}-{bits}", architecture()),
        "hardware" => {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            format!("processors: {processors}, architecture: {}-{bits}", architecture())
        }
        "locale" => "default locale: en_US, platform encoding: UTF-8".to_owned(),
        _ => return None,
    })
}

/// The present time by a pattern of `SimpleDateFormat`.
fn date(pattern: &str, now_ms: i64) -> Result<String, String> {
    let format = DateFormat::compile(pattern, &Locale::us(), &Zone::system());
    format
        .map(|format| format.format(now_ms))
        .map_err(|error| format!("`{pattern}` is no date pattern: {error}"))
}

/// A file's text, as `${file:UTF-8:path}`.
fn file(name: &str) -> Result<String, String> {
    let (charset, path) = name.split_once(':').ok_or("expected `charset:path`")?;
    let charset = flumen_java::charset::Charset::for_name(charset).map_err(|error| error.to_string())?;
    let bytes = read_limited(Path::new(path)).map_err(|why| format!("cannot read {path}: {why}"))?;
    let text =
        charset.decode(&bytes, flumen_java::charset::OnError::Replace).map_err(|error| error.to_string())?;
    Ok(text.into_owned())
}

/// A property of another file, as `${properties:path::key}`.
fn property_of_file(name: &str) -> Result<String, String> {
    let (path, key) = name.split_once("::").ok_or("expected `path::key`")?;
    let bytes = read_limited(Path::new(path)).map_err(|why| format!("cannot read {path}: {why}"))?;
    let pairs = properties::load(&bytes, Encoding::Latin1).pairs;
    let found = pairs.into_iter().rev().find(|pair| pair.key == key);
    found.map(|pair| pair.value).ok_or_else(|| format!("{path} has no property `{key}`"))
}
