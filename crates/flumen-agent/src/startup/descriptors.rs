//! Open files: as many as the system allows at all.

use rustix::process::{Resource, getrlimit, setrlimit};

/// With fewer than these a few hundred clients take the descriptors that channels and monitors need.
const FEW: u64 = 1_024;

/// Raises the soft limit of open files to the hard one, as a JVM does. Returns what is to be told about it.
pub(super) fn raise_limit() -> Option<String> {
    let limit = getrlimit(Resource::Nofile);
    let mut raised = limit;
    raised.current = limit.maximum;
    // Where that is not allowed the old limit holds.
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { limit.maximum } else { limit.current };
    now.filter(|now| *now < FEW).map(|now| {
        format!(
            "only {now} files may be open at once, connections included: raise the limit (ulimit -n, LimitNOFILE=) where many \
             clients connect or many files are read"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_hard_one_afterwards() {
        let told = raise_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
        assert_eq!(told.is_some(), limit.maximum.is_some_and(|most| most < FEW));
    }
}
