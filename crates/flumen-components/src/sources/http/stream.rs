//! A connection that nobody can hold for ever: its peer must go on with what it sends, and take what is written to it.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep, sleep_until},
};

/// How far the requests of a connection are: the service tells, the stream looks.
#[derive(Debug, Default)]
pub(super) struct Progress {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Progress {
    /// The head of a request is there. Drop what is returned when it is answered.
    pub(super) fn request(self: &Arc<Self>) -> AtWork {
        self.begun.fetch_add(1, Ordering::Relaxed);
        AtWork(self.clone())
    }

    /// Requests so far.
    pub(super) fn requests(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    fn is_at_work(&self) -> bool {
        self.requests() > self.ended.load(Ordering::Relaxed)
    }
}

/// A request that is not answered yet.
#[derive(Debug)]
pub(super) struct AtWork(Arc<Progress>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream with limits: on a write that waits; on silence where a request should come; on the head of a request. The
/// body has limits of its own.
#[derive(Debug)]
pub(super) struct Patient<S> {
    stream: S,
    idle: Duration,
    head: Duration,
    progress: Arc<Progress>,
    /// Runs while a write waits.
    writing: Option<Pin<Box<Sleep>>>,
    /// Runs while a read waits for a head.
    reading: Option<Pin<Box<Sleep>>>,
    /// Until when the head that has begun must be there.
    head_end: Option<Instant>,
    /// Requests when `head_end` was set.
    seen: u64,
    too_slow: bool,
    /// Whether something was written since the last bytes that came in for a head.
    answered: bool,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, idle: Duration, head: Duration, progress: Arc<Progress>) -> Self {
        Self {
            stream,
            idle,
            head,
            progress,
            writing: None,
            reading: None,
            head_end: None,
            seen: 0,
            too_slow: false,
            answered: false,
        }
    }

    /// Whether the peer did not send what it should in time.
    pub(super) fn was_too_slow(&self) -> bool {
        self.too_slow
    }

    /// Whether something was written since the last bytes that came in for a head.
    pub(super) fn has_answered(&self) -> bool {
        self.answered
    }

    /// The stream, without limits.
    pub(super) fn inner(&mut self) -> &mut S {
        &mut self.stream
    }

    fn limited<T>(&mut self, context: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.writing = None;
            return result;
        }
        let limit = self.idle;
        let writing = self.writing.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(writing.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not take its answer")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let n_before = buffer.filled().len();
        let result = Pin::new(&mut this.stream).poll_read(context, buffer);
        let requests = this.progress.requests();
        if this.seen != requests {
            (this.seen, this.head_end, this.reading) = (requests, None, None);
        }
        if this.progress.is_at_work() {
            return result;
        }
        if result.is_pending() {
            let (idle_end, head_end) = (Instant::now() + this.idle, this.head_end);
            let end = head_end.map_or(idle_end, |end| end.min(idle_end));
            let reading = this.reading.get_or_insert_with(|| Box::pin(sleep_until(end)));
            ready!(reading.as_mut().poll(context));
            this.too_slow = true;
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer sends nothing")));
        }
        if buffer.filled().len() > n_before {
            this.reading = None;
            this.answered = false;
            let head = this.head;
            this.head_end.get_or_insert_with(|| Instant::now() + head);
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.answered = true;
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.answered = true;
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.limited(context, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.limited(context, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        self.limited(context, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    const IDLE: Duration = Duration::from_secs(30);

    fn pair(head_s: u64) -> (Patient<DuplexStream>, DuplexStream, Arc<Progress>) {
        let (near, far) = tokio::io::duplex(16);
        let progress = Arc::new(Progress::default());
        (Patient::new(near, IDLE, Duration::from_secs(head_s), progress.clone()), far, progress)
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up() {
        let (mut near, mut far, _) = pair(300);
        near.write_all(&[0; 16]).await.unwrap();
        let error = near.write_all(b"more").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        // Whoever reads again gets on, with a new limit.
        far.read_exact(&mut [0; 16]).await.unwrap();
        near.write_all(b"more").await.unwrap();
    }

    /// Reads bytes that come one each ten seconds, until it is given up; how many seconds that took.
    async fn trickle(near: &mut Patient<DuplexStream>, far: &mut DuplexStream) -> u64 {
        let begun = Instant::now();
        let sending = async {
            loop {
                tokio::time::sleep(Duration::from_secs(10)).await;
                far.write_all(b"x").await.unwrap();
            }
        };
        let reading = async { while near.read_u8().await.is_ok() {} };
        tokio::select! { () = sending => {}, () = reading => {} }
        begun.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_trickles_has_a_limit_of_its_own_and_each_head_anew() {
        let (mut near, mut far, progress) = pair(100);
        assert_eq!(trickle(&mut near, &mut far).await, 110, "from the first byte on");
        assert!(near.was_too_slow());
        drop(progress.request());
        assert_eq!(trickle(&mut near, &mut far).await, 110);
        // A request at work waits for its channel, not for its peer.
        let _at_work = progress.request();
        let waiting = tokio::time::timeout(Duration::from_secs(1_000), near.read_u8()).await;
        assert!(waiting.is_err(), "{waiting:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_has_the_idle_limit() {
        let (mut near, _far, _) = pair(100);
        let begun = Instant::now();
        assert!(near.read_u8().await.is_err());
        assert_eq!(begun.elapsed(), IDLE);
    }
}
