//! Passwords: wiped when dropped, never printed, and spelled in the ways that key stores want them.

use std::fmt;

use zeroize::Zeroizing;

/// A password or another secret text. It is wiped from memory when dropped, and its `Debug` shows no character of it.
///
/// No password (`None` where an `Option<&Password>` is asked for) and the empty password are different things to a key
/// store: without one, nothing is checked and what is encrypted stays closed.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Takes the password as it is, blanks included.
    pub fn new(text: impl Into<String>) -> Password {
        Password(Zeroizing::new(text.into()))
    }

    /// The text, for handing it on. Do not log it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Two bytes a UTF-16 unit, big end first: what JKS and JCEKS hash.
    pub(crate) fn utf16_bytes(&self) -> Zeroizing<Vec<u8>> {
        // Room for all at once, so that no half-filled copy is left behind by growth.
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.0.len() * 2));
        bytes.extend(self.0.encode_utf16().flat_map(u16::to_be_bytes));
        bytes
    }

    /// As PKCS#12 derives keys (RFC 7292, B.1): UTF-16 with two closing zero bytes.
    pub(crate) fn bmp_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.0.len() * 2 + 2));
        bytes.extend(self.0.encode_utf16().flat_map(u16::to_be_bytes));
        bytes.extend([0, 0]);
        bytes
    }

    /// The bytes, where every one is printable ASCII; the JDK's own password ciphers take no others.
    pub(crate) fn ascii(&self) -> Option<&[u8]> {
        self.0.bytes().all(|byte| (0x20..0x7f).contains(&byte)).then_some(self.0.as_bytes())
    }
}

impl From<&str> for Password {
    fn from(text: &str) -> Password {
        Password::new(text)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_printed() {
        let password = Password::new("hunter2");
        assert_eq!(
            format!("{password:?} {:#?}", Some(&password)),
            "Password(***) Some(\n    Password(***),\n)"
        );
    }

    #[test]
    fn spellings() {
        let password = Password::new("aß😀");
        assert_eq!(*password.utf16_bytes(), [0, 0x61, 0, 0xdf, 0xd8, 0x3d, 0xde, 0]);
        assert_eq!(*password.bmp_bytes(), [0, 0x61, 0, 0xdf, 0xd8, 0x3d, 0xde, 0, 0, 0]);
        assert_eq!(password.ascii(), None);
        assert_eq!(Password::new("").ascii(), Some(&b""[..]));
        assert_eq!(Password::new("a\tb").ascii(), None);
        assert_eq!(Password::new("a b~").ascii(), Some(&b"a b~"[..]));
    }
}
