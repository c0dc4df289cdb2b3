//! A Kafka broker (crabka) that keeps its messages in a folder: `kafka PORT FOLDER USER PASSWORD`.
//!
//! Clients need TLS and a login: SASL with PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. The certificate is `FOLDER/certificate.pem`.

use std::error::Error;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::{env, fs};

use crabka_broker::config::ListenerSpec;
use crabka_broker::{BootstrapMode, Broker, BrokerConfig};
use crabka_metadata::{MetadataRecord, ScramCredentialRecord};
use crabka_security::{ClientAuthMode, ListenerProtocol, SaslMechanism, TlsConfig, hash_scram_password};
use serde_wincode::SerdeCompat;
use wincode::Serialize;

const LISTENER: &str = "SASL_SSL";
const MECHANISMS: [SaslMechanism; 3] =
    [SaslMechanism::Plain, SaslMechanism::ScramSha256, SaslMechanism::ScramSha512];
const ITERATIONS: u32 = 4_096;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [port, folder, user, password] = &arguments[..] else {
        return Err("expected PORT FOLDER USER PASSWORD".into());
    };
    let (address, folder) = (SocketAddr::from(([127, 0, 0, 1], port.parse()?)), PathBuf::from(folder));
    let tls = TlsConfig {
        cert_chain_path: folder.join("certificate.pem"),
        private_key_path: folder.join("key.pem"),
        trust_roots_path: None,
        client_ca_path: None,
        client_auth: ClientAuthMode::default(),
    };
    let is_new = !tls.cert_chain_path.exists();
    if is_new {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("bootstrap.records.bin"), credentials(user, password)?)?;
        create_certificate(&tls)?;
    }
    // Nobody connects to its controller.
    let controller = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let config = BrokerConfig {
        controller_listen_addr: controller,
        controller_quorum_voters: vec![(1, controller)],
        bootstrap_mode: if is_new { BootstrapMode::Bootstrap } else { BootstrapMode::Rejoin },
        listeners: vec![ListenerSpec {
            name: LISTENER.to_owned(),
            bind_addr: address,
            advertised: address.to_string(),
            protocol: ListenerProtocol::SaslSsl,
            tls_config: Some(tls),
            sasl_mechanisms: Some(MECHANISMS.to_vec()),
        }],
        inter_broker_listener_name: LISTENER.to_owned(),
        plain_credentials: [(user.clone(), password.clone())].into(),
        ..BrokerConfig::for_tests(folder)
    };
    let _broker = Broker::start(config).await?;
    std::future::pending().await
}

/// The login, as the broker reads it when it starts for the first time.
fn credentials(user: &str, password: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut records = Vec::new();
    for mechanism in [SaslMechanism::ScramSha256, SaslMechanism::ScramSha512] {
        let hashed = hash_scram_password(password.as_bytes(), mechanism, ITERATIONS);
        let record = MetadataRecord::V1ScramCredential(ScramCredentialRecord {
            user: user.to_owned(),
            mechanism,
            salt: hashed.salt,
            stored_key: hashed.stored_key,
            server_key: hashed.server_key,
            iterations: hashed.iterations,
        });
        let record = <SerdeCompat<MetadataRecord>>::serialize(&record)?;
        records.extend_from_slice(&u32::try_from(record.len())?.to_le_bytes());
        records.extend_from_slice(&record);
    }
    Ok(records)
}

/// A certificate for this machine that has signed itself.
fn create_certificate(tls: &TlsConfig) -> Result<(), Box<dyn Error>> {
    let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])?;
    write(&tls.private_key_path, &signed.signing_key.serialize_pem())?;
    // The last: it says that all is there.
    write(&tls.cert_chain_path, &signed.cert.pem())
}

fn write(path: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(path, text)?)
}
