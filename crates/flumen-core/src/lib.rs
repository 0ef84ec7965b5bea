//! flumen-core
