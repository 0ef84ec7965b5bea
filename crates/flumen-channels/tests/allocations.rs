//! How often the path of a batch asks the allocator: a few times a batch, and never by the event.
//!
//! In a test program of its own, as it replaces the allocator. What is counted is counted by thread.

#![allow(clippy::unwrap_used, reason = "the functions around the tests are test code too")]

use flumen_channels::memory::MemoryChannel;
use flumen_core::{
    channel::{Channel, ChannelLimits},
    event::{Batch, Headers, Text},
    group::{Member, MemberOptions, SinkRunner},
    intercept::{InterceptError, Interceptor},
    processor::ChannelProcessor,
    sink::{DeliverError, Delivery, Sink},
    source::Shutdown,
    testing::{Alone, Everywhere},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

/// For a batch whose headers are the same for all events.
const MOST_SHARED: u64 = 7;
/// Where each event has a short header of its own besides (a number, a time): entries and sets.
const MOST_OWN: u64 = MOST_SHARED + 2;
/// Where that header is longer (a UUID): besides, the text of all values, what shares it, and their places in it.
const MOST_LONG_OWN: u64 = MOST_OWN + 3;

#[expect(
    unsafe_code,
    reason = "a global allocator is unsafe to implement; this one hands everything to the system's"
)]
mod counting {
    use std::{
        alloc::{GlobalAlloc, Layout, System},
        cell::Cell,
    };

    struct Counting;

    #[global_allocator]
    static COUNTING: Counting = Counting;

    thread_local! {
        static CALLS: Cell<u64> = const { Cell::new(0) };
    }

    /// Calls of this thread that gave or moved memory.
    pub(super) fn calls() -> u64 {
        CALLS.get()
    }

    fn count() {
        // A thread that ends has no counter any more.
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
    }

    unsafe impl GlobalAlloc for Counting {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            count();
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            unsafe { System.dealloc(pointer, layout) }
        }

        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            count();
            unsafe { System.realloc(pointer, layout, size) }
        }
    }
}

/// Sets two headers on all events at once, as a host and a timestamp interceptor do.
#[derive(Debug)]
struct HostAndTime;

impl Interceptor for HostAndTime {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.edit_headers(|headers| headers.set(Text::from_static("host"), Text::from_static("localhost")));
        batch.edit_headers(|headers| {
            headers.set(Text::from_static("timestamp"), Text::from_display(1_700_000_000_000_i64));
        });
        Ok(())
    }
}

/// Gives each event a number of its own.
#[derive(Debug, Default)]
struct Numbering {
    next: AtomicU64,
    long: bool,
}

impl Interceptor for Numbering {
    fn intercept(&self, batch: &mut Batch) -> Result<(), InterceptError> {
        batch.edit_each(|_, own| {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            match self.long {
                true => own.set_fmt(Text::from_static("id"), format_args!("{number:016x}-{number:016x}")),
                false => own.set_fmt(Text::from_static("id"), number),
            }
        });
        Ok(())
    }
}

/// Events whose bodies are the next numbers, as the sequence source makes them.
fn sequence(next: &mut u64, n_events: usize) -> Batch {
    use std::io::Write;
    let digits = |n: u64| n.checked_ilog10().map_or(1, |log| log as usize + 1);
    // Of the exact length, the bytes are given away without one more allocation.
    let mut bytes = Vec::with_capacity((*next..*next + n_events as u64).map(digits).sum());
    let mut batch = Batch::with_capacity(n_events);
    let mut ends = [0_u32; 1_000];
    for end in ends.iter_mut().take(n_events) {
        write!(bytes, "{next}").unwrap();
        *next += 1;
        *end = u32::try_from(bytes.len()).unwrap();
    }
    let (segment, set) = (batch.add_segment(bytes.into()), batch.add_headers(Headers::new()));
    let mut start = 0;
    for end in &ends[..n_events] {
        batch.push_slice(set, segment, start..*end);
        start = *end;
    }
    batch
}

/// Looks at every event and forgets it.
struct Null(Arc<AtomicU64>);

impl Sink for Null {
    async fn deliver(&mut self, batch: &Batch) -> Result<Delivery, DeliverError> {
        let bytes = batch.iter().map(|event| event.body.len() as u64 + event.headers.len() as u64).sum();
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Ok(Delivery::all(batch))
    }
}

/// Allocations a batch in a long run of batches of this size, rounded to the nearest.
fn allocations_a_batch(interceptors: Vec<Arc<dyn Interceptor>>, n_events: usize) -> u64 {
    const BATCHES: u64 = 2_000;
    let n = u32::try_from(n_events).unwrap();
    let limits = ChannelLimits {
        capacity: u64::from(n) * 10,
        transaction_capacity: n,
        byte_slots: Some(u64::MAX / 2),
        keep_alive: Duration::from_secs(3),
    };
    let channel: Arc<dyn Channel> = Arc::new(MemoryChannel::new("c".into(), limits, Arc::default()));
    let all = vec![channel.clone()];
    let out = ChannelProcessor::new(interceptors, Arc::new(Everywhere(1)), all, &[0], Arc::default());
    let bytes = Arc::new(AtomicU64::new(0));
    let seen = bytes.clone();
    let member = Member::new(
        "k".into(),
        Box::new(move || Ok(Box::new(Null(seen.clone())))),
        channel.clone(),
        n,
        MemberOptions::default(),
        Arc::default(),
        Arc::default(),
    );
    let mut runner = SinkRunner::new(vec![member.unwrap()], Box::new(Alone::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let counted = runtime.block_on(async {
        let (_stop, shutdown) = Shutdown::new();
        let mut next = 0;
        let source = async {
            let mut before = 0;
            for batch in 0..BATCHES + 20 {
                // The first ones fill queues that keep their room.
                if batch == 20 {
                    before = counting::calls();
                }
                out.put(sequence(&mut next, n_events)).await.unwrap();
                tokio::task::yield_now().await;
            }
            counting::calls() - before
        };
        tokio::select! {
            biased;
            counted = source => counted,
            end = runner.run(shutdown) => panic!("{end:?}"),
        }
    });
    assert!(bytes.load(Ordering::Relaxed) > (BATCHES - 100) * u64::from(n), "the events have arrived");
    (counted + BATCHES / 2) / BATCHES
}

#[test]
fn a_batch_with_shared_headers_takes_few_allocations_and_an_event_none() {
    let run = |n_events| allocations_a_batch(vec![Arc::new(HostAndTime)], n_events);
    let (small, large) = (run(100), run(1_000));
    assert!(small <= MOST_SHARED, "{small} allocations a batch of 100 events");
    assert_eq!(large, small, "as many for 1,000 events as for 100");
}

#[test]
fn a_batch_with_own_headers_takes_few_allocations_and_an_event_none() {
    for (long, most) in [(false, MOST_OWN), (true, MOST_LONG_OWN)] {
        let numbering = || Arc::new(Numbering { long, ..Numbering::default() });
        let run = |n_events| allocations_a_batch(vec![Arc::new(HostAndTime), numbering()], n_events);
        let (small, large) = (run(100), run(1_000));
        assert!(small <= most, "{small} allocations a batch of 100 events, long: {long}");
        assert_eq!(large, small, "as many for 1,000 events as for 100, long: {long}");
    }
}
