//! Which channels a header's value chooses, and what is refused.

use super::*;
use flumen_core::{
    config::{Settings, read},
    event::{Batch, Headers},
};

fn selector(settings: &[(&str, &str)]) -> Result<MultiplexingSelector, BuildError> {
    let (config, problems) =
        read::<MultiplexingConfig>(&Settings::from_pairs("a.sources.r.selector", settings), &[]);
    assert!(problems.is_empty(), "{problems:?}");
    MultiplexingSelector::new(config.unwrap(), &["ch1", "ch2", "ch3"].map(str::to_owned))
}

/// The required and the optional channels of an event with this header value, by number.
fn route(selector: &MultiplexingSelector, value: Option<&str>) -> (Vec<usize>, Vec<usize>) {
    let mut batch = Batch::new();
    batch.push(Headers::from_iter(value.map(|value| ("myheader", value))), "");
    let route = selector.route(batch.get(0).unwrap());
    let numbers = |set: ChannelSet| set.iter().map(|channel| channel + 1).collect();
    (numbers(route.required), numbers(route.optional))
}

const MAPPINGS: &[(&str, &str)] = &[
    ("header", "myheader"),
    ("mapping.foo", "ch1 ch2"),
    ("mapping.bar", "ch2 ch3"),
    ("mapping.xyz", "ch1 ch2 ch3"),
    ("default", "ch1 ch3"),
];

#[test]
fn cps_26_a_mapped_value_chooses_its_channels() {
    let selector = selector(MAPPINGS).unwrap();
    assert_eq!(route(&selector, Some("foo")).0, [1, 2]);
    assert_eq!(route(&selector, Some("bar")).0, [2, 3]);
    assert_eq!(route(&selector, Some("xyz")).0, [1, 2, 3]);
}

#[test]
fn cps_27_what_is_required_is_not_optional() {
    let optional = [("optional.foo", "ch2 ch3"), ("optional.xyz", "ch1 ch3")];
    let selector = selector(&[&MAPPINGS[..4], &optional].concat()).unwrap();
    assert_eq!(route(&selector, Some("foo")).1, [3]);
    assert_eq!(route(&selector, Some("bar")).1, [0; 0]);
    assert_eq!(route(&selector, Some("xyz")).1, [0; 0]);
}

#[test]
fn cps_28_everything_else_goes_to_the_default() {
    let selector = selector(MAPPINGS).unwrap();
    for value in [None, Some("bar1"), Some(""), Some("FOO")] {
        assert_eq!(route(&selector, value), (vec![1, 3], vec![]), "{value:?}");
    }
}

#[test]
fn cps_29_an_optional_value_without_mapping_keeps_the_default() {
    let selector = selector(&[MAPPINGS, &[("optional.zebra", "ch1 ch2")]].concat()).unwrap();
    assert_eq!(route(&selector, Some("zebra")), (vec![1, 3], vec![2]));
}

#[test]
fn cps_30_without_a_default_an_unmapped_value_goes_nowhere() {
    let settings = [("header", "myheader"), ("mapping.zebra", "ch2"), ("optional.zebra", "ch1 ch3")];
    let selector = selector(&settings).unwrap();
    assert_eq!(route(&selector, Some("zebra")), (vec![2], vec![1, 3]));
    assert_eq!(route(&selector, Some("other")), (vec![], vec![]));
}

#[test]
fn cps_31_without_mappings_the_default_is_required_for_all() {
    let settings = [
        ("header", "myheader"),
        ("default", "ch3"),
        ("optional.foo", "ch1 ch2"),
        ("optional.zebra", "ch2 ch3"),
    ];
    let selector = selector(&settings).unwrap();
    assert_eq!(route(&selector, Some("foo")), (vec![3], vec![1, 2]));
    assert_eq!(route(&selector, Some("zebra")), (vec![3], vec![2]));
}

#[test]
fn channels_that_the_source_does_not_have_are_refused_by_name() {
    for (key, value) in [("mapping.x", "ch1 ch9"), ("optional.x", "ch9"), ("default", "ch9")] {
        let said = selector(&[(key, value)]).unwrap_err().to_string();
        assert!(said.contains(key) && said.contains("`ch9`") && said.contains("ch1 ch2 ch3"), "{said}");
    }
}

#[test]
fn what_is_both_required_and_optional_is_told() {
    let settings = [("mapping.x", "ch1"), ("optional.x", "ch1 ch2"), ("optional.y", "ch2")];
    let (config, _) = read::<MultiplexingConfig>(&Settings::from_pairs("s", &settings), &[]);
    let advice = MultiplexingSelector::advice(&config.unwrap(), &[]);
    assert_eq!(advice.len(), 1);
    assert!(advice[0].0 == "optional.x" && advice[0].1.contains("`ch1`"), "{advice:?}");
}
