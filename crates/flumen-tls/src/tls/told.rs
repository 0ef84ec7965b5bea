//! What a failed handshake says to the operator: what was wrong, and what puts it right.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

/// What the library says of a failed handshake, with the cure behind it where one is known.
pub fn handshake_failure(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match cause.and_then(cure) {
        Some(cure) => format!("{error}: {cure}"),
        None => error.to_string(),
    }
}

fn cure(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::InvalidCertificate(error) => return of_certificate(error),
        Error::AlertReceived(alert) => return of_alert(*alert),
        Error::NoCertificatesPresented => {
            "the client shows no certificate; give it a key store, or ask for none here (client-auth)"
        }
        Error::InvalidMessage(_) => {
            "the peer does not speak TLS; switch `ssl` on at both ends or at neither, and compare the ports"
        }
        Error::PeerIncompatible(_) => {
            "the two have no protocol or cipher suite in common; TLS 1.2 and 1.3 are spoken here, see include-protocols \
             and include-cipher-suites at both ends"
        }
        _ => return None,
    })
}

/// Of the certificate that the peer has shown.
fn of_certificate(error: &CertificateError) -> Option<&'static str> {
    use CertificateError as Certificate;
    Some(match error {
        Certificate::UnknownIssuer => {
            "the trust store has neither the peer's certificate nor that of its issuer; put one of them into it, or have \
             the peer send its whole chain"
        }
        Certificate::Expired | Certificate::ExpiredContext { .. } => {
            "the peer needs a new certificate; if its certificate is good, set this machine's clock"
        }
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            "set this machine's clock, or wait until the peer's certificate begins to be valid"
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
            "connect by a name that the peer's certificate has among its subject alternative names (a common name alone \
             does not count), or issue it for this name"
        }
        Certificate::InvalidPurpose | Certificate::InvalidPurposeContext { .. } => {
            "the peer's certificate is issued for another use; issue it with the extended key usage serverAuth for a \
             server, clientAuth for a client, or with none"
        }
        // The library that looks at chains has errors of its own, which come with their names alone.
        other => {
            let name = format!("{other:?}");
            let has = |part| name.contains(part);
            if has("CaUsedAsEndEntity") {
                "the peer shows a certificate that is marked as an authority's (CA:TRUE, as `openssl req -x509` makes \
                 them); put this very certificate into the trust store, or issue one with basicConstraints=CA:FALSE"
            } else if has("EndEntityUsedAsCa") {
                "the peer's certificate is signed by one that is not an authority's (CA:FALSE); put the peer's own \
                 certificate into the trust store, or sign it by an authority"
            } else if has("UnsupportedCertVersion") {
                "the peer's certificate is of version 1; issue one of version 3, with subject alternative names"
            } else {
                return None;
            }
        }
    })
}

/// Of what the peer says about this end.
fn of_alert(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::UnknownCA | AlertDescription::BadCertificate => {
            "the peer does not trust the certificate of this end; put it, or its issuer's, into the peer's trust store"
        }
        AlertDescription::CertificateRequired => {
            "the peer asks for a certificate; set a key store at this end"
        }
        AlertDescription::CertificateExpired => {
            "the certificate of this end has expired for the peer; renew it, or set the peer's clock"
        }
        AlertDescription::HandshakeFailure | AlertDescription::ProtocolVersion => {
            "the peer has no protocol or cipher suite in common with this end; TLS 1.2 and 1.3 are spoken here"
        }
        _ => return None,
    })
}
