//! Java's names of protocols and cipher suites, and which of them are offered.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::version::{TLS12, TLS13};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

use super::{TlsError, TlsSettings};

/// A name in the settings that changes nothing, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameWarning {
    /// As it is written in the settings.
    pub name: String,
    /// Why it changes nothing.
    pub reason: &'static str,
}

impl fmt::Display for NameWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

/// The reasons as the tail of an error message.
pub(super) fn reasons(warnings: &[NameWarning]) -> String {
    let reasons: Vec<String> = warnings.iter().map(NameWarning::to_string).collect();
    if reasons.is_empty() { ": all are excluded".to_owned() } else { format!(": {}", reasons.join("; ")) }
}

/// The cryptography with the suites that are left, and the protocols that are left.
pub(super) fn provider(
    settings: &TlsSettings,
) -> Result<(Arc<CryptoProvider>, Vec<&'static SupportedProtocolVersion>), TlsError> {
    let (versions, warnings) = protocols(settings);
    if versions.is_empty() {
        return Err(TlsError::NoProtocol(warnings));
    }
    let (cipher_suites, warnings) = cipher_suites(settings);
    if !cipher_suites.iter().any(|suite| versions.contains(&suite.version())) {
        return Err(TlsError::NoCipherSuite(warnings));
    }
    Ok((Arc::new(CryptoProvider { cipher_suites, ..aws_lc_rs::default_provider() }), versions))
}

pub(super) fn protocols(
    settings: &TlsSettings,
) -> (Vec<&'static SupportedProtocolVersion>, Vec<NameWarning>) {
    let offered = [("TLSv1.3", &TLS13), ("TLSv1.2", &TLS12)];
    let chosen = Choice { include: &settings.include_protocols, exclude: &settings.exclude_protocols };
    let left =
        offered.into_iter().filter(|(name, _)| chosen.allows(name)).map(|(_, version)| version).collect();
    let warnings = chosen.warnings(|name| match () {
        () if offered.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) => Known::Offered,
        () if ["TLSv1.1", "TLSv1"].iter().any(|old| old.eq_ignore_ascii_case(name)) => {
            Known::NotOffered("not offered: RFC 8996 forbids it as broken; use TLSv1.2 or TLSv1.3")
        }
        () if ["SSLv3", "SSLv2Hello", "SSLv2"].iter().any(|old| old.eq_ignore_ascii_case(name)) => {
            Known::NotOffered("not offered: RFC 7568 forbids it as broken; use TLSv1.2 or TLSv1.3")
        }
        () => Known::Unknown("not the name of a protocol: TLSv1.2 and TLSv1.3 are"),
    });
    (left, warnings)
}

pub(super) fn cipher_suites(settings: &TlsSettings) -> (Vec<SupportedCipherSuite>, Vec<NameWarning>) {
    let offered = aws_lc_rs::ALL_CIPHER_SUITES;
    let chosen =
        Choice { include: &settings.include_cipher_suites, exclude: &settings.exclude_cipher_suites };
    let left = offered.iter().copied().filter(|suite| chosen.allows(&java_name(suite))).collect();
    let warnings = chosen.warnings(|name| match () {
        () if offered.iter().any(|suite| same(&java_name(suite), name)) => Known::Offered,
        () => known_suite(name),
    });
    (left, warnings)
}

/// Java's name of a suite, which is the registered one; rustls marks those of TLS 1.3.
fn java_name(suite: &SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1)
}

/// Equal but for case, and for the prefix that the JDKs of IBM have.
fn same(known: &str, name: &str) -> bool {
    let bare = |name: &str| -> Option<String> {
        let upper = name.to_ascii_uppercase();
        upper.strip_prefix("TLS_").or(upper.strip_prefix("SSL_")).map(str::to_owned)
    };
    known.eq_ignore_ascii_case(name) || (bare(name).is_some() && bare(known) == bare(name))
}

/// What is known of a name that is not offered.
fn known_suite(name: &str) -> Known {
    let name = name.to_ascii_uppercase();
    let is_suite = (name.starts_with("TLS_") || name.starts_with("SSL_")) && name.contains("_WITH_");
    match () {
        () if name == "TLS_EMPTY_RENEGOTIATION_INFO_SCSV" => Known::Offered,
        () if !is_suite => Known::Unknown("not the name of a cipher suite"),
        () if name.contains("_CBC_") || name.contains("_CBC40_") => {
            Known::NotOffered("not offered: CBC suites leak through timing; the GCM and CHACHA20 ones are")
        }
        () if name[4..].starts_with("RSA_") => {
            Known::NotOffered("not offered: without forward secrecy; the ECDHE ones are")
        }
        () if name[4..].starts_with("DHE_") => Known::NotOffered("not offered: the ECDHE ones are instead"),
        () => Known::NotOffered("not offered: the ECDHE ones with GCM or CHACHA20 are"),
    }
}

enum Known {
    Offered,
    NotOffered(&'static str),
    Unknown(&'static str),
}

/// Two lists of names, as Java's settings have them: what is excluded stays out, whatever is included.
struct Choice<'a> {
    include: &'a [String],
    exclude: &'a [String],
}

impl Choice<'_> {
    fn allows(&self, name: &str) -> bool {
        let has = |list: &[String]| list.iter().any(|listed| same(name, listed));
        (self.include.is_empty() || has(self.include)) && !has(self.exclude)
    }

    /// Excluding what is not offered is what one gets anyway; including it is not.
    fn warnings(&self, known: impl Fn(&str) -> Known) -> Vec<NameWarning> {
        let mut warnings: Vec<NameWarning> = Vec::new();
        for (name, included) in
            self.include.iter().map(|name| (name, true)).chain(self.exclude.iter().map(|name| (name, false)))
        {
            let reason = match known(name) {
                Known::NotOffered(reason) if included => reason,
                Known::Unknown(reason) => reason,
                _ => continue,
            };
            let warning = NameWarning { name: name.clone(), reason };
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

#[cfg(test)]
mod tests;
