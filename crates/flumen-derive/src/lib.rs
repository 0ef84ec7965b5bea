//! flumen-derive
