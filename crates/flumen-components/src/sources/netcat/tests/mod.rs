//! Lines in, events and answers out: recorded conversations with real Flume, and peers that misbehave.

use super::{
    wire::{Answers, End, Lines},
    *,
};
use crate::testing::{LIMIT, RecordedEvent, bodies, channel, json_lines, processor, source_context, until};
use base64ct::{Base64, Encoding};
use flumen_core::{
    channel::{Channel, ChannelLimits},
    config::{Settings, read},
    event::Batch,
    source::DynSource,
    testing::{ScriptedChannel, SourcePeer, SourceSuite},
};
use flumen_java::charset::Charset;
use serde::Deserialize;
use std::{collections::VecDeque, sync::Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

mod faults;
mod suite;

fn source(pairs: &[(&str, &str)]) -> NetcatSource {
    let mut all = vec![("bind", "127.0.0.1"), ("port", "0")];
    all.retain(|(key, _)| !pairs.iter().any(|(other, _)| other == key));
    all.extend_from_slice(pairs);
    let (config, problems) = read::<NetcatConfig>(&Settings::from_pairs("a.sources.r", &all), &[]);
    NetcatSource::build(config.unwrap_or_else(|| panic!("{problems:?}")), &source_context()).unwrap()
}

/// Runs a source while `work` talks to it, and stops it then.
async fn running<T>(
    mut source: NetcatSource,
    channel: &Arc<ScriptedChannel>,
    work: impl AsyncFnOnce(SocketAddr) -> T,
) -> T {
    let mut address = source.address();
    let (stop, shutdown) = Shutdown::new();
    let work = async {
        let address = (*address.wait_for(Option::is_some).await.unwrap()).unwrap();
        let result = work(address).await;
        stop.request();
        result
    };
    let (end, result) =
        tokio::join!(timeout(LIMIT * 2, Source::run(&mut source, processor(&[channel]), shutdown)), work);
    end.expect("it stops").unwrap();
    result
}

/// Sends all, ends our side, and gives what comes back until the source ends its side.
async fn talk(address: SocketAddr, chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for chunk in chunks {
        stream.write_all(chunk).await.unwrap();
        tokio::task::yield_now().await;
    }
    stream.shutdown().await.unwrap();
    let mut reply = Vec::new();
    timeout(LIMIT, stream.read_to_end(&mut reply)).await.expect("the source ends its side").unwrap();
    reply
}

#[derive(Debug, Deserialize)]
struct Case {
    case: String,
    r#in: Option<String>,
    chunks: Option<Vec<String>>,
    reply: Option<String>,
    events: Vec<RecordedEvent>,
}

/// Has the recorded conversations again.
async fn compare_with_java(name: &str, pairs: &[(&str, &str)]) {
    let cases: Vec<Case> = json_lines(&format!("sources/{name}.jsonl"));
    assert!(cases.len() > 50);
    let channel = channel(100_000, 1_000);
    running(source(pairs), &channel, async |address| {
        for case in cases {
            let decode = |text: &String| Base64::decode_vec(text).unwrap();
            let chunks = case.r#in.iter().chain(case.chunks.iter().flatten()).map(decode).collect::<Vec<_>>();
            let before = channel.contents().len();
            let reply = talk(address, &chunks).await;
            let shown = String::from_utf8_lossy(&reply);
            assert_eq!(reply, case.reply.as_ref().map(decode).unwrap_or_default(), "{}: {shown}", case.case);
            let mut expected = Batch::new();
            case.events.iter().for_each(|event| event.push(&mut expected));
            let mut stored = channel.contents();
            stored.split_front(before);
            assert_eq!(stored, expected, "{}", case.case);
        }
    })
    .await;
}

#[tokio::test]
async fn sys_33_sys_34_javas_conversations_are_had_again() {
    compare_with_java("netcat-default", &[]).await;
    compare_with_java("netcat-max-20", &[("max-line-length", "20")]).await;
    compare_with_java("netcat-no-ack", &[("ack-every-event", "false")]).await;
}

#[tokio::test]
async fn sys_32_javas_conversations_in_other_charsets_are_had_again() {
    compare_with_java("netcat-ISO-8859-1", &[("encoding", "ISO-8859-1")]).await;
    compare_with_java("netcat-utf-16le", &[("encoding", "utf-16le")]).await;
}

#[tokio::test]
async fn sys_32_bodies_are_utf_8_whatever_the_encoding() {
    let english = "It was the best of times";
    let french = "Il était à peine neuf heures, là-bas où naît la forêt";
    for name in ["UTF-16BE", "UTF-16LE", "UTF-8", "ISO-8859-1"] {
        let channel = channel(1_000, 100);
        let text: String = [english, french].iter().flat_map(|line| vec![format!("{line}\n"); 20]).collect();
        let charset = Charset::for_name(name).unwrap();
        let encode =
            |text: &str| charset.encode(text, flumen_java::charset::OnError::Report).unwrap().into_owned();
        let reply = running(source(&[("encoding", name)]), &channel, async |address| {
            talk(address, &[encode(&text)]).await
        })
        .await;
        assert_eq!(reply, encode(&"OK\n".repeat(40)), "{name}");
        let expected: Vec<&str> = [vec![english; 20], vec![french; 20]].concat();
        assert_eq!(bodies(&channel.contents()), expected, "{name}");
    }
}

#[tokio::test]
async fn sys_34_a_line_that_is_too_long_is_no_event_and_is_answered_so() {
    let channel = channel(100, 100);
    let reply = running(source(&[("max-line-length", "10")]), &channel, async |address| {
        let good = talk(address, &[b"123456789\n".to_vec()]).await;
        let bad = talk(address, &[b"1234567890\nafter\n".to_vec()]).await;
        (String::from_utf8(good).unwrap(), String::from_utf8(bad).unwrap())
    })
    .await;
    let too_long = "FAILED: Event exceeds the maximum length (10 chars, including newline)\n";
    assert_eq!(reply, ("OK\n".to_owned(), too_long.to_owned()));
    assert_eq!(bodies(&channel.contents()), ["123456789"]);
}

#[tokio::test]
async fn sys_36_a_hundred_connections_with_a_line_each_give_a_hundred_events() {
    for ack in ["true", "false"] {
        let channel = channel(1_000, 100);
        running(source(&[("ack-every-event", ack)]), &channel, async |address| {
            let mut clients = JoinSet::new();
            for n in 0..100 {
                clients.spawn(async move { talk(address, &[format!("{n}\n").into_bytes()]).await });
            }
            while let Some(reply) = clients.join_next().await {
                assert_eq!(reply.unwrap(), if ack == "true" { &b"OK\n"[..] } else { b"" });
            }
        })
        .await;
        let mut numbers = channel.numbers();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }
}

#[test]
fn lines_are_the_same_wherever_the_stream_is_cut() {
    let text = "one\n\ngrüße 🚀\n日本\r\nlast\nrest".as_bytes();
    let expected = ["one", "", "grüße 🚀", "日本\r", "last"];
    for size in 1..=text.len() {
        let mut lines = Lines::new(Charset::utf_8(), 100);
        let mut found = Vec::new();
        for piece in text.chunks(size) {
            lines.room().extend_from_slice(piece);
            let cut = lines.cut(piece.len());
            assert_eq!(cut.end, None);
            found.extend(bodies(&cut.lines));
        }
        assert_eq!(found, expected, "in pieces of {size}");
    }
}

#[test]
fn the_length_of_a_line_is_counted_over_all_its_pieces_in_utf_16_units() {
    // One unit each for the letters, two for the rocket: with the newline 7.
    let line = "aé日🚀b\n".as_bytes();
    for (most, fits) in [(7, true), (6, false)] {
        for size in 1..=line.len() {
            let mut lines = Lines::new(Charset::utf_8(), most);
            let mut ends = Vec::new();
            let mut found = Vec::new();
            for piece in line.chunks(size) {
                lines.room().extend_from_slice(piece);
                let cut = lines.cut(piece.len());
                found.extend(bodies(&cut.lines));
                ends.extend(cut.end);
                if cut.end.is_some() {
                    break;
                }
            }
            assert_eq!(
                (found.len(), ends.len()),
                if fits { (1, 0) } else { (0, 1) },
                "{most}, pieces of {size}"
            );
        }
    }
}

#[test]
fn what_comes_before_bytes_that_are_no_text_is_kept() {
    let mut lines = Lines::new(Charset::utf_8(), 100);
    lines.room().extend_from_slice(b"good\nba\xffd\nafter\n");
    let cut = lines.cut(16);
    assert_eq!((bodies(&cut.lines), cut.end), (vec!["good".to_owned()], Some(End::Undecodable)));
}

#[test]
fn a_few_short_lines_do_not_keep_a_large_buffer_alive_and_many_are_not_copied() {
    let cut = |text: &[u8]| {
        let mut lines = Lines::new(Charset::utf_8(), 100);
        lines.room().extend_from_slice(text);
        let buffer = lines.text_for_tests().as_ptr();
        (lines.cut(text.len()).lines, buffer)
    };
    let (few, buffer) = cut(b"short\n");
    assert_ne!(few.body_bytes(0).as_ptr(), buffer);
    let (many, buffer) = cut(&b"0123456789abcde\n".repeat(250));
    assert_eq!((many.len(), many.body_bytes(0).as_ptr()), (250, buffer));
}

#[test]
fn answers_with_a_byte_order_mark_have_it_once() {
    let mut answers = Answers::new(Charset::for_name("UTF-16").unwrap());
    answers.ok(2);
    assert_eq!(answers.bytes, b"\xfe\xff\0O\0K\0\n\0O\0K\0\n");
}

#[test]
fn settings_are_javas() {
    let (config, problems) = read::<NetcatConfig>(&Settings::from_pairs("a.sources.r", &[]), &[]);
    assert!(config.is_none());
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(
        said.iter().any(|problem| problem.contains("bind")) && said.iter().any(|p| p.contains("port")),
        "{said:?}"
    );
    let pairs = [("bind", "0.0.0.0"), ("port", "44444")];
    let config = read::<NetcatConfig>(&Settings::from_pairs("a.sources.r", &pairs), &[]).0.unwrap();
    assert_eq!((config.max_line_length, config.ack_every_event), (512, true));
    assert_eq!(config.encoding.0, Charset::utf_8());
    let listens = &NetcatSource::facts(&config).listens[0];
    assert_eq!((listens.host.as_str(), listens.port, listens.transport), ("0.0.0.0", 44444, Transport::Tcp));
    let bad = [("bind", "0.0.0.0"), ("port", "1"), ("encoding", "klingon")];
    let (config, problems) = read::<NetcatConfig>(&Settings::from_pairs("a.sources.r", &bad), &[]);
    assert!(config.is_none() && problems[0].to_string().contains("klingon"), "{problems:?}");
}
