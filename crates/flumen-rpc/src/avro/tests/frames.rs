//! Frames: cut anywhere, of many buffers, too long, or none at all.

use super::*;

fn reader(max: usize) -> FrameReader {
    FrameReader::new(max, Budget::new(1 << 30))
}

/// A frame of these buffers.
fn framed(serial: i32, buffers: &[&[u8]]) -> Vec<u8> {
    let mut out = serial.to_be_bytes().to_vec();
    out.extend(u32::try_from(buffers.len()).unwrap().to_be_bytes());
    for buffer in buffers {
        out.extend(u32::try_from(buffer.len()).unwrap().to_be_bytes());
        out.extend(*buffer);
    }
    out
}

#[test]
fn a_frame_is_whole_wherever_its_bytes_are_cut() {
    let large = vec![7; 200_000];
    let bytes =
        [framed(1, &[b"", b"ab", b"", b"c"]), framed(-5, &[&large, b"end", &large]), framed(2, &[b""])]
            .concat();
    for step in [1, 3, 8, 1000, 70_000, bytes.len()] {
        let mut reader = reader(1 << 20);
        let mut frames = Vec::new();
        for piece in bytes.chunks(step) {
            reader.feed(piece);
            while let Some(frame) = reader.advance().unwrap() {
                frames.push((frame.serial, frame.payload));
            }
        }
        assert_eq!(frames.len(), 3, "{step}");
        assert_eq!(frames[0], (1, Bytes::from_static(b"abc")));
        assert!(frames[1] == (-5, Bytes::from([&large[..], b"end", &large[..]].concat())));
        assert_eq!(frames[2], (2, Bytes::new()));
    }
}

#[tokio::test]
async fn a_large_frame_comes_from_a_connection_as_it_is() {
    let body: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
    let bytes = [framed(1, &[&body]), framed(2, &[b"x"])].concat();
    let mut reader = reader(4 << 20);
    let mut stream = &bytes[..];
    let frame = reader.next(&mut stream).await.unwrap().unwrap();
    assert!(frame.payload == body);
    assert_eq!(reader.next(&mut stream).await.unwrap().unwrap().payload, "x");
    assert!(reader.next(&mut stream).await.unwrap().is_none());
}

#[tokio::test]
async fn a_cut_frame_is_told() {
    let bytes = framed(1, &[b"abc"]);
    for end in 1..bytes.len() {
        let error = reader(100).next(&mut &bytes[..end]).await.unwrap_err();
        assert!(matches!(error, FrameError::Cut), "{end}: {error}");
    }
}

#[test]
fn lengths_and_counts_have_limits_before_they_reserve_anything() {
    let error = |bytes: &[u8]| {
        let mut reader = reader(1000);
        reader.feed(bytes);
        reader.advance().unwrap_err()
    };
    let two_gb = hex("00000001 00000001 7fffffff");
    assert!(matches!(error(&two_gb), FrameError::TooLong(0x7fff_ffff, 1000)));
    assert!(matches!(error(&hex("00000001 00000001 80000000")), FrameError::BufferLength(i32::MIN)));
    assert!(matches!(error(&hex("00000001 00000000")), FrameError::Buffers(0, _)));
    assert!(matches!(error(&hex("00000001 7fffffff")), FrameError::Buffers(0x7fff_ffff, _)));
    let many = framed(1, &[&[1; 600], &[2; 600]]);
    assert!(matches!(error(&many), FrameError::TooLong(1200, 1000)), "all buffers count");
}

#[test]
fn a_frame_that_only_claims_its_length_takes_little_memory() {
    let budget = Budget::new(10 << 20);
    let mut readers: Vec<FrameReader> = Vec::new();
    for _ in 0..5 {
        let mut reader = FrameReader::new(MAX_FRAME_BYTES, budget.clone());
        reader.feed(&hex("00000001 00000001 07000000 aabbcc"));
        assert!(reader.advance().unwrap().is_none());
        readers.push(reader);
    }
    assert!(budget.used() <= 5 << 20, "{}", budget.used());
    // Those that really send share the budget.
    let mut refused = 0;
    for reader in &mut readers {
        for _ in 0..4 {
            reader.feed(&vec![0; 1 << 20]);
            match reader.advance() {
                Ok(frame) => assert!(frame.is_none()),
                Err(error) => {
                    assert!(matches!(error, FrameError::NoRoom(_)), "{error}");
                    refused += 1;
                    break;
                }
            }
        }
    }
    assert!(refused > 0);
    drop(readers);
    assert_eq!(budget.used(), 0, "all is given back");
}

#[test]
fn other_protocols_are_told_by_name() {
    let told = |bytes: &[u8]| {
        let mut reader = reader(1000);
        reader.feed(bytes);
        reader.advance().unwrap_err().to_string()
    };
    for (bytes, what) in [
        (&b"GET / HTTP/1.1\r\n"[..], "HTTP"),
        (&hex("16030100 f1010000 ed03"), "TLS"),
        (&hex("789c0102 03040506"), "compresses"),
        (&hex("00000050 80010001 00000006"), "Thrift"),
        (&hex("00000050 82210106 61707065"), "Thrift"),
        (&hex("deadbeef deadbeef"), "does not speak"),
    ] {
        assert!(told(bytes).contains(what), "{what}: {}", told(bytes));
    }
}
