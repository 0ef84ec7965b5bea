//! What old configurations want of ZooKeeper: the brokers' addresses, and offsets that old consumers have left there.

use crate::client::{ClientSettings, told};
use rdkafka::{
    ClientConfig, Offset, TopicPartitionList,
    consumer::{BaseConsumer, CommitMode, Consumer as _},
};
use std::{future::Future, time::Duration};
use tokio::{task::spawn_blocking, time::timeout};
use zookeeper_client::{Client, Error};

/// How long ZooKeeper and the brokers may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How long a question to a broker may take.
const ASK: Duration = Duration::from_secs(10);
/// Partitions that a topic may have.
const MAX_PARTITIONS: usize = 100_000;

/// Addresses of the brokers that are registered, for the way that `protocol` names (`PLAINTEXT`).
///
/// # Errors
/// None can be found; in words.
pub(crate) async fn brokers(addresses: &str, protocol: &str) -> Result<String, String> {
    let found = in_time(addresses, async {
        let client = Client::connect(addresses).await?;
        let mut found = Vec::new();
        for id in client.list_children("/brokers/ids").await? {
            let (data, _) = client.get_data(&format!("/brokers/ids/{id}")).await?;
            found.extend(address(&data, protocol));
        }
        Ok(found)
    });
    let mut found = found.await?;
    found.sort();
    match found.is_empty() {
        true => Err(format!(
            "no broker is registered with ZooKeeper ({addresses}) for {protocol}: set kafka.bootstrap.servers"
        )),
        false => Ok(found.join(",")),
    }
}

async fn in_time<T>(addresses: &str, asked: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match timeout(LIMIT, asked).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("ZooKeeper ({addresses}): {error}")),
        Err(_) => Err(format!("ZooKeeper ({addresses}) does not answer within {} s", LIMIT.as_secs())),
    }
}

/// The address of a broker, from its registration.
fn address(data: &[u8], protocol: &str) -> Option<String> {
    let json: serde_json::Value = serde_json::from_slice(data).ok()?;
    let endpoints = json["endpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
    let prefix = format!("{protocol}://");
    let by_protocol = endpoints.iter().find_map(|one| one.as_str()?.strip_prefix(&prefix));
    if let Some(address) = by_protocol {
        return Some(address.to_owned());
    }
    let (host, port) =
        (json["host"].as_str()?, json["port"].as_u64().filter(|port| (1..=65_535).contains(port))?);
    Some(format!("{host}:{port}"))
}

/// Takes over the offsets of a group once: those in ZooKeeper count where Kafka has none for any partition of the topic.
///
/// # Errors
/// ZooKeeper or the brokers do not answer; in words.
pub(crate) async fn migrate(
    addresses: &str,
    settings: &ClientConfig,
    group: &str,
    topic: &str,
) -> Result<(), String> {
    let (config, name) = (settings.clone(), topic.to_owned());
    let ask = move || partitions_without_offsets(&config, &name);
    let Some(partitions) = spawn_blocking(ask).await.map_err(|error| error.to_string())?? else {
        return Ok(());
    };
    let offsets = in_time(addresses, offsets(addresses, group, topic, &partitions)).await?;
    if offsets.is_empty() {
        return Ok(());
    }
    tracing::info!(group, topic, "takes over {} offsets from ZooKeeper", offsets.len());
    let (config, name) = (settings.clone(), topic.to_owned());
    let commit = move || {
        let consumer: BaseConsumer = config.create().map_err(|error| error.to_string())?;
        let mut list = TopicPartitionList::new();
        for (partition, offset) in offsets {
            // It fails for offsets below 0 alone, which were left out.
            let _ = list.add_partition_offset(&name, partition, Offset::Offset(offset));
        }
        let committed = consumer.commit(&list, CommitMode::Sync);
        committed.map_err(|error| format!("the offsets of ZooKeeper were not committed: {}", told(&error)))
    };
    spawn_blocking(commit).await.map_err(|error| error.to_string())?
}

/// The partitions of a topic, if it is there and the group has no offset of any of them.
fn partitions_without_offsets(config: &ClientConfig, topic: &str) -> Result<Option<Vec<i32>>, String> {
    let consumer: BaseConsumer = config.create().map_err(|error| error.to_string())?;
    let metadata = consumer.fetch_metadata(Some(topic), ASK).map_err(|error| told(&error))?;
    let Some(found) = metadata.topics().iter().find(|one| one.name() == topic && one.error().is_none())
    else {
        return Ok(None);
    };
    let partitions: Vec<i32> = found.partitions().iter().take(MAX_PARTITIONS).map(|one| one.id()).collect();
    let mut list = TopicPartitionList::new();
    for partition in &partitions {
        list.add_partition(topic, *partition);
    }
    let committed = consumer.committed_offsets(list, ASK).map_err(|error| told(&error))?;
    let any = committed.elements().iter().any(|one| matches!(one.offset(), Offset::Offset(_)));
    Ok((!any && !partitions.is_empty()).then_some(partitions))
}

async fn offsets(
    addresses: &str,
    group: &str,
    topic: &str,
    partitions: &[i32],
) -> Result<Vec<(i32, i64)>, Error> {
    let client = Client::connect(addresses).await?;
    let mut found = Vec::new();
    for partition in partitions {
        match client.get_data(&format!("/consumers/{group}/offsets/{topic}/{partition}")).await {
            Ok((data, _)) => {
                let offset = std::str::from_utf8(&data).ok().and_then(|text| text.trim().parse().ok());
                found.extend(offset.filter(|offset| *offset >= 0).map(|offset| (*partition, offset)));
            }
            Err(Error::NoNode) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Java's name of the way to the brokers.
pub(crate) fn protocol(settings: &ClientSettings) -> String {
    settings.get("security.protocol").unwrap_or("plaintext").to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kss_18_a_brokers_address_is_in_its_registration() {
        let new =
            br#"{"endpoints":["PLAINTEXT://h1:9092","SSL://h1:9093"],"host":"h1","port":9092,"version":4}"#;
        assert_eq!(address(new, "PLAINTEXT").as_deref(), Some("h1:9092"));
        assert_eq!(address(new, "SSL").as_deref(), Some("h1:9093"));
        assert_eq!(address(br#"{"host":"h2","port":1}"#, "SSL").as_deref(), Some("h2:1"));
        for bad in [&b"{}"[..], b"", b"\xff", br#"{"host":"h","port":70000}"#, br#"{"endpoints":7}"#] {
            assert_eq!(address(bad, "SSL"), None);
        }
    }
}
