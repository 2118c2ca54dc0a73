//! Encrypted connections, by rustls with `ring`.
//!
//! A server's certificate is checked as ever (signature, dates, purpose), and its name against the address that the
//! driver connects to, which is all that the driver knows; for a contact point that the user calls by a host name, that
//! name does as well. Nodes that the driver finds itself have an address alone.

use std::collections::BTreeMap;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use experiment::{Pem, Tls};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::refusal::Refusal;

/// What connections are encrypted with.
pub(crate) fn context(tls: &Tls, contact_points: &[String]) -> Result<Arc<ClientConfig>, Refusal> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let other = |error: Error| Refusal::Tls(error.to_string());
    let verifier = Arc::new(Verifier {
        roots: match &tls.authorities {
            Some(pem) => stated_roots(pem)?,
            None => roots_of_system()?,
        },
        names: tls.verify_host_name.then(|| names(contact_points)),
        provider: Arc::clone(&provider),
    });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = certificates(&identity.certificate)?;
            let key = PrivateKeyDer::from_pem_slice(identity.key.text.as_bytes()).map_err(|error| Refusal::File {
                file: identity.key.file.clone(),
                reason: format!("no private key, in PEM and without a passphrase ({error})"),
            })?;
            builder.with_client_auth_cert(chain, key).map_err(|error| Refusal::File {
                file: identity.key.file.clone(),
                reason: format!("does not fit the certificate in {} ({error})", identity.certificate.file),
            })?
        }
    };
    Ok(Arc::new(config))
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, Refusal> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.text.as_bytes()).collect();
    let wrong = |reason: String| Refusal::File { file: pem.file.clone(), reason };
    match read {
        Ok(found) if found.is_empty() => Err(wrong("no certificate in PEM (-----BEGIN CERTIFICATE-----)".to_owned())),
        Ok(found) => Ok(found),
        Err(error) => Err(wrong(error.to_string())),
    }
}

fn stated_roots(pem: &Pem) -> Result<RootCertStore, Refusal> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        roots.add(certificate).map_err(|error| Refusal::File { file: pem.file.clone(), reason: error.to_string() })?;
    }
    Ok(roots)
}

/// Those of the machine that connects.
fn roots_of_system() -> Result<RootCertStore, Refusal> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err(Refusal::Tls(
            "the operating system trusts no authority (package ca-certificates); name one with ca_file".to_owned(),
        ));
    }
    Ok(roots)
}

/// The host names by which the user calls addresses.
type Names = BTreeMap<IpAddr, Vec<ServerName<'static>>>;

fn names(contact_points: &[String]) -> Names {
    let mut names = Names::new();
    for point in contact_points {
        let host = point.rsplit_once(':').map_or(point.as_str(), |(host, _)| host);
        let Ok(name @ ServerName::DnsName(_)) = ServerName::try_from(host.to_owned()) else { continue };
        // The driver looks them up again and says what is wrong with one that has no address.
        for address in point.to_socket_addrs().into_iter().flatten() {
            names.entry(address.ip()).or_default().push(name.clone());
        }
    }
    names
}

/// Checks a server's certificate.
#[derive(Debug)]
struct Verifier {
    roots: RootCertStore,
    /// `None`: whomever it names.
    names: Option<Names>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn check_name(&self, certificate: &ParsedCertificate<'_>, connected: &ServerName<'_>) -> Result<(), Error> {
        let Some(names) = &self.names else { return Ok(()) };
        let called: &[ServerName<'static>] = match connected {
            ServerName::IpAddress(address) => names.get(&IpAddr::from(*address)).map_or(&[], Vec::as_slice),
            _ => &[],
        };
        if called.iter().any(|name| verify_server_name(certificate, name).is_ok()) {
            return Ok(());
        }
        verify_server_name(certificate, connected)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&certificate, &self.roots, intermediates, now, algorithms)?;
        self.check_name(&certificate, server_name)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
