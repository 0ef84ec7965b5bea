//! Key stores as a JDK writes them, Hadoop's credential stores, and TLS settings by Java's names.

mod certificate;
pub mod credentials;
mod der;
mod error;
mod file;
mod java;
mod key;
mod password;
mod pbe;
mod pem;
mod pkcs12;
mod store;
pub mod tls;

pub use certificate::Certificate;
pub use error::{KeyError, StoreError};
pub use key::{PrivateKey, SecretKey};
pub use password::Password;
pub use store::{EntryKind, KeyStore, MAX_ENTRIES, MAX_STORE_BYTES, StoreType};
