//! Which part of a batch goes to which channel. A batch that all goes one way moves whole.

use crate::{
    event::{Batch, BatchSize},
    planted::{self, Bug},
    route::{ChannelSet, Route, Selector},
};

/// The parts of a batch by channel, before they are cut out of it.
#[derive(Debug)]
pub(super) struct Parts {
    kind: Kind,
    size: BatchSize,
    /// Events for which no channel was chosen.
    pub(super) n_unrouted: u64,
}

#[derive(Debug)]
enum Kind {
    /// Every event has this route.
    Whole(Route),
    /// Each channel gets a part: channel, whether it is required, events.
    Split(Vec<(usize, bool, Batch)>),
}

/// Routes every event. Channels in `done` get nothing: they have their part from an earlier try.
pub(super) fn split(batch: &Batch, selector: &dyn Selector, done: ChannelSet) -> Parts {
    let rest = |route: Route| Route {
        required: route.required.without(done),
        optional: route.optional.without(done).without(route.required),
    };
    let size = batch.size();
    let nowhere = |route: &Route| route.required.is_empty() && route.optional.is_empty();
    if let Some(route) = selector.fixed() {
        let n_unrouted = if nowhere(&route) { u64::from(size.events) } else { 0 };
        return Parts { kind: Kind::Whole(rest(route)), size, n_unrouted };
    }
    let routes: Vec<Route> = batch.iter().map(|event| selector.route(event)).collect();
    let n_unrouted = routes.iter().filter(|route| nowhere(route)).count() as u64;
    let same = routes.windows(2).all(|pair| pair[0] == pair[1]);
    if let (true, Some(route)) = (same, routes.first()) {
        return Parts { kind: Kind::Whole(rest(*route)), size, n_unrouted };
    }
    let neighbour = usize::from(planted::is(Bug::SplitTakesTheNeighbour));
    let mut parts = Vec::new();
    for channel in 0..ChannelSet::MAX_CHANNELS {
        for required in [true, false] {
            let takes = |route: Route| {
                let route = rest(route);
                (if required { route.required } else { route.optional }).contains(channel)
            };
            if routes.iter().any(|route| takes(*route)) {
                parts.push((
                    channel,
                    required,
                    batch.filtered(|i, _| takes(routes[(i + neighbour) % routes.len()])),
                ));
            }
        }
    }
    Parts { kind: Kind::Split(parts), size, n_unrouted }
}

impl Parts {
    /// How much a required channel gets, or `None` where it gets nothing.
    pub(super) fn required_size(&self, channel: usize) -> Option<BatchSize> {
        match &self.kind {
            Kind::Whole(route) => {
                (self.size.events > 0 && route.required.contains(channel)).then_some(self.size)
            }
            Kind::Split(parts) => {
                parts.iter().find(|part| part.0 == channel && part.1).map(|(_, _, batch)| batch.size())
            }
        }
    }

    /// Adds the batch itself, of which `n_required` channels get a part.
    pub(super) fn with_batch(self, batch: Batch, n_required: usize) -> OwnedParts {
        let optional = match &self.kind {
            Kind::Whole(route) if self.size.events > 0 => route.optional,
            Kind::Whole(_) => ChannelSet::EMPTY,
            Kind::Split(parts) => parts.iter().filter(|part| !part.1).map(|part| part.0).collect(),
        };
        OwnedParts {
            uses_left: n_required + optional.len(),
            optional,
            kind: self.kind,
            size: self.size,
            batch,
        }
    }
}

/// The parts together with the batch, so that they can be given away.
#[derive(Debug)]
pub(super) struct OwnedParts {
    kind: Kind,
    size: BatchSize,
    optional: ChannelSet,
    batch: Batch,
    /// How many channels are still to get the whole batch; the last one gets it without a copy of the rows.
    uses_left: usize,
}

impl OwnedParts {
    /// The part of a required channel.
    pub(super) fn take(&mut self, channel: usize) -> Batch {
        self.take_part(channel, true)
    }

    /// The part of an optional channel.
    pub(super) fn take_optional(&mut self, channel: usize) -> Batch {
        self.take_part(channel, false)
    }

    /// The optional channels that get something.
    pub(super) fn optional(&self) -> impl Iterator<Item = usize> + use<> {
        self.optional.iter()
    }

    /// How much an optional channel would get.
    pub(super) fn optional_size(&self, channel: usize) -> BatchSize {
        match &self.kind {
            Kind::Whole(_) => self.size,
            Kind::Split(parts) => parts
                .iter()
                .find(|part| part.0 == channel && !part.1)
                .map(|(_, _, batch)| batch.size())
                .unwrap_or_default(),
        }
    }

    fn take_part(&mut self, channel: usize, required: bool) -> Batch {
        match &mut self.kind {
            Kind::Split(parts) => parts
                .iter_mut()
                .find(|part| part.0 == channel && part.1 == required)
                .map(|part| std::mem::take(&mut part.2))
                .unwrap_or_default(),
            Kind::Whole(_) => {
                self.uses_left = self.uses_left.saturating_sub(1);
                if self.uses_left == 0 { std::mem::take(&mut self.batch) } else { self.batch.clone() }
            }
        }
    }
}
