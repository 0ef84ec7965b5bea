//! charset
