//! Peers of the Avro and Thrift sources that speak something else, stall, or lie: each is told by its address, takes no memory, and
//! harms nobody.

use crate::agent::{Work, free_port};
use flumen_core::event::{Batch, Headers};
use flumen_rpc::client::RpcClient;
use std::{
    fmt::Write as _,
    fs,
    io::Write,
    net::{Ipv4Addr, TcpStream},
};

/// More than the program needs, and less than a tenth of what the peers announce.
const MOST_RSS_KB: u64 = 200 << 10;

fn frame_of_avro(length: u32) -> Vec<u8> {
    [1_u32, 1, length].iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// What a bad peer sends, and what the line in the log says of it.
fn bad_peers(protocol: &str) -> Vec<(Vec<u8>, &'static str)> {
    let http = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
    // The start of a greeting of TLS.
    let tls = [&[0x16, 3, 1, 0, 0xf1, 1, 0, 0, 0xed, 3, 3][..], &[7; 32]].concat();
    let two_gigabytes = 0x7fff_ffff_u32;
    match protocol {
        "avro" => vec![
            (http, "HTTP"),
            (tls, "TLS"),
            ([&80_u32.to_be_bytes()[..], b"\x82\x21\x01\x06append"].concat(), "Thrift"),
            (frame_of_avro(two_gigabytes), "2147483647"),
            ([frame_of_avro(9), vec![0]].concat(), "in the middle"),
        ],
        _ => vec![
            (http, "HTTP"),
            (tls, "TLS"),
            ([frame_of_avro(0x30), vec![0x86; 8]].concat(), "Avro"),
            (two_gigabytes.to_be_bytes().to_vec(), "2147483647"),
            (vec![0, 0, 0, 9, 0x82], "within a frame"),
        ],
    }
}

#[test]
fn bad_peers_are_told_by_their_address_take_no_memory_and_harm_no_other_connection() {
    let work = Work::new();
    let mut text = "a.channels = c\na.sinks = k\na.channels.c.type = memory\na.channels.c.capacity = 1000\n\
                    a.sinks.k.type = null\na.sinks.k.channel = c\n"
        .to_owned();
    let (mut names, mut sources) = (Vec::new(), Vec::new());
    for protocol in ["avro", "thrift"] {
        for (n, (bytes, says)) in bad_peers(protocol).into_iter().enumerate() {
            let (name, port) = (format!("{protocol}{n}"), free_port());
            let start = format!("a.sources.{name}");
            let _ = write!(
                text,
                "{start}.type = {protocol}\n{start}.bind = 127.0.0.1\n{start}.port = {port}\n{start}.channels = c\n"
            );
            names.push(name);
            sources.push((protocol, port, bytes, says));
        }
    }
    let _ = writeln!(text, "a.sources = {}", names.join(" "));
    work.write("a.conf", &text);
    let mut agent = work.agent(&[]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut batch = Batch::new();
    batch.push(Headers::new(), "good");
    for (name, (protocol, port, bytes, says)) in names.iter().zip(sources) {
        let kind = if protocol == "avro" { "default" } else { "thrift" };
        let properties = format!("client.type = {kind}\nhosts = h\nhosts.h = 127.0.0.1:{port}\n");
        let client = runtime.block_on(RpcClient::from_properties(&properties)).unwrap();
        runtime.block_on(client.append_batch(&batch)).unwrap();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let own = format!("peer={}", stream.local_addr().unwrap());
        stream.write_all(&bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let log = work.path("stderr.txt");
        let told = || {
            let log = fs::read_to_string(&log).unwrap_or_default();
            log.lines().any(|line| line.contains(&own) && line.contains(says) && line.contains(name))
        };
        agent.wait(&format!("a line with {own}, `{says}` and {name}"), told);
        // Many more of them.
        let others: Vec<TcpStream> = (0..50)
            .map(|_| {
                let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
                // It may be closed before all is written.
                let _ = stream.write_all(&bytes);
                stream
            })
            .collect();
        runtime.block_on(client.append_batch(&batch)).unwrap();
        drop(others);
    }
    let status = fs::read_to_string(format!("/proc/{}/status", agent.pid())).unwrap();
    let rss = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let rss: u64 = rss.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(rss < MOST_RSS_KB, "{rss} kB");
    assert_eq!(agent.stop(), 0);
}
