//! Whose turn it is.

use super::*;
use flumen_core::{
    config::{Settings, read},
    event::{Batch, Headers},
    registry::{Environment, ExtraMetrics, Registry},
    world::SetClock,
};
use std::sync::Arc;

fn selector(settings: &[(&str, &str)]) -> LoadBalancingSelector {
    let (config, problems) = read(&Settings::from_pairs("a.sources.r.selector", settings), &[]);
    assert!(problems.is_empty(), "{problems:?}");
    let context = BuildContext {
        agent: "a".into(),
        name: "r".into(),
        clock: Arc::new(SetClock::default()),
        seed: 7,
        environment: Arc::new(Environment::default()),
        registry: Arc::new(Registry::new()),
        extra: ExtraMetrics::default(),
    };
    let channels = ["ch1", "ch2", "ch3", "ch4"].map(str::to_owned);
    LoadBalancingSelector::build(config.unwrap(), &channels, &context).unwrap()
}

fn turns(selector: &LoadBalancingSelector, n: usize) -> Vec<usize> {
    let mut batch = Batch::new();
    batch.push(Headers::new(), "");
    let route = |_| {
        let route = selector.route(batch.get(0).unwrap());
        assert!(route.optional.is_empty() && route.required.len() == 1);
        route.required.iter().next().unwrap()
    };
    (0..n).map(route).collect()
}

#[test]
fn cps_25_channels_take_turns_and_none_is_optional() {
    assert_eq!(turns(&selector(&[]), 6), [0, 1, 2, 3, 0, 1]);
    assert_eq!(turns(&selector(&[("policy", "round_robin")]), 4), [0, 1, 2, 3]);
}

#[test]
fn random_gives_every_channel_its_share() {
    let turns = turns(&selector(&[("policy", "random")]), 4_000);
    for channel in 0..4 {
        let share = turns.iter().filter(|turn| **turn == channel).count();
        assert!((800..1_200).contains(&share), "channel {channel} got {share} of 4000");
    }
}
