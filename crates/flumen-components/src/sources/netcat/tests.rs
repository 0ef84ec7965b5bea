//! Lines in, events and answers out.
