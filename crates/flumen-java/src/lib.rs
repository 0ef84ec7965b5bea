//! What a JDK and Flume's text conventions do, in Rust: properties files, regular expressions, dates, numbers, charsets, path escapes.

pub mod charset;
pub mod dates;
pub mod number;
pub mod properties;
pub mod regex;
pub mod text;
