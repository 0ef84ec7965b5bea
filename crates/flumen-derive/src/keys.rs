//! Names of fields as Flume spells keys.

/// `connect_timeout` becomes `connectTimeout`.
pub(crate) fn camel_case(field: &str) -> String {
    let mut key = String::with_capacity(field.len());
    let mut upper = false;
    for c in field.trim_matches('_').chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                key.extend(c.to_uppercase());
                upper = false;
            }
            c => key.push(c),
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::camel_case;

    #[test]
    fn fields_become_camel_case_keys() {
        assert_eq!(camel_case("connect_timeout"), "connectTimeout");
        assert_eq!(camel_case("port"), "port");
        assert_eq!(camel_case("max_io_workers_"), "maxIoWorkers");
        assert_eq!(camel_case("utf_8"), "utf8");
    }
}
