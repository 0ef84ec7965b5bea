//! Answers requests: body in, events to the channels, status out.

use super::{
    body::{self, BodyLimits, Memory, Packing},
    handler::{Handler, Head, Refusal},
};
use bytes::Bytes;
use flumen_core::{
    event::Batch,
    processor::{ChannelProcessor, PutCause},
    seldom::Seldom,
};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use std::{net::SocketAddr, sync::Arc};

/// Larger bodies, and all packed ones, are read on a thread that may block; half a millisecond's work is the limit.
const LARGE_BYTES: usize = 512 << 10;

const PRODUCT: HeaderValue = HeaderValue::from_static(concat!("Flumen/", env!("CARGO_PKG_VERSION")));
const POWERED_BY: HeaderName = HeaderName::from_static("x-powered-by");

/// What all requests of a source share.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) name: Arc<str>,
    pub(super) handler: Handler,
    pub(super) limits: BodyLimits,
    pub(super) max_head_bytes: usize,
    pub(super) memory: Memory,
    pub(super) sends_server: bool,
    pub(super) sends_powered_by: bool,
    /// Warnings of requests that were answered with an error.
    pub(super) refusals: Seldom,
    /// Warnings of what was no request at all.
    pub(super) unread: Seldom,
}

impl Service {
    /// Answers one request. 200 says that every required channel has committed.
    pub(super) async fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
        out: &ChannelProcessor,
    ) -> Response<Full<Bytes>> {
        let answer = match self.accept(request, out).await {
            Ok(()) => Response::new(Full::default()),
            Err(refusal) => {
                let (status, reason) = (refusal.status.as_u16(), &*refusal.reason);
                // The reason may hold what the peer has sent; it is text there and here, never more.
                match self.refusals.due() {
                    Some(unsaid) => tracing::warn!(
                        source = &*self.name,
                        %peer,
                        status,
                        reason,
                        unsaid,
                        "request refused; the next warning comes in a minute at the earliest"
                    ),
                    None => tracing::debug!(source = &*self.name, %peer, status, reason, "request refused"),
                }
                refusal.into_response()
            }
        };
        self.dress(answer)
    }

    /// Counts and tells of bytes that are no request, and what they were answered.
    pub(super) fn cannot_read(
        &self,
        peer: SocketAddr,
        status: Option<StatusCode>,
        what: &str,
        out: &ChannelProcessor,
    ) {
        out.metrics().read_fail.add(1);
        let status = status.map(|status| status.as_u16());
        match self.unread.due() {
            Some(unsaid) => tracing::warn!(
                source = &*self.name,
                %peer,
                status,
                unsaid,
                "connection closed: {what}. The next warning comes in a minute at the earliest"
            ),
            None => tracing::debug!(source = &*self.name, %peer, status, "connection closed: {what}"),
        }
    }

    async fn accept(
        self: &Arc<Self>,
        request: Request<Incoming>,
        out: &ChannelProcessor,
    ) -> Result<(), Refusal> {
        let (parts, body) = request.into_parts();
        check_method(&parts.method)?;
        if head_bytes(parts.uri.path_and_query().map_or(0, |path| path.as_str().len()), &parts.headers)
            > self.max_head_bytes
        {
            let reason = "the request's headers are too large: see HttpConfiguration.requestHeaderSize";
            return Err(Refusal::new(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, reason));
        }
        let mut held = self.memory.hold();
        let read = async {
            let packing = Packing::of(&parts.headers)?;
            let asks_first = parts.headers.contains_key(header::EXPECT);
            let body = body::read(body, asks_first, &self.limits, &mut held).await?;
            let content_type = parts.headers.get(header::CONTENT_TYPE);
            let head = Head {
                content_type: content_type
                    .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()),
                query: parts.uri.query().map(str::to_owned),
            };
            if packing == Packing::Plain && body.len() < LARGE_BYTES {
                return self.handler.events(&head, body);
            }
            let (service, mut work) = (self.clone(), self.memory.hold());
            let reading = tokio::task::spawn_blocking(move || {
                let body = packing.unpack(body, service.limits.max_bytes, &mut work)?;
                // What was unpacked stays accounted for as long as the batch is on its way.
                service.handler.events(&head, body).map(|batch| (batch, work))
            });
            let (batch, work) =
                reading.await.unwrap_or_else(|_| Err(Refusal::failed("the request could not be read")))?;
            held.join(work);
            Ok(batch)
        };
        let metrics = out.metrics();
        let batch = read.await.inspect_err(|_| metrics.read_fail.add(1))?;
        metrics.batch_received.add(1);
        self.put(batch, out).await?;
        metrics.batch_accepted.add(1);
        Ok(())
    }

    async fn put(&self, batch: Batch, out: &ChannelProcessor) -> Result<(), Refusal> {
        if batch.is_empty() {
            return Ok(());
        }
        out.put(batch).await.map_err(|error| match &error.cause {
            PutCause::Channel(cause) => {
                let reason = format!("Error appending event to channel. Channel might be full. {cause}");
                let mut refusal = Refusal::new(StatusCode::SERVICE_UNAVAILABLE, reason);
                refusal.is_temporary = !cause.is_permanent();
                refusal
            }
            PutCause::Intercept(cause) => {
                Refusal::failed(format!("Unexpected error while appending event to channel. {cause}"))
            }
        })
    }

    fn dress(&self, mut answer: Response<Full<Bytes>>) -> Response<Full<Bytes>> {
        let headers = answer.headers_mut();
        if self.sends_server {
            headers.insert(header::SERVER, PRODUCT);
        }
        if self.sends_powered_by {
            headers.insert(POWERED_BY, PRODUCT);
        }
        answer
    }
}

impl Refusal {
    fn into_response(self) -> Response<Full<Bytes>> {
        let mut answer = Response::new(Full::from(self.reason + "\n"));
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        match self.status {
            StatusCode::METHOD_NOT_ALLOWED => {
                headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
            }
            StatusCode::REQUEST_TIMEOUT => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            StatusCode::SERVICE_UNAVAILABLE if self.is_temporary => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        answer
    }
}

/// GET and HEAD are handled like POST, as in Java.
fn check_method(method: &Method) -> Result<(), Refusal> {
    let status = match method.as_str() {
        "POST" | "GET" | "HEAD" => return Ok(()),
        "OPTIONS" | "TRACE" => StatusCode::FORBIDDEN,
        "PUT" | "DELETE" => StatusCode::METHOD_NOT_ALLOWED,
        _ => StatusCode::NOT_IMPLEMENTED,
    };
    Err(Refusal::new(status, "events are sent by POST"))
}

fn head_bytes(path: usize, headers: &HeaderMap) -> usize {
    path + headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>()
}
