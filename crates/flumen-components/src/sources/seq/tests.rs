//! Numbers in order, none lost over a refusal.
