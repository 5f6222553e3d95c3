//! An embedded broker that can only be reached through TLS.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use crate::certificates::{Ca, Signed};
use evenkeel::embedded::EmbeddedBroker;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

/// Where the front listens. The broker itself is at the same ports of 127.0.0.1, and its routes name the front.
pub(crate) const HOST: &str = "127.0.0.2";

/// What a front asks of its clients.
pub(crate) struct Wants<'a> {
    /// Whose certificates they must show, if any.
    pub(crate) clients_of: Option<&'a Ca>,
    /// The one version that it speaks.
    pub(crate) version: &'static SupportedProtocolVersion,
}

impl Default for Wants<'_> {
    fn default() -> Self {
        Self { clients_of: None, version: &TLS13 }
    }
}

/// Both versions.
pub(crate) const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// A broker with a topic `orders`, behind TLS.
pub(crate) struct Front {
    pub(crate) broker: EmbeddedBroker,
    // Dropped with the front, which ends them.
    _doors: JoinSet<()>,
}

impl Front {
    /// With this certificate at the name server and at the broker.
    pub(crate) async fn start(signed: &Signed, wants: &Wants<'_>) -> Self {
        Self::start_with(signed, signed, wants).await
    }

    /// With another certificate at the broker.
    pub(crate) async fn start_with(names: &Signed, brokers: &Signed, wants: &Wants<'_>) -> Self {
        let builder = EmbeddedBroker::builder().topic("orders", 1, 2).advertise(HOST.parse().unwrap());
        let broker = builder.start().await.unwrap();
        let mut doors = JoinSet::new();
        doors.spawn(door(broker.name_server().port(), acceptor(names, wants)).await);
        for address in broker.broker_addresses() {
            doors.spawn(door(address.port(), acceptor(brokers, wants)).await);
        }
        Self { broker, _doors: doors }
    }

    pub(crate) fn name_server(&self) -> String {
        format!("{HOST}:{}", self.broker.name_server().port())
    }

    pub(crate) fn broker_address(&self) -> String {
        format!("{HOST}:{}", self.broker.broker_addresses()[0].port())
    }
}

fn acceptor(signed: &Signed, wants: &Wants<'_>) -> TlsAcceptor {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_protocol_versions(&[wants.version]).unwrap();
    let builder = match wants.clients_of {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(ca.pem.as_bytes()).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let certificate = CertificateDer::from_pem_slice(signed.certificate.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(signed.key.as_bytes()).unwrap();
    TlsAcceptor::from(Arc::new(builder.with_single_cert(vec![certificate], key).unwrap()))
}

/// Lets in at `port` who passes the handshake. Who does not begin one is hung up on without a word, as RocketMQ's
/// servers do that enforce TLS.
async fn door(port: u16, acceptor: TlsAcceptor) -> impl Future<Output = ()> + Send + 'static {
    let listener = TcpListener::bind((HOST, port)).await.unwrap();
    let inside = SocketAddr::from(([127, 0, 0, 1], port));
    async move {
        let mut guests = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            guests.spawn(async move {
                let mut first = [0];
                if !matches!(stream.peek(&mut first).await, Ok(1)) || first != [0x16] {
                    return;
                }
                let Ok(mut outer) = acceptor.accept(stream).await else { return };
                let Ok(mut inner) = TcpStream::connect(inside).await else { return };
                // Ends with either side.
                let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
            });
        }
    }
}
