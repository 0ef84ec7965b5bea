//! regex
