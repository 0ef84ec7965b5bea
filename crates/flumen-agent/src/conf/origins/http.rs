//! A web server: conditional requests, basic authorisation, and limits on time and size.

use super::{Look, MAX_BYTES, OriginError};
use crate::conf::Sources;
use flumen_core::{config::Secret, registry::Environment};
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use reqwest::{
    Client, StatusCode, Url,
    header::{IF_MODIFIED_SINCE, LAST_MODIFIED},
    redirect::Policy,
};
use std::{path::PathBuf, sync::Arc, time::Duration};

/// How long a connection may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long the server may be silent.
const SILENCE_LIMIT: Duration = Duration::from_secs(15);
/// How long all may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Redirections that are followed.
const MAX_REDIRECTIONS: usize = 5;

/// A configuration behind a URI.
#[derive(Debug)]
pub(super) struct HttpOrigin {
    uri: Url,
    login: Option<(String, Secret)>,
    environment: Arc<Environment>,
    client: Option<Client>,
    /// `Last-Modified` of what was read.
    modified: Option<String>,
    limits: Limits,
}

/// Limits that a test makes smaller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) connect: Duration,
    pub(super) silence: Duration,
    pub(super) whole: Duration,
    pub(super) bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: CONNECT_LIMIT, silence: SILENCE_LIMIT, whole: LIMIT, bytes: MAX_BYTES }
    }
}

impl HttpOrigin {
    /// The error says why this is no URL.
    pub(super) fn new(uri: &str, sources: &Sources) -> Result<Self, String> {
        let uri = Url::parse(uri.trim()).map_err(|error| format!("is no URL: {error}"))?;
        let given = |text: &str| !text.is_empty();
        let login = match (&sources.user, &sources.password) {
            (Some(user), Some(password)) if given(user) && given(password.reveal()) => {
                Some((user.clone(), password.clone()))
            }
            _ => None,
        };
        let environment = sources.environment.clone();
        Ok(Self { uri, login, environment, client: None, modified: None, limits: Limits::default() })
    }

    /// The URI without user, password and query, any of which may be a secret.
    pub(super) fn name(&self) -> String {
        let port = self.uri.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!(
            "{}://{}{port}{}",
            self.uri.scheme(),
            self.uri.host_str().unwrap_or_default(),
            self.uri.path()
        )
    }

    pub(super) fn path(&self) -> &str {
        self.uri.path()
    }

    #[cfg(test)]
    pub(super) fn set_limits(&mut self, limits: Limits) {
        (self.limits, self.client) = (limits, None);
    }

    /// Asks for the text; where one is `known`, only for a newer one.
    pub(super) async fn look(&mut self, known: bool) -> Result<Look, OriginError> {
        let asked = self.ask(known).await;
        asked.map_err(|what| OriginError::Http { uri: self.name(), what })
    }

    async fn ask(&mut self, known: bool) -> Result<Look, String> {
        let client = match &self.client {
            Some(client) => client.clone(),
            None => self.client.insert(self.connect().await?).clone(),
        };
        let mut request = client.get(self.uri.clone());
        if let Some((user, password)) = &self.login {
            request = request.basic_auth(user, Some(password.reveal()));
        }
        if let (true, Some(modified)) = (known, &self.modified) {
            request = request.header(IF_MODIFIED_SINCE, modified);
        }
        let mut response = request.send().await.map_err(|error| reason(&error))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED if known => return Ok(Look::Same),
            status => return Err(refusal(status, self.login.is_some())),
        }
        let too_long =
            |bytes: u64| format!("it has {bytes} bytes or more, and at most {} are read", self.limits.bytes);
        if let Some(len) = response.content_length().filter(|len| *len > self.limits.bytes) {
            return Err(too_long(len));
        }
        let modified =
            response.headers().get(LAST_MODIFIED).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| reason(&error))? {
            if (bytes.len() + chunk.len()) as u64 > self.limits.bytes {
                return Err(too_long((bytes.len() + chunk.len()) as u64));
            }
            bytes.extend_from_slice(&chunk);
        }
        self.modified = modified;
        Ok(Look::Text(bytes))
    }

    /// A client for this server alone.
    async fn connect(&self) -> Result<Client, String> {
        let (environment, https) = (self.environment.clone(), self.uri.scheme() == "https");
        // Trust stores are files, and some take a while to open.
        let tls = tokio::task::spawn_blocking(move || tls(&environment, https).client_config()).await;
        let tls = tls.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let scheme = self.uri.scheme().to_owned();
        // As in Java, a redirection to another protocol is not followed: the password would go there, too.
        let policy = Policy::custom(move |attempt| {
            if attempt.previous().len() > MAX_REDIRECTIONS {
                attempt.error("too many redirections")
            } else if attempt.url().scheme() != scheme {
                attempt.stop()
            } else {
                attempt.follow()
            }
        });
        Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(policy)
            .connect_timeout(self.limits.connect)
            .read_timeout(self.limits.silence)
            .timeout(self.limits.whole)
            .pool_max_idle_per_host(1)
            .build()
            .map_err(|error| reason(&error))
    }
}

/// The key and trust stores that a JVM would take from its `-D` settings. Plain `http` has a client without any.
fn tls(environment: &Environment, https: bool) -> TlsSettings {
    if !https {
        return TlsSettings { trust_all: true, ..TlsSettings::default() };
    }
    let store = |name: &str| {
        let setting = |what: &str| environment.property(&format!("javax.net.ssl.{name}{what}"));
        Some(StoreFile {
            path: PathBuf::from(setting("")?),
            password: setting("Password").map(Password::new),
            type_name: setting("Type").map(str::to_owned),
        })
    };
    TlsSettings { key_store: store("keyStore"), trust_store: store("trustStore"), ..TlsSettings::default() }
}

/// What to do about a status.
fn refusal(status: StatusCode, with_login: bool) -> String {
    match status {
        StatusCode::UNAUTHORIZED if with_login => {
            "the server refuses the user or the password (401): see --conf-user and --conf-password"
                .to_owned()
        }
        StatusCode::UNAUTHORIZED => {
            "the server wants a user and a password (401): give --conf-user and --conf-password".to_owned()
        }
        StatusCode::NOT_FOUND => "the server has no such page (404)".to_owned(),
        status if status.is_redirection() => format!(
            "the server answers {} and leads to another protocol, which is not followed: give the last URI",
            status.as_u16()
        ),
        status => format!("the server answers {status}"),
    }
}

/// An error with its causes, without the URL, which may hold a password.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the server does not answer in time".to_owned();
    }
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = if text.is_empty() { said } else { format!("{text}: {said}") };
        }
        cause = error.source();
    }
    if text.is_empty() { "the request failed".to_owned() } else { text }
}
