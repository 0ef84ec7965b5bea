//! The Thrift protocol by its name, as the source and the sink read it.

use flumen_core::config::PropertyValue;
use flumen_rpc::thrift::Protocol;

/// The value of `protocol`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThriftProtocol(pub Protocol);

impl PropertyValue for ThriftProtocol {
    const KIND: &'static str = "`compact` or `binary`";

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "compact" => Ok(Self(Protocol::Compact)),
            "binary" => Ok(Self(Protocol::Binary)),
            _ => Err("expected `compact` or `binary`, in lower case".to_owned()),
        }
    }

    /// Java takes either word in any case, and then looks for `binary` in lower case only: the peer speaks compact.
    fn forgive(text: &str) -> Option<(Self, String)> {
        let known = ["compact", "binary"].iter().any(|name| text.trim().eq_ignore_ascii_case(name));
        known.then(|| (Self(Protocol::Compact), "compact".to_owned()))
    }
}
