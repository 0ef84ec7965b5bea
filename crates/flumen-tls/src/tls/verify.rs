//! Who is trusted: chains up to a trusted certificate, and, as in a JDK, every certificate of the trust store itself.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};

use super::{ClientAuth, TlsError, Trusted};

/// Checks servers; without `trusted`, anyone is let in who holds the key of the certificate shown.
pub(super) fn of_servers(
    trusted: Option<Trusted>,
    verify_host: bool,
    provider: &CryptoProvider,
) -> Arc<dyn ServerCertVerifier> {
    Arc::new(Servers { trusted, verify_host, algorithms: provider.signature_verification_algorithms })
}

/// Checks clients, those without a certificate included.
pub(super) fn of_clients(
    trusted: Trusted,
    wanted: ClientAuth,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let builder = WebPkiClientVerifier::builder_with_provider(trusted.roots, provider);
    let builder = if wanted == ClientAuth::Need { builder } else { builder.allow_unauthenticated() };
    let chains = builder.build().map_err(|error| TlsError::Library(error.to_string()))?;
    Ok(Arc::new(Clients { chains, certificates: trusted.certificates }))
}

struct Servers {
    trusted: Option<Trusted>,
    verify_host: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Servers {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        let parsed = ParsedCertificate::try_from(certificate)?;
        // A self-signed certificate in the trust store is not a CA's, and no chain leads to it.
        if !trusted.certificates.contains(certificate) {
            let algorithms = self.algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &trusted.roots,
                intermediates,
                now,
                algorithms,
            )?;
        }
        if self.verify_host {
            verify_server_name(&parsed, name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

struct Clients {
    chains: Arc<dyn ClientCertVerifier>,
    certificates: HashSet<CertificateDer<'static>>,
}

impl ClientCertVerifier for Clients {
    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if self.certificates.contains(certificate) {
            return Ok(ClientCertVerified::assertion());
        }
        self.chains.verify_client_cert(certificate, intermediates, now)
    }

    fn client_auth_mandatory(&self) -> bool {
        self.chains.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.chains.root_hint_subjects()
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trusted = self.trusted.as_ref().map(|trusted| trusted.certificates.len());
        f.debug_struct("Servers").field("trusted", &trusted).field("verify_host", &self.verify_host).finish()
    }
}

impl fmt::Debug for Clients {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clients").field("trusted", &self.certificates.len()).finish()
    }
}
