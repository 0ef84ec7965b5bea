//! Limits of bodies, under a clock that stands still.

use super::*;
use hyper::body::Frame;
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};
use tokio::time::{Interval, interval};

/// A body that comes piece by piece.
struct Drip {
    pace: Interval,
    piece: Bytes,
    n_pieces: usize,
}

impl Body for Drip {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.n_pieces == 0 {
            return Poll::Ready(None);
        }
        ready!(self.pace.poll_tick(context));
        self.n_pieces -= 1;
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }
}

fn drip(n_pieces: usize, n_bytes: usize, pause: Duration) -> Drip {
    Drip { pace: interval(pause), piece: vec![b'x'; n_bytes].into(), n_pieces }
}

fn limits() -> BodyLimits {
    let (idle, whole) = (Duration::from_secs(30), Duration::from_secs(300));
    BodyLimits { max_bytes: 100_000, idle, whole, min_bytes_per_s: 0 }
}

async fn status(body: Drip, limits: BodyLimits) -> Result<usize, StatusCode> {
    let mut held = Memory::new(1 << 20).hold();
    read(body, false, &limits, &mut held).await.map(|body| body.len()).map_err(|refusal| refusal.status)
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_arrives_as_long_as_it_keeps_coming() {
    assert_eq!(status(drip(10, 1_000, Duration::from_secs(29)), limits()).await, Ok(10_000));
    let slow = Err(StatusCode::REQUEST_TIMEOUT);
    assert_eq!(status(drip(10, 1_000, Duration::from_secs(31)), limits()).await, slow, "silent for too long");
    assert_eq!(status(drip(11, 1_000, Duration::from_secs(29)), limits()).await, Ok(11_000));
    assert_eq!(status(drip(12, 1_000, Duration::from_secs(29)), limits()).await, slow, "too long in all");
}

#[tokio::test(start_paused = true)]
async fn a_body_may_be_asked_to_keep_a_rate() {
    let limits = BodyLimits { min_bytes_per_s: 500, ..limits() };
    assert_eq!(status(drip(20, 1_001, Duration::from_secs(2)), limits.clone()).await, Ok(20_020));
    let slow = Err(StatusCode::REQUEST_TIMEOUT);
    assert_eq!(status(drip(20, 400, Duration::from_secs(1)), limits).await, slow);
}

#[tokio::test(start_paused = true)]
async fn what_exceeds_the_limit_is_thrown_away_for_a_while_and_refused() {
    assert_eq!(status(drip(100, 1_000, Duration::from_millis(1)), limits()).await, Ok(100_000));
    let large = Err(StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(status(drip(101, 1_000, Duration::from_millis(1)), limits()).await, large);
    let begun = Instant::now();
    assert_eq!(status(drip(usize::MAX, 1_000, Duration::from_millis(1)), limits()).await, large);
    assert!(begun.elapsed() < Duration::from_secs(3), "a body without end is not read for ever");
}

#[test]
fn memory_comes_in_parts_and_goes_back() {
    let memory = Memory::new(10 * PART_BYTES as u64);
    let mut first = memory.hold();
    first.add(1).unwrap();
    first.add(PART_BYTES - 1).unwrap();
    assert_eq!(memory.0.available_permits(), 9);
    first.add(1).unwrap();
    let mut second = memory.hold();
    assert_eq!(second.add(9 * PART_BYTES).unwrap_err().status, StatusCode::SERVICE_UNAVAILABLE);
    drop(second);
    let mut second = memory.hold();
    second.add(8 * PART_BYTES).unwrap();
    first.join(second);
    assert_eq!(memory.0.available_permits(), 0);
    drop(first);
    assert_eq!(memory.0.available_permits(), 10);
}
