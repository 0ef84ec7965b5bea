//! Which channels an event goes to.

use crate::event::Event;
use std::fmt::Debug;

/// Chooses the channels of an event. No I/O; what it counts (a turn) it may keep.
pub trait Selector: Debug + Send + Sync + 'static {
    /// The channels of this event.
    fn route(&self, event: Event<'_>) -> Route;

    /// The route of every event, where it does not depend on the event: the batch then moves whole.
    fn fixed(&self) -> Option<Route> {
        None
    }
}

/// The channels of an event: those that must have it before the source is told OK, and those that may miss it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Route {
    /// All of these commit, or the put fails.
    pub required: ChannelSet,
    /// Offered once, never waited for, counted when they refuse.
    pub optional: ChannelSet,
}

/// A set of a source's channels, by their position in its `channels` list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ChannelSet(u64);

impl ChannelSet {
    /// A source has at most this many channels; a configuration with more is refused by name.
    pub const MAX_CHANNELS: usize = 64;

    /// No channel.
    pub const EMPTY: Self = Self(0);

    /// The first `n` channels.
    ///
    /// # Panics
    /// `n` is above [`Self::MAX_CHANNELS`].
    pub fn first(n: usize) -> Self {
        (0..n).collect()
    }

    /// Adds a channel.
    ///
    /// # Panics
    /// `channel` is not below [`Self::MAX_CHANNELS`].
    pub fn insert(&mut self, channel: usize) {
        assert!(channel < Self::MAX_CHANNELS, "a source has at most {} channels", Self::MAX_CHANNELS);
        self.0 |= 1 << channel;
    }

    /// Whether the channel is in the set.
    pub fn contains(self, channel: usize) -> bool {
        channel < Self::MAX_CHANNELS && self.0 & (1 << channel) != 0
    }

    /// The channels of this set that are not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The channels, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Self::MAX_CHANNELS).filter(move |channel| self.contains(*channel))
    }
}

impl FromIterator<usize> for ChannelSet {
    fn from_iter<I: IntoIterator<Item = usize>>(channels: I) -> Self {
        let mut set = Self::EMPTY;
        for channel in channels {
            set.insert(channel);
        }
        set
    }
}
