//! Who may connect: Flume's `ipFilterRules`.

use crate::shared::local_host;
use flumen_core::config::PropertyValue;
use flumen_java::regex::{Flags, Pattern};
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

/// More rules than this are a mistake.
const MAX_RULES: usize = 10_000;

/// Rules in the order in which they are tried.
#[derive(Debug, Clone)]
pub struct Rules(Arc<[Rule]>);

#[derive(Debug)]
struct Rule {
    allow: bool,
    whom: Whom,
}

#[derive(Debug)]
enum Whom {
    /// The address as Java prints it.
    Ip(Pattern),
    /// The name that the address leads to.
    Name(Pattern),
    /// This machine.
    LocalHost,
}

/// What rules say of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Allowed,
    Denied,
    /// A name must be looked up first, which may take its time.
    NeedsName,
}

impl PropertyValue for Rules {
    const KIND: &'static str = "rules of ipFilter (`allow:ip:127.*,deny:name:*`)";

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let rules: Vec<&str> = text.split(',').collect();
        if rules.len() > MAX_RULES {
            return Err(format!("there are more than {MAX_RULES} rules"));
        }
        rules.into_iter().map(|rule| Rule::parse(rule.trim())).collect::<Result<_, _>>().map(Self)
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, String> {
        let shown = || text.chars().take(60).collect::<String>();
        let unlike = || format!("rule `{}` is not like `allow:ip:PATTERN` or `deny:name:PATTERN`", shown());
        let mut parts = text.splitn(3, ':');
        let (Some(verb), Some(kind), Some(pattern)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(unlike());
        };
        let allow = match verb {
            "allow" => true,
            "deny" => false,
            _ => return Err(unlike()),
        };
        let whom = match kind {
            "name" if pattern == "localhost" => Whom::LocalHost,
            "name" => Whom::Name(compiled(pattern).map_err(|why| format!("rule `{}`: {why}", shown()))?),
            "ip" => Whom::Ip(compiled(pattern).map_err(|why| format!("rule `{}`: {why}", shown()))?),
            _ => return Err(unlike()),
        };
        Ok(Self { allow, whom })
    }
}

/// Java's: a dot is a dot, `*` any text, `?` any character, and the rest is a regular expression.
fn compiled(pattern: &str) -> Result<Pattern, String> {
    let mut regex = String::with_capacity(pattern.len() + 8);
    for c in pattern.chars() {
        match c {
            '.' => regex.push_str("\\."),
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            c => regex.push(c),
        }
    }
    Pattern::compile(&regex, Flags::default()).map_err(|error| error.to_string())
}

fn fits(pattern: &Pattern, text: &str) -> bool {
    // A pattern that gives up on a text does not fit it; an empty one fits nothing, as in Java.
    !pattern.as_str().is_empty() && pattern.matches(text.as_bytes(), None).unwrap_or(false)
}

impl Rules {
    /// What the rules say of an address. `name` is what its name was found to be, once it was looked for.
    pub(super) fn judge(&self, ip: IpAddr, name: Option<&str>, local: Option<IpAddr>) -> Verdict {
        let ip = ip.to_canonical();
        let shown = local_host::shown(ip);
        for rule in &*self.0 {
            let hit = match (&rule.whom, name) {
                (Whom::Ip(pattern), _) => fits(pattern, &shown),
                (Whom::LocalHost, _) => ip == IpAddr::V4(Ipv4Addr::LOCALHOST) || local == Some(ip),
                (Whom::Name(pattern), Some(name)) => fits(pattern, name),
                (Whom::Name(_), None) => return Verdict::NeedsName,
            };
            if hit {
                return if rule.allow { Verdict::Allowed } else { Verdict::Denied };
            }
        }
        Verdict::Allowed
    }

    /// Whether a rule names this machine.
    pub(super) fn name_local_host(&self) -> bool {
        self.0.iter().any(|rule| matches!(rule.whom, Whom::LocalHost))
    }
}

/// The name of an address, or the address again where it has none. It may wait for a name server.
pub(super) fn name_of(ip: IpAddr) -> String {
    dns_lookup::lookup_addr(&ip.to_canonical()).unwrap_or_else(|_| local_host::shown(ip.to_canonical()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn verdict(rules: &str, ip: IpAddr) -> Verdict {
        Rules::parse(rules).unwrap().judge(ip, None, None)
    }

    #[test]
    fn rpc_20_rpc_21_rpc_22_the_first_rule_that_fits_decides() {
        for allowed in [
            "allow:name:localhost,deny:ip:*",
            "allow:ip:127*,deny:ip:*",
            "allow:ip:127.0.0.2,allow:ip:127*,deny:ip:*",
            "deny:ip:127.0.0.2,allow:ip:*,deny:ip:127.0.0.1",
            "allow:name:localhost",
            "deny:ip:10.*",
            "allow:ip:127.0.0.?, deny:ip:*",
            "deny:ip:,deny:ip:127x0x0x1",
        ] {
            assert_eq!(verdict(allowed, LOCAL), Verdict::Allowed, "{allowed}");
        }
        for denied in [
            "deny:ip:*",
            "deny:name:localhost",
            "deny:ip:127.0.0.1,allow:ip:*",
            "allow:ip:45.2.2.2,deny:ip:*",
            "deny:ip:127*,allow:ip:*",
            "deny:ip:127.0.0.[0-9]",
        ] {
            assert_eq!(verdict(denied, LOCAL), Verdict::Denied, "{denied}");
        }
    }

    #[test]
    fn rpc_23_rules_that_are_none_are_told() {
        for bad in [
            "",
            " ",
            "homer:ip:*",
            "allow:sleeps:*",
            "allow:ip",
            "Allow:ip:*",
            "allow:ip:*,",
            "deny:ip:[",
            ":",
        ] {
            assert!(Rules::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_looked_up_only_where_a_rule_needs_them() {
        let rules = Rules::parse("allow:ip:127.*,deny:name:*.example.org,allow:name:?.other").unwrap();
        let ip = IpAddr::from([10, 0, 0, 1]);
        assert_eq!(rules.judge(LOCAL, None, None), Verdict::Allowed);
        assert_eq!(rules.judge(ip, None, None), Verdict::NeedsName);
        assert_eq!(rules.judge(ip, Some("a.example.org"), None), Verdict::Denied);
        assert_eq!(rules.judge(ip, Some("aXexample.org"), None), Verdict::Allowed);
        let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
        assert_eq!(verdict("deny:ip:0:0:0:0:0:0:0:1", v6), Verdict::Denied, "as Java prints it");
        assert_eq!(verdict("deny:ip:127.0.0.1", "::ffff:127.0.0.1".parse().unwrap()), Verdict::Denied);
        let here = Rules::parse("deny:name:localhost").unwrap();
        assert!(here.name_local_host());
        assert_eq!(here.judge(ip, None, Some(ip)), Verdict::Denied);
    }
}
