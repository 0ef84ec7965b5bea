//! flumen-agent
