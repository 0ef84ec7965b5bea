//! What peers and programs send to sources: JSON and queries by HTTP, and lines of text.

use bytes::Bytes;
use flumen_components::sources::{exec, http};
use flumen_java::charset::Charset;

/// A content type, a newline, and a body. What is read as UTF-8 holds nothing that was not sent.
pub(super) fn http_json(input: &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let content_type = String::from_utf8_lossy(&input[..at]);
    let body = Bytes::copy_from_slice(input.get(at + 1..).unwrap_or_default());
    let n_sent = body.len();
    let wide = content_type.to_ascii_lowercase().contains("utf-");
    if let Ok(batch) = http::json_events(Some(&*content_type), body) {
        assert!(batch.len() <= n_sent, "more events than bytes");
        let n_bytes: usize = batch.iter().map(|event| event.body.len()).sum();
        // A byte that is no text becomes three; other charsets have marks and wide characters.
        assert!(wide || n_bytes <= n_sent * 3, "{n_bytes} bytes of {n_sent}");
    }
}

/// The query of a URL.
pub(super) fn http_query(input: &[u8]) {
    let query = String::from_utf8_lossy(input);
    if let Ok(batch) = http::blob_event(Some(&*query), Bytes::from_static(b"x")) {
        assert_eq!(batch.len(), 1);
    }
}

/// A limit, a size of pieces, a charset's first letter, and a text: nothing but line ends is lost, and no line is too long.
pub(super) fn lines(input: &[u8]) {
    let [limit, piece, charset, text @ ..] = input else { return };
    let max_bytes = 16 + usize::from(*limit);
    let charset = match charset {
        b'l' => Charset::for_name("UTF-16LE"),
        b'u' => Charset::for_name("UTF-16"),
        b'i' => Charset::for_name("ISO-2022-JP"),
        _ => Ok(Charset::utf_8()),
    };
    let Ok(charset) = charset else { return };
    let batch = exec::cut_into_lines(charset, max_bytes, text, 1 + usize::from(*piece));
    if charset != Charset::utf_8() {
        return;
    }
    assert!(batch.iter().all(|event| event.body.len() <= max_bytes));
    let kept = |byte: &&u8| !matches!(byte, b'\n' | b'\r');
    assert!(text.iter().filter(kept).eq(batch.iter().flat_map(|event| event.body)), "bytes were lost");
}
