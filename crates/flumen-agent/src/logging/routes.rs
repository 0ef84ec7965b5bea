//! Which appenders a line goes to: those of its logger, of the loggers above it, and of the root, as log4j has it.

use super::levels::is_below;
use tracing::level_filters::LevelFilter;

/// An appender by its place in the list, and the least serious level that goes there.
pub(super) type To = (usize, LevelFilter);

/// A logger with appenders of its own.
#[derive(Debug, Clone)]
pub(super) struct Route {
    /// What the targets of its lines begin with.
    pub(super) targets: Vec<String>,
    pub(super) to: Vec<To>,
    /// Whether its lines go to the loggers above it too (log4j's additivity).
    pub(super) additive: bool,
}

/// All loggers with appenders of their own, and the root.
#[derive(Debug, Clone)]
pub(super) struct Routes {
    root: Vec<To>,
    /// The innermost first.
    own: Vec<Route>,
}

impl Routes {
    /// The root's appenders, and those of loggers by their names.
    pub(super) fn new(root: Vec<To>, mut own: Vec<(String, Route)>) -> Self {
        // Of the loggers that one line has, each is above the other: the longest name is the innermost.
        own.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Self { root, own: own.into_iter().map(|(_, route)| route).collect() }
    }

    /// Everything to these.
    pub(super) fn all(to: Vec<To>) -> Self {
        Self { root: to, own: Vec::new() }
    }

    /// Where a line of this target goes; twice to an appender that both a logger and one above it name, as in log4j.
    pub(super) fn of<'a>(&'a self, target: &'a str) -> impl Iterator<Item = To> + 'a {
        let mut ended = false;
        let own = self
            .own
            .iter()
            .filter(move |route| route.targets.iter().any(|start| is_below(target, start)))
            .take_while(move |route| {
                let goes_on = !ended;
                ended |= !route.additive;
                goes_on
            });
        let cut = self
            .own
            .iter()
            .any(|route| !route.additive && route.targets.iter().any(|start| is_below(target, start)));
        let root = if cut { &[][..] } else { &self.root };
        own.flat_map(|route| &route.to).chain(root).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(target: &str, to: usize, additive: bool) -> (String, Route) {
        let to = vec![(to, LevelFilter::TRACE)];
        (target.to_owned(), Route { targets: vec![target.to_owned()], to, additive })
    }

    fn places(routes: &Routes, target: &str) -> Vec<usize> {
        routes.of(target).map(|(to, _)| to).collect()
    }

    #[test]
    fn a_line_climbs_from_its_logger_to_the_root_until_one_keeps_it() {
        let own =
            vec![route("a", 1, true), route("a.b", 2, false), route("a.b.c", 3, true), route("z", 0, true)];
        let routes = Routes::new(vec![(0, LevelFilter::TRACE)], own);
        for (target, want) in
            [("a.b.c.d", &[3, 2][..]), ("a.b.x", &[2]), ("a.x", &[1, 0]), ("ab", &[0]), ("z", &[0, 0])]
        {
            assert_eq!(places(&routes, target), want, "{target}");
        }
        assert_eq!(places(&Routes::all(vec![(4, LevelFilter::INFO)]), "a"), [4]);
    }
}
