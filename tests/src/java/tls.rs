//! Encryption of a cluster: what its JVMs are told, and how the harness asks such servers.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A cluster that takes nothing but TLS (`tls.server.mode=enforcing`). Servers, and tools that ask them, have one
/// certificate, for 127.0.0.1. All of it in PEM form.
#[derive(Clone, Debug)]
pub struct Tls {
    /// Certificate of the CA that everybody trusts.
    pub ca: String,
    /// The servers' certificate, signed by the CA.
    pub certificate: String,
    /// Its private key.
    pub key: String,
    /// Whether clients must show a certificate that the CA has signed (`tls.server.need.client.auth`).
    pub clients_show_theirs: bool,
}

impl Tls {
    /// The files that [`Self::jvm`] names.
    pub(super) fn files(&self) -> Vec<(String, String)> {
        let file = |name: &str, text: &String| (format!("tls/{name}"), text.clone());
        vec![file("ca.pem", &self.ca), file("server.pem", &self.certificate), file("server.key", &self.key)]
    }

    /// JVM options of servers and tools.
    pub(super) fn jvm(&self, home: &Path) -> Vec<String> {
        let file = |name: &str| home.join("tls").join(name).display().to_string();
        let need = if self.clients_show_theirs { "require" } else { "none" };
        let mut options = vec![
            "-Dtls.server.mode=enforcing".to_owned(),
            "-Dtls.enable=true".to_owned(),
            format!("-Dtls.server.need.client.auth={need}"),
            format!("-Dtls.server.authClient={}", self.clients_show_theirs),
            "-Dtls.client.authServer=true".to_owned(),
        ];
        for side in ["server", "client"] {
            options.push(format!("-Dtls.{side}.trustCertPath={}", file("ca.pem")));
            options.push(format!("-Dtls.{side}.certPath={}", file("server.pem")));
            options.push(format!("-Dtls.{side}.keyPath={}", file("server.key")));
        }
        options
    }

    /// Encrypts a connection to 127.0.0.1.
    pub(super) fn connect(&self, stream: TcpStream) -> io::Result<impl Read + Write + use<>> {
        let certificate =
            |text: &str| CertificateDer::from_pem_slice(text.as_bytes()).map_err(io::Error::other);
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&self.ca)?).map_err(io::Error::other)?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(io::Error::other)?;
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate(&self.certificate)?], key)
            .map_err(io::Error::other)?;
        let name = ServerName::try_from("127.0.0.1").map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(StreamOwned::new(session, stream))
    }
}
