//! What chooses the channels of an event: the folders of this kind, and their lines of registration.

pub mod load_balancing;
pub mod multiplexing;
pub mod replicating;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .selector::<load_balancing::LoadBalancingSelector>()
        .selector::<multiplexing::MultiplexingSelector>()
        .selector::<replicating::ReplicatingSelector>()
}
