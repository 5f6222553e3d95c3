//! Why one end of a connection refuses the other, in words that say what to change.

use std::io;
use tokio_rustls::rustls::{AlertDescription, CertificateError, Error};

/// What is wrong, and what to do about it.
pub(crate) type Told = (String, &'static str);

// What to do, by what is wrong.
const CA: &str = "name the certificate of the CA that signed it with --tls-ca FILE (cluster.tls_ca)";
const NAME: &str = "connect by a name that the certificate has, or say with --tls-server-name NAME \
                    (cluster.tls_server_name) which one all servers have";
const RENEW: &str = "the server needs a new certificate; is the clock of this machine right?";
const EXTENSIONS: &str =
    "the server needs one of version 3 with a subjectAltName (openssl x509 -req … -extfile FILE)";
const OTHER: &str = "the server needs another certificate";
const SHOW: &str = "give one with --tls-cert FILE and --tls-key FILE (cluster.tls_cert, cluster.tls_key)";
const SHOWN: &str = "does the server trust the CA that signed our certificate (--tls-cert)?";
const VERSION: &str = "TLS 1.2 or 1.3 is needed";
const LOG: &str = "the server's log may say why";

/// Advice where a server speaks no TLS.
pub(crate) const PLAIN: &str =
    "leave --tls away (cluster.tls), or switch TLS on at the server (tls.server.mode)";

/// The refusal that an error of a connection stands for; none if it only broke.
pub(crate) fn of(error: &io::Error, shows_certificate: bool) -> Option<Told> {
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    Some(match error {
        Error::InvalidCertificate(error) => certificate(error),
        Error::InvalidMessage(_) => ("TLS: the server does not speak TLS".to_owned(), PLAIN),
        Error::AlertReceived(alert) => alerted(*alert, shows_certificate),
        Error::PeerIncompatible(why) => (format!("TLS: no common version or cipher ({why:?})"), VERSION),
        _ => return None,
    })
}

fn certificate(error: &CertificateError) -> Told {
    let told = |what: &str| format!("TLS: the server's certificate {what}");
    match error {
        CertificateError::UnknownIssuer => (told("is signed by nobody we trust"), CA),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let expected = expected.to_str();
            let names: Vec<&str> = presented.iter().map(|name| bare(name)).collect();
            let has = match names.as_slice() {
                [] => "it has no subjectAltName at all".to_owned(),
                names => format!("but for {}", names.join(", ")),
            };
            (told(&format!("is not for {expected}, {has}")), NAME)
        }
        CertificateError::NotValidForName => (told("is for another host"), NAME),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => (told("has expired"), RENEW),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            (told("is not valid yet"), RENEW)
        }
        // What `openssl x509 -req` makes unless it is told of extensions.
        CertificateError::Other(other) if other.to_string() == "UnsupportedCertVersion" => {
            (told("is of X.509 version 1, which says for no host that it is for it"), EXTENSIONS)
        }
        other => (told(&format!("is refused: {other}")), OTHER),
    }
}

/// `mq.example` of `DnsName("mq.example")`, as rustls has it.
fn bare(name: &str) -> &str {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

fn alerted(alert: AlertDescription, shows_certificate: bool) -> Told {
    use AlertDescription as Alert;
    let refuses = || format!("TLS: the server refuses us ({alert:?})");
    match alert {
        Alert::ProtocolVersion | Alert::InsufficientSecurity => (refuses(), VERSION),
        // Servers have different words for it.
        Alert::CertificateRequired | Alert::BadCertificate | Alert::HandshakeFailure
            if !shows_certificate =>
        {
            (format!("TLS: the server wants a certificate of ours ({alert:?})"), SHOW)
        }
        Alert::CertificateRequired
        | Alert::BadCertificate
        | Alert::HandshakeFailure
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied
        | Alert::DecryptError => (refuses(), SHOWN),
        _ => (refuses(), LOG),
    }
}
