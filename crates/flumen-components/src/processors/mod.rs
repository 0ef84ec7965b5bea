//! What chooses among the sinks of a group: the folders of this kind, and their lines of registration.

pub mod default;
pub mod failover;
pub mod load_balance;
mod pause;

use flumen_core::registry::Registry;

/// Adds them all, in alphabetical order.
pub(crate) fn register(registry: Registry) -> Registry {
    registry
        .processor::<default::DefaultProcessor>()
        .processor::<failover::FailoverProcessor>()
        .processor::<load_balance::LoadBalanceProcessor>()
}
