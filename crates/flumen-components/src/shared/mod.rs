//! What two or more components here use.

pub(crate) mod accept;
pub(crate) mod avro;
pub(crate) mod avro_file;
pub(crate) mod charset;
pub(crate) mod datagrams;
pub(crate) mod disk;
pub(crate) mod held;
pub(crate) mod java_map;
pub(crate) mod jvm;
pub(crate) mod local_host;
pub(crate) mod open_puts;
pub(crate) mod puts;
pub(crate) mod regex;
pub(crate) mod syslog;
