//! Single rules of the contract, each with a name.

use super::{ChannelSuite, block_on, committed, drain, limits, soon, taken};
use crate::{
    channel::{Channel, ChannelError, begin_put, begin_take},
    event::{Batch, BatchSize},
    testing::{numbered, numbers},
};
use futures_util::task::noop_waker_ref;
use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::Instant;

impl ChannelSuite<'_> {
    pub(super) fn rules(&self) {
        block_on(async {
            self.what_is_too_large_is_refused_for_good().await;
            self.an_empty_put_and_a_take_of_none_do_nothing().await;
            self.a_wait_ends_with_the_keep_alive().await;
            self.commits_in_flight_keep_their_order().await;
            self.leases_come_back_to_their_places().await;
            self.a_rollback_wakes_those_that_wait().await;
            self.a_dropped_wait_holds_nothing().await;
            self.a_dropped_commit_is_whole_or_not_at_all().await;
            self.close_refuses_and_lets_open_transactions_end().await;
            self.what_was_answered_is_there_after_a_reopening().await;
        });
    }

    async fn what_is_too_large_is_refused_for_good(&self) {
        let channel = self.open(10, 4);
        let refused = channel.try_put(numbered(0..5).size()).expect_err("5 events are too many for one put");
        assert!(refused.is_permanent(), "{refused}");
        let refused = channel.try_take(5).expect_err("5 events are too many for one take");
        assert!(refused.is_permanent(), "{refused}");
        assert_eq!(channel.depth().reserved, 0, "what was refused holds no room");
    }

    async fn an_empty_put_and_a_take_of_none_do_nothing(&self) {
        let channel = self.open(10, 4);
        let room = channel.try_put(BatchSize::default()).expect("an empty put is allowed");
        if let Some(room) = room {
            committed(room.commit(Batch::new())).await;
        }
        assert!(channel.try_take(4).expect("it is open").is_none(), "an empty put stores nothing");
        store(&*channel, 0..1).await;
        assert!(channel.try_take(0).expect("it is open").is_none(), "a take of none takes nothing");
        assert_eq!(drain(&*channel).await, [0]);
    }

    async fn a_wait_ends_with_the_keep_alive(&self) {
        let channel = self.open(2, 2);
        let keep_alive = channel.limits().keep_alive;
        let start = Instant::now();
        assert!(begin_take(&*channel, 1).await.expect("it is open").is_none(), "there is nothing to take");
        assert!(start.elapsed() >= keep_alive, "a take waits its keep-alive");
        store(&*channel, 0..2).await;
        let start = Instant::now();
        let refused = begin_put(&*channel, numbered(2..3).size()).await.expect_err("there is no room");
        assert!(matches!(refused, ChannelError::Full { .. }), "{refused}");
        assert!(start.elapsed() >= keep_alive, "a put waits its keep-alive");
        assert_eq!(drain(&*channel).await, [0, 1]);
    }

    async fn commits_in_flight_keep_their_order(&self) {
        let channel = self.open(100, 10);
        let mut commits = Vec::new();
        let mut rooms = Vec::new();
        for _ in 0..8 {
            rooms.extend(channel.try_put(numbered(10..20).size()).expect("it is open"));
        }
        assert_eq!(rooms.len(), 8, "80 of 100 events have room");
        // The place in the order is that of the commit, not that of the reservation.
        for (i, room) in (1..).zip(rooms.into_iter().rev()) {
            commits.push(room.commit(numbered(i * 10..i * 10 + 10)));
        }
        for commit in commits.into_iter().rev() {
            committed(commit).await;
        }
        let (mut commits, mut all) = (Vec::new(), Vec::new());
        while all.len() < 80 {
            let taken = taken(&*channel, 7).await;
            all.extend(numbers(taken.batch()));
            commits.push(taken.commit());
        }
        for commit in commits.into_iter().rev() {
            committed(commit).await;
        }
        assert_eq!(all, (10..90).collect::<Vec<_>>());
        assert_eq!((channel.depth().queued, channel.depth().on_loan), (0, 0));
    }

    async fn leases_come_back_to_their_places(&self) {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let channel = self.open(40, 10);
            for start in [0, 10, 20, 30] {
                store(&*channel, start..start + 10).await;
            }
            let mut leases = Vec::new();
            for _ in 0..3 {
                leases.push(Some(taken(&*channel, 7).await));
            }
            for which in order {
                drop(leases[which].take());
            }
            assert_eq!(
                drain(&*channel).await,
                (0..40).collect::<Vec<_>>(),
                "rolled back in the order {order:?}"
            );
        }
    }

    async fn a_rollback_wakes_those_that_wait(&self) {
        let hour = Duration::from_secs(3600);
        let channel = (self.open)(&crate::channel::ChannelLimits { keep_alive: hour, ..limits(2, 2) });
        let room = channel.try_put(numbered(0..2).size()).expect("it is open").expect("there is room");
        let waiting =
            soon("a put that waits for room that is given back", begin_put(&*channel, numbered(0..2).size()));
        let (waited, ()) = tokio::join!(waiting, async { drop(room) });
        committed(waited.expect("it is open").commit(numbered(0..2))).await;
        let lent = taken(&*channel, 2).await;
        let waiting = soon("a take that waits for events that come back", begin_take(&*channel, 2));
        let (waited, ()) = tokio::join!(waiting, async { drop(lent) });
        assert!(waited.expect("it is open").is_some(), "what came back can be taken");
    }

    /// Futures are dropped after each number of polls, while signals come in between.
    async fn a_dropped_wait_holds_nothing(&self) {
        for polls in 1..6 {
            let channel = self.open(4, 4);
            {
                let mut take = pin!(begin_take(&*channel, 4));
                for _ in 0..polls {
                    assert!(poll(take.as_mut()).is_pending(), "there is nothing to take");
                    channel.signals().stored.raise();
                }
            }
            store(&*channel, 0..4).await;
            {
                let mut put = pin!(begin_put(&*channel, numbered(4..5).size()));
                for _ in 0..polls {
                    assert!(poll(put.as_mut()).is_pending(), "there is no room");
                    channel.signals().freed.raise();
                }
            }
            let depth = channel.depth();
            assert_eq!((depth.queued, depth.on_loan, depth.reserved), (4, 0, 0), "after {polls} polls");
            assert_eq!(drain(&*channel).await, [0, 1, 2, 3]);
        }
    }

    async fn a_dropped_commit_is_whole_or_not_at_all(&self) {
        let channel = self.open(20, 10);
        let room = channel.try_put(numbered(0..5).size()).expect("it is open").expect("there is room");
        drop(room.commit(numbered(0..5)));
        store(&*channel, 5..7).await;
        let all = drain(&*channel).await;
        assert!(
            all == [0, 1, 2, 3, 4, 5, 6] || all == [5, 6],
            "a put is stored whole or not at all: {all:?}"
        );
        store(&*channel, 0..4).await;
        drop(taken(&*channel, 2).await.commit());
        store(&*channel, 4..5).await;
        let depth = channel.depth();
        assert!(depth.reserved == 0 && depth.queued + depth.on_loan <= 5, "{depth:?}");
        let all = drain(&*channel).await;
        assert!(all.ends_with(&[4]) && all.is_sorted(), "{all:?}");
    }

    async fn close_refuses_and_lets_open_transactions_end(&self) {
        let channel = (self.open)(&crate::channel::ChannelLimits {
            keep_alive: Duration::from_secs(3600),
            ..limits(6, 6)
        });
        store(&*channel, 0..5).await;
        let (done, back) = (taken(&*channel, 2).await, taken(&*channel, 1).await);
        let room = channel.try_put(numbered(5..6).size()).expect("it is open").expect("there is room");
        let waiting = begin_put(&*channel, numbered(6..9).size());
        let (waited, ()) = tokio::join!(soon("a put that waits while its channel closes", waiting), async {
            channel.close();
        });
        assert!(matches!(waited, Err(ChannelError::Closed { .. })), "{waited:?}");
        assert!(matches!(channel.try_put(numbered(0..1).size()), Err(ChannelError::Closed { .. })));
        assert!(matches!(channel.try_take(1), Err(ChannelError::Closed { .. })));
        committed(room.commit(numbered(5..6))).await;
        committed(done.commit()).await;
        drop(back);
        let depth = channel.depth();
        assert_eq!((depth.queued, depth.on_loan, depth.reserved), (4, 0, 0), "what was open has ended");
    }

    async fn what_was_answered_is_there_after_a_reopening(&self) {
        let Some(reopen) = &self.reopen else { return };
        let channel = self.open(20, 10);
        assert!(channel.durable(), "a channel that can be opened again promises durability");
        store(&*channel, 0..10).await;
        committed(taken(&*channel, 4).await.commit_first(3)).await;
        drop(channel.try_put(numbered(0..5).size()).expect("it is open"));
        let on_loan = taken(&*channel, 2).await;
        drop(on_loan);
        let channel = reopen(channel);
        assert_eq!(channel.depth().queued, 7);
        assert_eq!(drain(&*channel).await, (3..10).collect::<Vec<_>>());
        let channel = reopen(channel);
        assert_eq!(channel.depth().queued, 0, "what was taken and committed is gone");
    }
}

async fn store(channel: &dyn Channel, range: std::ops::Range<u64>) {
    let batch = numbered(range);
    let room = begin_put(channel, batch.size()).await.expect("there is room");
    committed(room.commit(batch)).await;
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(noop_waker_ref()))
}
