use super::*;
#[test]
fn quick() {
    let p = Pattern::compile(r"\x{41}", Flags::CASE_INSENSITIVE).unwrap();
    println!("{:?} {:?}", p.fast, p.program);
    println!("{:?}", p.matches(b"a", None));
}
