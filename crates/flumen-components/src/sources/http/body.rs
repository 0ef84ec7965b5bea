//! Takes in the body of a request: within its limits of bytes and time, and with the memory that all requests share.

use super::handler::Refusal;
use bytes::{Bytes, BytesMut};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http_body_util::BodyExt;
use hyper::{HeaderMap, StatusCode, body::Body, header};
use std::{io::Read, sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

/// Memory is shared out in parts of this many bytes.
const PART_BYTES: usize = 4096;
/// Nothing larger is allocated for bytes that are announced and not yet there.
const MOST_TRUSTED_BYTES: usize = 1 << 20;
/// How long the rest of a body that is too long is thrown away, so that its sender reads the answer.
const DRAIN: Duration = Duration::from_secs(2);

/// Limits of a request's body.
#[derive(Debug, Clone)]
pub(super) struct BodyLimits {
    /// Bytes, compressed or not.
    pub(super) max_bytes: usize,
    /// How long nothing may come.
    pub(super) idle: Duration,
    /// How long all of it may take.
    pub(super) whole: Duration,
    /// The lowest rate; 0 is any.
    pub(super) min_bytes_per_s: u64,
}

/// The memory that all requests of a source share.
#[derive(Debug, Clone)]
pub(super) struct Memory(Arc<Semaphore>);

impl Memory {
    pub(super) fn new(n_bytes: u64) -> Self {
        let parts = usize::try_from(n_bytes.div_ceil(PART_BYTES as u64)).unwrap_or(usize::MAX);
        Self(Arc::new(Semaphore::new(parts.min(Semaphore::MAX_PERMITS))))
    }

    pub(super) fn hold(&self) -> Held {
        Held { memory: self.clone(), permit: None, n_bytes: 0 }
    }
}

/// What one request has of it; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    memory: Memory,
    permit: Option<OwnedSemaphorePermit>,
    n_bytes: usize,
}

impl Held {
    /// Takes over what another part of the same request has.
    pub(super) fn join(&mut self, other: Self) {
        self.n_bytes = self.n_bytes.next_multiple_of(PART_BYTES) + other.n_bytes;
        match (&mut self.permit, other.permit) {
            (Some(permit), Some(more)) => permit.merge(more),
            (none @ None, more) => *none = more,
            (Some(_), None) => {}
        }
    }

    /// Takes `n_bytes` more, or refuses: a request that waited for memory would hold what others wait for.
    fn add(&mut self, n_bytes: usize) -> Result<(), Refusal> {
        let before = self.n_bytes.div_ceil(PART_BYTES);
        let parts = (self.n_bytes + n_bytes).div_ceil(PART_BYTES) - before;
        self.n_bytes += n_bytes;
        if parts == 0 {
            return Ok(());
        }
        let refused = || {
            let reason = "too many bytes of requests are at work: try again later, or raise maxBufferedBytes";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason)
        };
        let parts = u32::try_from(parts).map_err(|_| refused())?;
        let more = self.memory.0.clone().try_acquire_many_owned(parts).map_err(|_| refused())?;
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Deflate,
}

impl Packing {
    /// What the header `Content-Encoding` says.
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let mut packing = Self::Plain;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            for name in value.to_str().unwrap_or("?").split(',').map(|name| name.trim().to_ascii_lowercase())
            {
                packing = match (name.as_str(), packing) {
                    ("identity" | "", packing) => packing,
                    ("gzip" | "x-gzip", Self::Plain) => Self::Gzip,
                    ("deflate", Self::Plain) => Self::Deflate,
                    _ => {
                        let reason = "unsupported content encoding: send the body plain, or packed once by gzip or deflate";
                        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
                    }
                };
            }
        }
        Ok(packing)
    }

    /// The unpacked body. It takes its time: for a thread that may block.
    pub(super) fn unpack(self, body: Bytes, max_bytes: usize, held: &mut Held) -> Result<Bytes, Refusal> {
        let mut reader: Box<dyn Read + '_> = match self {
            Self::Plain => return Ok(body),
            Self::Gzip => Box::new(MultiGzDecoder::new(&body[..])),
            Self::Deflate => Box::new(ZlibDecoder::new(&body[..])),
        };
        let mut unpacked = Vec::new();
        let mut chunk = vec![0; 1 << 16];
        loop {
            let n = reader.read(&mut chunk).map_err(|error| {
                Refusal::new(StatusCode::BAD_REQUEST, format!("the body cannot be unpacked: {error}"))
            })?;
            if n == 0 {
                return Ok(unpacked.into());
            }
            if unpacked.len() + n > max_bytes {
                return Err(too_large(max_bytes));
            }
            held.add(n)?;
            unpacked.extend_from_slice(&chunk[..n]);
        }
    }
}

/// Takes in a body, as it was sent. A client that `asks_first` (`Expect: 100-continue`) sends nothing before it is told
/// to.
pub(super) async fn read<B>(
    mut body: B,
    asks_first: bool,
    limits: &BodyLimits,
    held: &mut Held,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let result = gather(&mut body, limits, held).await;
    if !asks_first && result.as_ref().is_err_and(|refusal| refusal.status == StatusCode::PAYLOAD_TOO_LARGE) {
        // An answer to somebody who still writes is lost when the connection is closed.
        let end = Instant::now() + DRAIN;
        while let Ok(Some(Ok(_))) = timeout_at(end, body.frame()).await {}
    }
    result
}

async fn gather<B>(body: &mut B, limits: &BodyLimits, held: &mut Held) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limits.max_bytes {
        return Err(too_large(limits.max_bytes));
    }
    let begun = Instant::now();
    let end = begun + limits.whole;
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    let mut n_bytes = 0;
    loop {
        let frame = match timeout_at(end.min(Instant::now() + limits.idle), body.frame()).await {
            Err(_) => return Err(too_slow("the body did not arrive in time")),
            Ok(None) => break,
            Ok(Some(Err(error))) => {
                return Err(Refusal::new(
                    StatusCode::BAD_REQUEST,
                    format!("the body did not arrive whole: {error}"),
                ));
            }
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers mean nothing here.
        let Ok(data) = frame.into_data() else { continue };
        n_bytes += data.len();
        if n_bytes > limits.max_bytes {
            return Err(too_large(limits.max_bytes));
        }
        held.add(data.len())?;
        let elapsed_s = begun.elapsed().as_secs();
        if elapsed_s > 1 && (n_bytes as u64) < limits.min_bytes_per_s.saturating_mul(elapsed_s) {
            return Err(too_slow("the body arrives too slowly"));
        }
        if n_bytes == data.len() {
            first = data;
            continue;
        }
        if rest.is_empty() {
            rest.reserve(announced.clamp(n_bytes, MOST_TRUSTED_BYTES.max(n_bytes)));
            rest.extend_from_slice(&first);
            first = Bytes::new();
        }
        rest.extend_from_slice(&data);
    }
    // A short body would keep alive the large buffer that it was read into.
    const LARGE: usize = 32 << 10;
    Ok(match (rest.is_empty(), first.len()) {
        (false, _) => rest.freeze(),
        (true, LARGE..) => first,
        (true, _) => Bytes::copy_from_slice(&first),
    })
}

fn too_large(max_bytes: usize) -> Refusal {
    let reason =
        format!("the body is longer than {max_bytes} bytes: send smaller requests, or raise maxRequestBytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
}

fn too_slow(reason: &str) -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, reason)
}

#[cfg(test)]
mod tests;
