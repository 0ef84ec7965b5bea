//! What the process is started with: environment, `flume-env.sh`, the options of a JVM, class paths, memory. Read once.

mod code;
mod descriptors;
mod env_file;
mod jars;
mod java_options;
mod memory;

pub(crate) use code::let_go_of_the_start;
use flumen_core::registry::Environment;
use java_options::JavaOptions;
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process,
};

/// Reads the text of a `flume-env.sh` over these variables.
pub(crate) fn read_env(text: &str, variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
    env_file::read(text, variables).variables
}

/// What the command line says about the start.
#[derive(Debug, Clone, Default)]
pub(crate) struct StartupOptions {
    /// The configuration folder (`-c`).
    pub(crate) conf: Option<PathBuf>,
    /// Java's class path (`-C`).
    pub(crate) class_path: Option<String>,
    /// Java's plug-in folders (`--plugins-path`).
    pub(crate) plugins_path: Option<String>,
    /// `-D…`, `-X…` and the like, in their order.
    pub(crate) java_options: Vec<String>,
    /// Whether `flume-env.sh` of the configuration folder is read.
    pub(crate) env_file: bool,
    /// Whether `sh` runs `flume-env.sh`. By default its simple lines are read without a shell.
    pub(crate) env_shell: bool,
}

/// What all of it comes to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Startup {
    /// For all components.
    pub(crate) environment: Environment,
    /// Folders in which `classpath:` addresses are looked for: the configuration folder, then those of class paths.
    pub(crate) folders: Vec<PathBuf>,
    /// What has no effect or was not understood, one line each.
    pub(crate) notes: Vec<String>,
}

/// Variables that Java Flume copies to properties at its start, unless those are set.
const TLS_VARIABLES: [(&str, &str); 10] = [
    ("FLUME_SSL_KEYSTORE_PATH", "javax.net.ssl.keyStore"),
    ("FLUME_SSL_KEYSTORE_PASSWORD", "javax.net.ssl.keyStorePassword"),
    ("FLUME_SSL_KEYSTORE_TYPE", "javax.net.ssl.keyStoreType"),
    ("FLUME_SSL_TRUSTSTORE_PATH", "javax.net.ssl.trustStore"),
    ("FLUME_SSL_TRUSTSTORE_PASSWORD", "javax.net.ssl.trustStorePassword"),
    ("FLUME_SSL_TRUSTSTORE_TYPE", "javax.net.ssl.trustStoreType"),
    ("FLUME_SSL_INCLUDE_PROTOCOLS", "flume.ssl.include.protocols"),
    ("FLUME_SSL_EXCLUDE_PROTOCOLS", "flume.ssl.exclude.protocols"),
    ("FLUME_SSL_INCLUDE_CIPHERSUITES", "flume.ssl.include.cipherSuites"),
    ("FLUME_SSL_EXCLUDE_CIPHERSUITES", "flume.ssl.exclude.cipherSuites"),
];

impl Startup {
    /// Reads all of it, over these variables of the process.
    ///
    /// # Errors
    /// `flume-env.sh` is there and cannot be read.
    pub(crate) fn read(
        options: &StartupOptions,
        variables: BTreeMap<String, String>,
    ) -> Result<Self, StartupError> {
        let mut notes = Vec::new();
        notes.extend(descriptors::raise_limit());
        if let Some(conf) = options.conf.as_deref().filter(|conf| !conf.is_dir()) {
            notes.push(format!(
                "--conf {}: there is no such folder, so no flume-env.sh, flume.opts or log settings are read",
                conf.display()
            ));
        }
        let variables = match options
            .conf
            .as_deref()
            .filter(|_| options.env_file)
            .map(|conf| conf.join("flume-env.sh"))
        {
            Some(path) if path.is_file() => read_env_file(&path, options.env_shell, variables, &mut notes)?,
            _ => variables,
        };
        let mut java = JavaOptions::default();
        for name in ["JAVA_OPTS", "FLUME_JAVA_OPTS"] {
            for option in variables.get(name).map(String::as_str).unwrap_or_default().split_whitespace() {
                java.add(option, name);
            }
        }
        for option in &options.java_options {
            java.add(option, "command line");
        }
        for (variable, property) in TLS_VARIABLES {
            if let (Some(value), false) = (variables.get(variable), java.properties.contains_key(property)) {
                java.properties.insert(property.to_owned(), value.clone());
            }
        }
        let mut found = jars::Found { notes: Vec::new(), folders: options.conf.iter().cloned().collect() };
        if let Some(path) = &options.class_path {
            jars::class_path(path, "--classpath", &mut found);
        }
        if let Some(path) = variables.get("FLUME_CLASSPATH") {
            jars::class_path(path, "FLUME_CLASSPATH", &mut found);
        }
        let home = || variables.get("FLUME_HOME").map(|home| format!("{home}/plugins.d"));
        if let Some(path) = options.plugins_path.clone().or_else(home) {
            jars::plugins(&path, &mut found);
        }
        notes.extend(java.notes);
        notes.extend(found.notes);
        let environment = Environment {
            properties: java.properties,
            variables,
            max_heap_bytes: java.max_heap_bytes,
            memory_bytes: memory::usable_bytes(),
        };
        Ok(Self { environment, folders: found.folders, notes })
    }
}

