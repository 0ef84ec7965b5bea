//! Which channels are required and which optional, and what is refused.

use super::*;
use flumen_core::config::{Settings, read};

fn names(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

fn route(optional: &[(&str, &str)]) -> Result<Route, BuildError> {
    let (config, problems) =
        read::<ReplicatingConfig>(&Settings::from_pairs("a.sources.r.selector", optional), &[]);
    assert!(problems.is_empty(), "{problems:?}");
    let selector = ReplicatingSelector::new(&names("ch1 ch2 ch3 ch4"), &config.unwrap().optional)?;
    Ok(selector.fixed().expect("it never depends on the event"))
}

fn places(set: ChannelSet) -> Vec<usize> {
    set.iter().collect()
}

#[test]
fn cps_33_without_settings_all_channels_are_required_in_order() {
    let route = route(&[]).unwrap();
    assert_eq!(places(route.required), [0, 1, 2, 3]);
    assert!(route.optional.is_empty());
}

#[test]
fn cps_34_what_is_listed_as_optional_is_not_required() {
    let one = route(&[("optional", "ch1")]).unwrap();
    assert_eq!((places(one.required), places(one.optional)), (vec![1, 2, 3], vec![0]));
    let two = route(&[("optional", "ch1 ch4")]).unwrap();
    assert_eq!((places(two.required), places(two.optional)), (vec![1, 2], vec![0, 3]));
}

#[test]
fn an_optional_channel_may_be_named_twice_and_all_may_be_optional() {
    let route = route(&[("optional", "ch1 ch2  ch3 ch4 ch1")]).unwrap();
    assert!(route.required.is_empty());
    assert_eq!(route.optional.len(), 4);
}

#[test]
fn an_optional_channel_that_the_source_does_not_have_is_refused_by_name() {
    let said = route(&[("optional", "ch1 ch9")]).unwrap_err().to_string();
    assert!(said.contains("`ch9`") && said.contains("ch1 ch2 ch3 ch4"), "{said}");
}
