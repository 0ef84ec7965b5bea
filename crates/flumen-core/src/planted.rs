//! Small wrong changes on purpose, which the simulation of whole agents must find: a harness that finds none of them proves
//! nothing by its silence.
//!
//! They exist only in a build with the feature `planted` (`cargo xtask sim --bugs`). In every other build [`is`] is always false, and
//! the compiler takes it and what hangs on it away.

/// A wrong change. Each is named for what the code then does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Bug {
    RefusedPutIsAcknowledged = 1,
    LastChannelIsForgotten,
    InterceptorsAreSkipped,
    CopiesAreNotCounted,
    UnroutedEventsAreNotCounted,
    RefusedEventsAreNotCounted,
    SplitTakesTheNeighbour,
    FailedDeliveryIsCommitted,
    FailedDeliveryKeepsItsLoan,
    PartCommitsAll,
    DeliveryCommitsNothing,
    HeldBatchIsCommittedAtOnce,
    OneMoreBatchIsSettled,
    FailureCommitsWhatIsHeld,
    SinkSleepsOverEvents,
    DeadlinesAreForgotten,
    DeliveredEventsAreNotCounted,
    CloseForgetsWhatItSettled,
    StoredEventsWakeNobody,
    CapacityIsOffByOne,
    RolledBackRoomIsKept,
    RollBackGoesToTheEnd,
    RollBackLosesTheFirstPiece,
    CutSkipsAnEvent,
    CutGivesAnEventTwice,
    TakeIsFinal,
    ReloadBuildsChangedChannelsAnew,
    ReloadLeavesOldSourcesRunning,
    ReloadForgetsChangedSinks,
    FailedComponentsStayDown,
    StopHidesWhatIsLeft,
    TotalsForgetReplacedParts,
    PausesNeverEnd,
    DefaultRouteIsIgnored,
    BalancedEventsGoTwice,
}

impl Bug {
    /// All of them.
    #[rustfmt::skip]
    pub const ALL: &[Self] = &[
        Self::RefusedPutIsAcknowledged, Self::LastChannelIsForgotten, Self::InterceptorsAreSkipped,
        Self::CopiesAreNotCounted, Self::UnroutedEventsAreNotCounted, Self::RefusedEventsAreNotCounted,
        Self::SplitTakesTheNeighbour, Self::FailedDeliveryIsCommitted, Self::FailedDeliveryKeepsItsLoan,
        Self::PartCommitsAll, Self::DeliveryCommitsNothing, Self::HeldBatchIsCommittedAtOnce,
        Self::OneMoreBatchIsSettled, Self::FailureCommitsWhatIsHeld, Self::SinkSleepsOverEvents,
        Self::DeadlinesAreForgotten, Self::DeliveredEventsAreNotCounted, Self::CloseForgetsWhatItSettled,
        Self::StoredEventsWakeNobody, Self::CapacityIsOffByOne, Self::RolledBackRoomIsKept,
        Self::RollBackGoesToTheEnd, Self::RollBackLosesTheFirstPiece, Self::CutSkipsAnEvent,
        Self::CutGivesAnEventTwice, Self::TakeIsFinal, Self::ReloadBuildsChangedChannelsAnew,
        Self::ReloadLeavesOldSourcesRunning, Self::ReloadForgetsChangedSinks, Self::FailedComponentsStayDown,
        Self::StopHidesWhatIsLeft, Self::TotalsForgetReplacedParts, Self::PausesNeverEnd, Self::DefaultRouteIsIgnored,
        Self::BalancedEventsGoTwice,
    ];
}

#[cfg(feature = "planted")]
static PLANTED: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Plants a bug in the whole process, in place of the one before; `None` takes it out again.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.store(bug.map_or(0, |bug| bug as u8), std::sync::atomic::Ordering::Relaxed);
}

/// Whether the code is to be wrong here.
#[cfg(feature = "planted")]
pub fn is(bug: Bug) -> bool {
    PLANTED.load(std::sync::atomic::Ordering::Relaxed) == bug as u8
}

/// Whether the code is to be wrong here: never, in this build.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub const fn is(_bug: Bug) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bug_is_in_the_list_once() {
        for (n, bug) in (1..).zip(Bug::ALL) {
            assert_eq!(*bug as u8, n, "{bug:?}");
        }
        assert_eq!(*Bug::ALL.last().unwrap(), Bug::BalancedEventsGoTwice, "the last one");
    }
}
