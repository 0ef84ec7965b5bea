//! Where events come from: the folders of this kind, and their lines of registration.

pub mod avro;
pub mod exec;
pub mod http;
pub mod multiport_syslogtcp;
pub mod netcat;
pub mod netcatudp;
pub mod seq;
pub mod spooldir;
pub mod stress;
pub mod syslogtcp;
pub mod syslogudp;
pub mod taildir;
pub mod thrift;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .source::<avro::AvroSource>()
        .source::<exec::ExecSource>()
        .source::<http::HttpSource>()
        .source::<multiport_syslogtcp::MultiportSyslogSource>()
        .source::<netcat::NetcatSource>()
        .source::<netcatudp::NetcatUdpSource>()
        .poll_source::<seq::SeqSource>()
        .source::<spooldir::SpooldirSource>()
        .poll_source::<stress::StressSource>()
        .source::<syslogtcp::SyslogTcpSource>()
        .source::<syslogudp::SyslogUdpSource>()
        .source::<taildir::TaildirSource>()
        .source::<thrift::ThriftSource>()
}
