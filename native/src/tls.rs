//! Encrypted connections, by rustls: whose certificates are trusted, and what we show of our own.

mod any;
pub(crate) mod refusal;

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject as _};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

/// How connections are encrypted. Cheap to clone.
///
/// ```no_run
/// use evenkeel::{Security, Tls};
///
/// # fn main() -> evenkeel::Result<()> {
/// let tls = Tls::builder().ca_file("ca.pem").client_certificate("me.pem", "me.key").build()?;
/// let security = Security::default().tls(tls);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    connector: TlsConnector,
    /// The name that certificates must have, if it is not the host of the address.
    name: Option<ServerName<'static>>,
    /// What it was made of: files and names, nothing that was in the files.
    from: Arc<TlsBuilder>,
}

/// Collects the settings of [`Tls`]. Unless told otherwise, those certificates are trusted that the operating system
/// trusts, for the host that the connection was made to; of our own nothing is shown.
#[derive(Clone, Debug, Default)]
#[must_use = "a builder does nothing before it has built"]
pub struct TlsBuilder {
    ca: Option<PathBuf>,
    client: Option<(PathBuf, PathBuf)>,
    server_name: Option<String>,
    insecure_skip_verify: bool,
}

impl TlsBuilder {
    /// Trusts the certificates of this PEM file and what they have signed, and nothing else.
    pub fn ca_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.ca = Some(file.into());
        self
    }

    /// Shows this certificate to servers that ask for one: two PEM files, the chain and its private key.
    pub fn client_certificate(mut self, chain: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.client = Some((chain.into(), key.into()));
        self
    }

    /// The name that the certificate of every server must have, instead of the host in its address. For brokers that
    /// announce bare IP addresses while their certificates have names.
    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Takes any certificate of anybody. Insecure: whoever gets between us and a server can read and change all. For
    /// trying things, and for servers in test mode, which make up a certificate when they start.
    pub fn insecure_skip_verify(mut self) -> Self {
        self.insecure_skip_verify = true;
        self
    }

    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or has not what it must have, or the operating system trusts nobody. The text names the
    /// file and has nothing of what is in it.
    pub fn build(self) -> Result<Tls> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(format!("TLS: {error}")))?;
        let verifier: Arc<dyn ServerCertVerifier> = if self.insecure_skip_verify {
            Arc::new(any::AnyCertificate(provider))
        } else {
            let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(self.roots()?), provider);
            verifier.build().map_err(|error| wrong(format!("TLS: {error}")))?
        };
        let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
        let config = match &self.client {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let pair = builder.with_client_auth_cert(certificates(chain)?, private_key(key)?);
                pair.map_err(|error| {
                    wrong(format!(
                        "certificate {} and private key {}: {error}",
                        chain.display(),
                        key.display()
                    ))
                })?
            }
        };
        let name = self.server_name.as_deref().map(|name| {
            let parsed = ServerName::try_from(name.to_owned());
            parsed.map_err(|_| wrong(format!("TLS server name {name:?} is no host name")))
        });
        Ok(Tls {
            connector: TlsConnector::from(Arc::new(config)),
            name: name.transpose()?,
            from: Arc::new(self),
        })
    }

    fn roots(&self) -> Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let Some(file) = &self.ca else {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                let error = wrong("TLS: the operating system trusts no certificate at all".to_owned());
                return Err(error.with_hint("name a file with those to trust: --tls-ca FILE"));
            }
            return Ok(roots);
        };
        for certificate in certificates(file)? {
            let added = roots.add(certificate);
            added.map_err(|error| wrong(format!("certificates of {}: {error}", file.display())))?;
        }
        Ok(roots)
    }
}

impl Tls {
    /// The usual settings, to be changed.
    pub fn builder() -> TlsBuilder {
        TlsBuilder::default()
    }

    /// Encrypts a connection that was made to `address`.
    ///
    /// # Errors
    /// As the system or rustls tells it; [`refusal::of`] knows which of them are refusals.
    pub(crate) async fn connect(&self, address: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => host(address)?,
        };
        self.connector.connect(name, stream).await
    }

    /// Whether servers that ask for a certificate get one.
    pub(crate) fn shows_certificate(&self) -> bool {
        self.from.client.is_some()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The connector has the private key.
        f.debug_struct("Tls").field("from", &self.from).finish_non_exhaustive()
    }
}

/// What a client says first, to see whether a server understands it.
pub(crate) fn hello(address: &str) -> Option<Vec<u8>> {
    let tls = Tls::builder().insecure_skip_verify().build().ok()?;
    let mut client = ClientConnection::new(Arc::clone(tls.connector.config()), host(address).ok()?).ok()?;
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).ok()?;
    Some(bytes)
}

/// The host of `host:port` as a name that a certificate can have.
fn host(address: &str) -> io::Result<ServerName<'static>> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned())
        .map_err(|_| io::Error::other(format!("no certificate can be for the host {host:?}")))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let failed = |why: &str| wrong(format!("certificates of {}: {why}", file.display()));
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let found = read.map_err(|error| failed(&unreadable(&error)))?;
    if found.is_empty() { Err(failed("there is no certificate in PEM form in it")) } else { Ok(found) }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(file).map_err(|error| {
        let failed = |why: &str| wrong(format!("private key {}: {why}", file.display()));
        let encrypted = || {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.contains("ENCRYPTED")
        };
        match error {
            PemError::NoItemsFound if encrypted() => failed("it is locked by a password")
                .with_hint("`openssl pkcs8 -in LOCKED -out KEY` unlocks it; keep KEY readable for you alone"),
            PemError::NoItemsFound => failed("there is no private key in PEM form in it"),
            other => failed(&unreadable(&other)),
        }
    })
}

/// Why a PEM file cannot be read, without a byte of it.
fn unreadable(error: &PemError) -> String {
    match error {
        PemError::Io(error) => error.to_string(),
        _ => "it is damaged: not in PEM form".to_owned(),
    }
}

fn wrong(text: String) -> Error {
    Error::new(ErrorKind::Config, text)
}
