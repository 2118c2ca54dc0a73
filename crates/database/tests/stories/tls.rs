//! What a user reads where TLS does not come about, with a server that does nothing but TLS.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use database::{CqlConnect, Existing, ExistingError, Refusal, TableAt};
use experiment::{Access, Identity, Pem, Tls};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// Who signs: its certificate as text, and what it signs with.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let key = KeyPair::generate().unwrap();
    Authority { pem: params.self_signed(&key).unwrap().pem(), issuer: Issuer::new(params, key) }
}

/// A certificate for these names, valid in these years.
fn server(by: &Authority, names: &[&str], years: (i32, i32)) -> ServerConfig {
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    params.not_before = date_time_ymd(years.0, 1, 1);
    params.not_after = date_time_ymd(years.1, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &by.issuer).unwrap();
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap()
}

/// Answers on a port of its own: with a handshake and then the end, or with plain text.
fn listen(config: Option<ServerConfig>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let config = config.map(Arc::new);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            match &config {
                Some(config) => {
                    let mut connection = ServerConnection::new(Arc::clone(config)).unwrap();
                    let _ = connection.complete_io(&mut stream);
                }
                // As Cassandra does: an ERROR in its own protocol.
                None => {
                    let _ = stream.read(&mut [0; 1024]);
                    let _ = stream.write_all(&[0x84, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]);
                }
            }
        }
    });
    port
}

fn pem(file: &str, text: &str) -> Pem {
    Pem { file: file.to_owned(), text: text.to_owned() }
}

fn trusting(authority: &Authority) -> Tls {
    Tls { authorities: Some(pem("ca.pem", &authority.pem)), identity: None, verify_host_name: true }
}

/// What is said when connecting to `host` on this port.
fn reported(host: &str, port: u16, tls: Option<Tls>) -> (String, Option<String>) {
    let connect = CqlConnect::new(TableAt {
        request_timeout: Duration::from_secs(5),
        access: Access { tls, ..Access::default() },
        ..TableAt::ycsb(format!("{host}:{port}"), 1)
    });
    match Existing::connect(&connect.at) {
        Ok(_) => panic!("nobody speaks CQL there"),
        Err(ExistingError::Connect { refusal, .. }) => (refusal.to_string(), refusal.help()),
        Err(other) => panic!("{other}"),
    }
}

const NOW: (i32, i32) = (2020, 2120);
/// What a sound handshake comes to here, because the server hangs up after it.
const THROUGH: &str = "it breaks off TLS";

#[test]
fn a_certificate_that_is_not_taken_is_reported_with_the_reason_and_what_to_do() {
    let ours = authority("ours");
    let ip = ["127.0.0.1"];
    let (said, help) =
        reported("127.0.0.1", listen(Some(server(&authority("other"), &ip, NOW))), Some(trusting(&ours)));
    assert_eq!(said, "its certificate is not signed by an authority in ca.pem");
    assert!(help.unwrap().contains("--tls-ca"));

    let (said, _) = reported("127.0.0.1", listen(Some(server(&ours, &ip, (2015, 2016)))), Some(trusting(&ours)));
    assert!(said.starts_with("its certificate expired ") && said.ends_with(" days ago"), "{said}");
    let (said, _) = reported("127.0.0.1", listen(Some(server(&ours, &ip, (2110, 2120)))), Some(trusting(&ours)));
    assert!(said.starts_with("its certificate is valid only ") && said.ends_with(" days from now"), "{said}");

    let port = listen(Some(server(&ours, &["db1.example", "10.0.0.5"], NOW)));
    let (said, help) = reported("127.0.0.1", port, Some(trusting(&ours)));
    assert_eq!(said, "its certificate is for db1.example, 10.0.0.5, not for 127.0.0.1");
    assert!(help.unwrap().contains("verify_host_name = false (--tls-any-name)"));
    let any = Tls { verify_host_name: false, ..trusting(&ours) };
    let (said, _) = reported("127.0.0.1", port, Some(any));
    assert!(said.starts_with(THROUGH), "{said}");
    // By the name that the user calls it.
    let port = listen(Some(server(&ours, &["localhost"], NOW)));
    let (said, _) = reported("localhost", port, Some(trusting(&ours)));
    assert!(said.starts_with(THROUGH), "{said}");
    let (said, _) = reported("127.0.0.1", port, Some(trusting(&ours)));
    assert_eq!(said, "its certificate is for localhost, not for 127.0.0.1");
}

#[test]
fn a_server_without_tls_and_one_with_nothing_else_are_told_apart() {
    let ours = authority("ours");
    let (said, help) = reported("127.0.0.1", listen(None), Some(trusting(&ours)));
    assert_eq!(said, "its answer is not TLS: this port takes connections without encryption");
    assert!(help.unwrap().contains("leave out tls"));
    let (said, help) = reported("127.0.0.1", listen(Some(server(&ours, &["127.0.0.1"], NOW))), None);
    assert!(said.starts_with("it closes the connection without an answer"), "{said}");
    assert!(help.unwrap().contains("--tls"));
}

#[test]
fn a_file_that_has_something_else_in_it_is_named() {
    let ours = authority("ours");
    let wrong = Tls { authorities: Some(pem("ca.pem", "0\u{82} as DER is")), ..trusting(&ours) };
    let (said, _) = reported("127.0.0.1", 1, Some(wrong));
    assert_eq!(said, "ca.pem: no certificate in PEM (-----BEGIN CERTIFICATE-----)");
    let with_key = |key: &str| Tls {
        identity: Some(Identity { certificate: pem("me.pem", &ours.pem), key: pem("me.key", key) }),
        ..trusting(&ours)
    };
    let (said, _) = reported("127.0.0.1", 1, Some(with_key("secret")));
    assert!(said.starts_with("me.key: no private key, in PEM and without a passphrase"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    let (said, _) = reported("127.0.0.1", 1, Some(with_key(&KeyPair::generate().unwrap().serialize_pem())));
    assert!(said.starts_with("me.key: does not fit the certificate in me.pem"), "{said}");
    assert_eq!(Refusal::NoLogin.help().map(|help| help.contains("--user")), Some(true));
}
