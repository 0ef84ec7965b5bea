//! The files that a JDK and OpenSSL made.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::path::PathBuf;

/// A file of the golden folder, `stores/server.jks`.
pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/parity/golden/keystores").join(name)
}

/// Its bytes.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}
