//! JAAS text (`org.apache…PlainLoginModule required username="u" password="p";`) into librdkafka's SASL settings.

use super::ClientSettings;
use flumen_core::config::View;
use std::collections::BTreeMap;

/// The longest text, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// One login module with its options.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Login {
    /// The last part of the class name.
    pub(super) module: String,
    pub(super) options: BTreeMap<String, String>,
}

/// Looks at `sasl.jaas.config`, so that it is told at the check, and takes over what needs no files. False where it cannot be.
pub(super) fn check(view: &mut View<'_>, prefix: &str, settings: &mut ClientSettings) -> bool {
    let Some(text) = settings.java.get("sasl.jaas.config").cloned() else { return true };
    let full = format!("{prefix}sasl.jaas.config");
    match parse(&text).and_then(|login| apply(&login, settings)) {
        Ok(()) => true,
        Err(why) => {
            view.error(&full, why);
            false
        }
    }
}

/// Sets what a login says.
///
/// # Errors
/// What it asks for is not there; in words, without a value of it.
pub(super) fn apply(login: &Login, settings: &mut ClientSettings) -> Result<(), String> {
    let option = |name: &str| login.options.get(name).map(String::as_str);
    let is = |name: &str| option(name).is_some_and(|text| text.eq_ignore_ascii_case("true"));
    match login.module.as_str() {
        "PlainLoginModule" | "ScramLoginModule" => {
            if is("tokenauth") {
                return Err(
                    "delegation tokens (tokenauth) are not there: use a user and a password".to_owned()
                );
            }
            let (Some(user), Some(password)) = (option("username"), option("password")) else {
                return Err(format!("{} needs username and password", login.module));
            };
            settings.or_set("sasl.username", user);
            settings.or_set("sasl.password", password);
        }
        "Krb5LoginModule" => {
            for (java, native) in [
                ("principal", "sasl.kerberos.principal"),
                ("keyTab", "sasl.kerberos.keytab"),
                ("serviceName", "sasl.kerberos.service.name"),
            ] {
                if let Some(value) = option(java) {
                    settings.or_set(native, value.strip_prefix("file:").unwrap_or(value));
                }
            }
            if !is("useKeyTab") {
                // The ticket is somebody else's to renew.
                settings.or_set("sasl.kerberos.min.time.before.relogin", "0");
            }
        }
        "OAuthBearerLoginModule" => oauth(login, settings)?,
        other => {
            return Err(format!(
                "login module `{other}` is not there: there are PlainLoginModule, ScramLoginModule, Krb5LoginModule and \
                 OAuthBearerLoginModule"
            ));
        }
    }
    Ok(())
}

/// Tokens without a signature, as Java makes them for tests and closed networks.
fn oauth(login: &Login, settings: &mut ClientSettings) -> Result<(), String> {
    let claim = |name: &str| login.options.get(&format!("unsecuredLoginStringClaim_{name}"));
    let Some(subject) = claim("sub") else {
        return Err("OAuthBearerLoginModule has unsecured tokens only (unsecuredLoginStringClaim_sub): a token server is not \
                    asked, as the client library is built without HTTP"
            .to_owned());
    };
    if subject.contains(char::is_whitespace) {
        return Err("unsecuredLoginStringClaim_sub has a blank".to_owned());
    }
    let scope = claim("scope").map(|scope| format!(" scope={scope}")).unwrap_or_default();
    settings.or_set("enable.sasl.oauthbearer.unsecure.jwt", "true");
    settings.or_set("sasl.oauthbearer.config", format!("principal={subject}{scope}"));
    Ok(())
}

/// Reads the text of `sasl.jaas.config`: one module.
///
/// # Errors
/// What is wrong, without a value of it.
pub(super) fn parse(text: &str) -> Result<Login, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("is longer than {MAX_BYTES} bytes"));
    }
    let mut tokens = Tokens(text);
    let login = module(&mut tokens)?;
    match tokens.next()? {
        None => Ok(login),
        Some(_) => Err("there is more than one login module".to_owned()),
    }
}

/// Reads a JAAS file and gives the first module of its section `KafkaClient`, if it has one.
///
/// # Errors
/// What is wrong, without a value of it.
pub(super) fn parse_file(text: &str) -> Result<Option<Login>, String> {
    let mut tokens = Tokens(text);
    while let Some(section) = tokens.next()? {
        if tokens.next()?.as_deref() != Some("{") {
            return Err(format!("there is no {{ after `{section}`"));
        }
        if section == "KafkaClient" {
            return module(&mut tokens).map(Some);
        }
        while tokens.next()?.ok_or("a section has no end")? != "}" {}
        if tokens.0.trim_start().starts_with(';') {
            tokens.next()?;
        }
    }
    Ok(None)
}

fn module(tokens: &mut Tokens<'_>) -> Result<Login, String> {
    let class = tokens.next()?.ok_or("names no login module")?;
    let flag = tokens.next()?.unwrap_or_default();
    if !["required", "requisite", "sufficient", "optional"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(&flag))
    {
        return Err("there is no `required` after the login module".to_owned());
    }
    let mut options = BTreeMap::new();
    loop {
        let name = tokens.next()?.ok_or("has no `;` at its end")?;
        if name == ";" {
            let module = class.rsplit('.').next().unwrap_or(&class).to_owned();
            return Ok(Login { module, options });
        }
        if tokens.next()?.as_deref() != Some("=") {
            return Err(format!("there is no = after `{name}`"));
        }
        let value = tokens.next()?.ok_or("ends within an option")?;
        options.insert(name, value);
    }
}

/// Words, quoted texts, and the signs `= ; { }`.
struct Tokens<'a>(&'a str);

impl Tokens<'_> {
    fn next(&mut self) -> Result<Option<String>, String> {
        self.skip();
        let Some(first) = self.0.chars().next() else { return Ok(None) };
        if matches!(first, '=' | ';' | '{' | '}') {
            self.0 = &self.0[1..];
            return Ok(Some(first.to_string()));
        }
        if first == '"' || first == '\'' {
            return self.quoted(first).map(Some);
        }
        let end = self
            .0
            .find(|c: char| c.is_whitespace() || matches!(c, '=' | ';' | '{' | '}'))
            .unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        Ok(Some(word.to_owned()))
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.0.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, escaped)| match escaped {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => other,
                })),
                c if c == quote => {
                    self.0 = &self.0[at + 1..];
                    return Ok(text);
                }
                c => text.push(c),
            }
        }
        Err("a quote is not closed".to_owned())
    }

    /// Over blanks and remarks.
    fn skip(&mut self) {
        loop {
            self.0 = self.0.trim_start();
            let end = match self.0 {
                text if text.starts_with("//") || text.starts_with('#') => {
                    text.find('\n').unwrap_or(text.len())
                }
                text if text.starts_with("/*") => text.find("*/").map_or(text.len(), |at| at + 2),
                _ => return,
            };
            self.0 = &self.0[end..];
        }
    }
}
