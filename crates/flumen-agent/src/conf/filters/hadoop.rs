//! The filter `hadoop`: passwords of a Hadoop credential store.

use super::{Filter, FilterContext};
use flumen_core::{
    config::{Configuration, Problem, Settings, Severity},
    registry::EntryInfo,
};
use flumen_tls::credentials::{Credentials, store_password};
use std::{fs, path::PathBuf, sync::Arc};

/// The variable with the password of the store.
const PASSWORD: &str = "HADOOP_CREDSTORE_PASSWORD";
/// The longest password file, in bytes.
const MAX_PASSWORD_FILE: u64 = 64 << 10;
/// The property that names it.
const PASSWORD_FILE: &str = "credstore.java-keystore-provider.password-file";
const PROVIDER_PATH: &str = "credential.provider.path";

/// Fills placeholders from a Hadoop credential store (`hadoop credential create`).
#[derive(Debug, Configuration)]
pub(super) struct HadoopConfig {
    /// The stores, as `jceks://file/path`, several separated by commas.
    #[property(key = "credential.provider.path")]
    pub provider_path: String,
    /// A file with the password of the stores, in a configuration folder or by its path. The variable
    /// HADOOP_CREDSTORE_PASSWORD goes before it; without both the password is `none`.
    #[property(
        key = "credstore.java-keystore-provider.password-file",
        alias = "hadoop.security.credstore.java-keystore-provider.password-file"
    )]
    pub password_file: Option<String>,
}

/// The filter.
#[derive(Debug)]
pub(super) struct HadoopFilter {
    stores: Arc<Credentials>,
}

pub(super) fn info() -> EntryInfo {
    super::info::<HadoopConfig>(
        &["hadoop", "org.apache.flume.configfilter.HadoopCredentialStoreConfigFilter"],
        "Fills placeholders from a Hadoop credential store.",
        std::any::type_name::<HadoopFilter>(),
    )
}

pub(super) async fn read(settings: &Settings, context: &FilterContext) -> (Option<Filter>, Vec<Problem>) {
    let (config, mut problems) = super::config_of::<HadoopConfig>(settings);
    let Some(config) = config else { return (None, problems) };
    let context = context.clone();
    // Opening a store reads files and hashes passwords for a while.
    let opened = tokio::task::spawn_blocking(move || open(&config, &context)).await;
    let opened = opened.unwrap_or_else(|error| Err((PROVIDER_PATH, format!("cannot be read: {error}"))));
    match opened {
        Ok(stores) => (Some(Filter::Hadoop(HadoopFilter { stores: Arc::new(stores) })), problems),
        Err((key, what)) => {
            let at = settings.get(key).and_then(|setting| setting.at.clone());
            problems.push(Problem::new(Severity::Error, settings.full_key(key), at, what));
            (None, problems)
        }
    }
}

fn open(config: &HadoopConfig, context: &FilterContext) -> Result<Credentials, (&'static str, String)> {
    let variable = context.environment.variables.get(PASSWORD).map(String::as_str);
    let mut content = None;
    if let (None, Some(name)) = (variable, &config.password_file) {
        content = Some(password_file(name, context).map_err(|what| (PASSWORD_FILE, what))?);
    }
    let password = store_password(variable, content.as_deref());
    Credentials::open(&config.provider_path, password).map_err(|error| (PROVIDER_PATH, error.to_string()))
}

/// Java looks on the class path, which begins with the configuration folder.
fn password_file(name: &str, context: &FilterContext) -> Result<String, String> {
    let inside = name.trim_start_matches('/');
    let candidates = context.conf_dirs.iter().map(|dir| dir.join(inside)).chain([PathBuf::from(name)]);
    let path = candidates.into_iter().find(|path| path.is_file());
    let path = path.ok_or_else(|| {
        format!("there is no password file `{name}`, in the configuration folder or by this path")
    })?;
    let unreadable =
        |error: std::io::Error| format!("cannot read the password file {}: {error}", path.display());
    if fs::metadata(&path).map_err(unreadable)?.len() > MAX_PASSWORD_FILE {
        return Err(format!("the password file {} is longer than {MAX_PASSWORD_FILE} bytes", path.display()));
    }
    fs::read_to_string(&path).map_err(unreadable)
}

impl HadoopFilter {
    pub(super) async fn value(&self, key: &str) -> Result<String, String> {
        let (stores, alias) = (self.stores.clone(), key.to_owned());
        let got = tokio::task::spawn_blocking(move || stores.get(&alias)).await;
        match got {
            Ok(Ok(Some(password))) => Ok(password.expose().to_owned()),
            Ok(Ok(None)) => Err(format!("the credential store has no `{key}`")),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}
