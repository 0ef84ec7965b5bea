//! What two or more components here use.

pub(crate) mod charset;
pub(crate) mod java_map;
