//! A configuration behind https: whom it trusts, and a server that hangs in the middle of its handshake.

use super::*;
use flumen_tls::{
    Password,
    tls::{StoreFile, TlsSettings},
};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_rustls::TlsAcceptor;

fn store(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/parity/golden/keystores/stores").join(name)
}

/// A web server with a certificate of a CA of its own. While `hangs` it accepts and says nothing.
struct Secure {
    port: u16,
    hangs: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Secure {
    async fn start(key_store: &str) -> Self {
        let password = Some(Password::new("changeit"));
        let key_store = Some(StoreFile { path: store(key_store), password, type_name: None });
        let settings = TlsSettings { key_store, ..TlsSettings::default() };
        let acceptor = TlsAcceptor::from(Arc::new(settings.server_config().unwrap()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let hangs = Arc::new(AtomicBool::new(false));
        let silent = hangs.clone();
        #[expect(clippy::disallowed_methods, reason = "a test's server")]
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                if silent.load(Ordering::Relaxed) {
                    open.push(stream);
                    continue;
                }
                // A client that does not trust us ends its handshake.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\na.x=1\n";
                let _ = stream.write_all(answer.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { port, hangs, task }
    }

    /// Whoever reads from it, with these `-D` settings.
    fn origins(&self, properties: &[(&str, String)]) -> Origins {
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
        let environment = Arc::new(Environment { properties, ..Environment::default() });
        let uris = vec![format!("https://localhost:{}/flume.conf", self.port)];
        let mut origins = origins(Sources { uris, environment, ..Sources::default() });
        let Kind::Http(http) = &mut origins.list[0].kind else { panic!("no http") };
        let short = Duration::from_secs(2);
        http.set_limits(Limits { connect: short, silence: short, whole: short, bytes: 1000 });
        origins
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn trusting(name: &str) -> Vec<(&'static str, String)> {
    vec![
        ("javax.net.ssl.trustStore", store(name).display().to_string()),
        ("javax.net.ssl.trustStorePassword", "changeit".to_owned()),
    ]
}

#[tokio::test]
async fn https_trusts_the_ca_of_the_trust_store_and_nobody_else() {
    let server = Secure::start("server.p12").await;
    assert_eq!(read(&mut server.origins(&trusting("truststore.jks"))).await, ["a.x=1\n"]);
    // The CAs of the system do not know it.
    let told = error(&mut server.origins(&[])).await;
    assert!(told.contains("https://localhost") && told.to_lowercase().contains("certificate"), "{told}");
    // A trust store that cannot be read is no reason to trust everybody.
    let told = error(&mut server.origins(&trusting("nowhere.jks"))).await;
    assert!(told.contains("nowhere.jks"), "{told}");
}

#[tokio::test]
async fn a_certificate_of_another_host_is_refused() {
    let server = Secure::start("wronghost.p12").await;
    let told = error(&mut server.origins(&trusting("truststore.jks"))).await;
    assert!(told.contains("not valid for name") || told.to_lowercase().contains("certificate"), "{told}");
}

#[tokio::test]
async fn a_server_that_hangs_in_its_handshake_leaves_the_configuration_as_it_is() {
    let server = Secure::start("server.p12").await;
    let mut origins = server.origins(&trusting("truststore.jks"));
    assert_eq!(read(&mut origins).await, ["a.x=1\n"]);
    server.hangs.store(true, Ordering::Relaxed);
    let texts = timeout(LIMIT, origins.read()).await.expect("in time").unwrap();
    assert_eq!(texts.list[0].bytes, b"a.x=1\n");
    let told = texts.problems[0].to_string();
    assert!(told.contains("does not answer in time; what was read before stays"), "{told}");
    assert!(!changes(&mut origins).await, "and that is no change");
    server.hangs.store(false, Ordering::Relaxed);
    assert_eq!(timeout(LIMIT, origins.read()).await.unwrap().unwrap().problems, []);
}
