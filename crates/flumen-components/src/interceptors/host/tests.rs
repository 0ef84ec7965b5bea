//! Address and name, and what becomes of headers that are there.

use super::super::tests::{events, headers, intercepted};
use super::*;

fn address() -> String {
    local_host::shown(local_host::address().unwrap())
}

#[test]
fn int_09_by_default_the_header_host_is_the_local_address() {
    let set = intercepted("host", &[], events(&[(&[], "b")]));
    assert_eq!(headers(&set), [format!("host={}", address())]);
    let asked = intercepted("host", &[("useIP", "true")], events(&[(&[], "b")]));
    assert_eq!(headers(&asked), headers(&set));
}

#[test]
fn int_10_the_header_can_have_another_name() {
    let set = intercepted("host", &[("hostHeader", "hostname")], events(&[(&[("host", "h")], "b")]));
    assert_eq!(headers(&set), [format!("host=h hostname={}", address())]);
}

#[test]
fn int_11_a_host_stays_only_with_preserve_existing() {
    let batch = || events(&[(&[("host", "elsewhere")], "b")]);
    assert_eq!(headers(&intercepted("host", &[("preserveExisting", "true")], batch())), ["host=elsewhere"]);
    assert_eq!(headers(&intercepted("host", &[], batch())), [format!("host={}", address())]);
}

#[test]
fn int_12_without_use_ip_the_header_is_the_canonical_name() {
    let set = intercepted("host", &[("useIP", "false")], events(&[(&[], "b")]));
    assert_eq!(headers(&set), [format!("host={}", local_host::canonical_name().unwrap())]);
}

#[test]
fn without_an_address_events_pass_as_they_are() {
    let config = HostConfig { use_ip: true, host_header: "host".to_owned(), preserve_existing: false };
    let unknown = Err(io::ErrorKind::NotFound.into());
    let mut batch = events(&[(&[("host", "h")], "b")]);
    HostInterceptor::new(config, unknown, "i").intercept(&mut batch).unwrap();
    assert_eq!(headers(&batch), ["host=h"]);
}
