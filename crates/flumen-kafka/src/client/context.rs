//! What the client library reports by itself: brokers that are away, refused logins. Each with a way out, and seldom.

use flumen_core::seldom::Seldom;
use rdkafka::{config::RDKafkaLogLevel, error::KafkaError, types::RDKafkaErrorCode};
use std::{sync::Arc, time::Duration};

/// The same trouble is written again after this time.
const AGAIN: Duration = Duration::from_secs(30);

/// Writes a client's own reports into the log of its component.
#[derive(Debug)]
pub(crate) struct Reports {
    name: Arc<str>,
    /// `kafka.bootstrap.servers`, for messages.
    servers: String,
    away: Seldom,
    other: Seldom,
    lines: Seldom,
}

impl Reports {
    pub(crate) fn new(name: Arc<str>, servers: &str) -> Self {
        let seldom = || Seldom::every(AGAIN);
        Self { name, servers: servers.to_owned(), away: seldom(), other: seldom(), lines: seldom() }
    }

    /// The brokers that are tried first.
    pub(crate) fn servers(&self) -> &str {
        &self.servers
    }

    /// An error that belongs to no record.
    pub(crate) fn error(&self, error: &KafkaError, reason: &str) {
        let code = error.rdkafka_error_code();
        let seldom = match code {
            Some(RDKafkaErrorCode::AllBrokersDown | RDKafkaErrorCode::BrokerTransportFailure) => &self.away,
            _ => &self.other,
        };
        let Some(unsaid) = seldom.due() else { return };
        let cure = code.map_or("", cure);
        tracing::warn!(component = %self.name, brokers = self.servers, unsaid, "Kafka: {reason}{cure}");
    }

    /// A line of the library's log.
    pub(crate) fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        use RDKafkaLogLevel::{Alert, Critical, Debug, Emerg, Error, Info, Notice, Warning};
        match level {
            // What is in these is told as an error too, with a way out.
            Emerg | Alert | Critical | Error | Warning => {
                if self.lines.due().is_some() {
                    tracing::info!(component = %self.name, facility, "Kafka client: {line}");
                }
            }
            Notice | Info | Debug => {
                tracing::debug!(component = %self.name, facility, "Kafka client: {line}")
            }
        }
    }
}

/// What an error of Kafka's means for who must mend it.
pub(crate) fn told(error: &KafkaError) -> String {
    match error.rdkafka_error_code() {
        Some(code) => format!("{code}{}", cure(code)),
        None => error.to_string(),
    }
}

fn cure(code: RDKafkaErrorCode) -> &'static str {
    use RDKafkaErrorCode as Code;
    match code {
        Code::AllBrokersDown | Code::BrokerTransportFailure => {
            ": no broker is reached; see that one runs at kafka.bootstrap.servers, and that the addresses which brokers give of \
             themselves (advertised.listeners) can be reached from here"
        }
        Code::Resolve => {
            ": a broker's name is not found; see kafka.bootstrap.servers and the brokers' advertised.listeners"
        }
        Code::MessageTimedOut => {
            ": no broker has confirmed within delivery.timeout.ms; see that the partition has a leader, and enough replicas in \
             sync for acks=all"
        }
        Code::Authentication | Code::SaslAuthenticationFailed => {
            ": the login is refused; see sasl.jaas.config, and whether the credentials have expired"
        }
        Code::SSL => ": TLS failed; see the trust store, and that security.protocol is that of the port",
        Code::TopicAuthorizationFailed => {
            ": the login may not use the topic; grant it on the broker (kafka-acls)"
        }
        Code::GroupAuthorizationFailed => {
            ": the login may not use the group; grant it on the broker (kafka-acls)"
        }
        Code::ClusterAuthorizationFailed | Code::TransactionalIdAuthorizationFailed => {
            ": the login lacks a right on the cluster; grant it on the broker (kafka-acls)"
        }
        Code::UnknownTopic | Code::UnknownTopicOrPartition => {
            ": the topic is not there, and brokers may be told not to make it (auto.create.topics.enable): make it"
        }
        Code::InconsistentGroupProtocol => {
            ": other members of the group share partitions in another way; set the same \
             kafka.consumer.partition.assignment.strategy everywhere"
        }
        Code::NotEnoughReplicas | Code::NotEnoughReplicasAfterAppend => {
            ": fewer replicas are in sync than min.insync.replicas asks for; see which brokers are down"
        }
        Code::KafkaStorageError | Code::InvalidMessage => ": see the broker's log and its disk",
        Code::MessageSizeTooLarge => {
            ": larger than max.request.size here, or max.message.bytes of the topic: raise both"
        }
        _ => "",
    }
}