/// Why a start cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartupError {
    /// The file is there, and cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    EnvFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn read_env_file(
    path: &Path,
    by_shell: bool,
    variables: BTreeMap<String, String>,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<String, String>, StartupError> {
    let unreadable = |source| StartupError::EnvFile { path: path.to_owned(), source };
    if by_shell {
        return run_env_file(path, variables).map_err(unreadable);
    }
    let bytes = fs::metadata(path).map_err(unreadable)?.len();
    if bytes > env_file::MAX_BYTES {
        let what = format!("has {bytes} bytes, more than the {} that are read", env_file::MAX_BYTES);
        return Err(unreadable(io::Error::other(what)));
    }
    let text = fs::read(path).map_err(unreadable)?;
    let file = env_file::read(&String::from_utf8_lossy(&text), variables);
    for (line, what) in file.unread {
        notes.push(format!(
            "{}:{line}: not understood without a shell, and skipped: {what}; write NAME=value, or start with --env-shell",
            path.display()
        ));
    }
    Ok(file.variables)
}

/// Lets `sh` run the file and print what it has set.
fn run_env_file(path: &Path, variables: BTreeMap<String, String>) -> io::Result<BTreeMap<String, String>> {
    let script = "set -a; . \"$1\" >&2; exec env -0";
    let path = fs::canonicalize(path)?;
    let mut command = process::Command::new("sh");
    let output = command
        .args(["-c", script, "sh"])
        .arg(&path)
        .env_clear()
        .envs(&variables)
        .stdin(process::Stdio::null())
        .stderr(process::Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("sh ended with {}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    Ok(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(env_file: &str) -> (tempfile::TempDir, StartupOptions) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("flume-env.sh"), env_file).unwrap();
        let conf = Some(folder.path().to_owned());
        let options = StartupOptions { conf, env_file: true, ..StartupOptions::default() };
        (folder, options)
    }

    #[test]
    fn the_command_line_wins_over_both_variables_and_tls_variables_fill_what_is_not_set() {
        let (_folder, mut options) =
            conf("JAVA_OPTS=\"-Xmx64m -Da=1 -Db=1 -Dc=1\"\nexport FLUME_SSL_KEYSTORE_PATH=/k\n");
        options.java_options = vec!["-Dc=3".into()];
        let before = [("FLUME_JAVA_OPTS", "-Db=2"), ("FLUME_SSL_KEYSTORE_TYPE", "JKS")];
        let before = before.map(|(n, v)| (n.to_owned(), v.to_owned())).into();
        let startup = Startup::read(&options, before).unwrap();
        let set: Vec<_> = startup.environment.properties.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(set, ["a=1", "b=2", "c=3", "javax.net.ssl.keyStore=/k", "javax.net.ssl.keyStoreType=JKS"]);
        assert_eq!(startup.environment.max_heap_bytes, Some(64 << 20));
        assert_eq!(startup.notes, [] as [String; 0]);
    }

    #[test]
    fn a_configuration_folder_that_is_not_there_is_told() {
        let conf = Some(PathBuf::from("/not/there"));
        let options = StartupOptions { conf, env_file: true, ..StartupOptions::default() };
        let startup = Startup::read(&options, BTreeMap::new()).unwrap();
        assert!(
            startup.notes[0].starts_with("--conf /not/there: there is no such folder"),
            "{:?}",
            startup.notes
        );
        assert_eq!(startup.notes.len(), 1);
    }

    #[test]
    fn a_line_for_a_shell_is_told_or_run_by_one_on_request() {
        let (_folder, mut options) = conf("A=$(echo from-sh)\n");
        let path = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let startup = Startup::read(&options, path.clone()).unwrap();
        assert!(startup.notes[0].contains("flume-env.sh:1: not understood"), "{:?}", startup.notes);
        assert!(!startup.environment.variables.contains_key("A"));
        options.env_shell = true;
        let startup = Startup::read(&options, path).unwrap();
        assert_eq!(startup.environment.variables["A"], "from-sh");
    }
}
