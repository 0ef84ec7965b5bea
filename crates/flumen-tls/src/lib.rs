//! flumen-tls
