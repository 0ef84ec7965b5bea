//! Secret keys of JCEKS files: a serialized `SealedObject` whose encrypted content is a serialized key.

use zeroize::Zeroizing;

use super::serial::{self, SerialError};
use super::unlock_md5_triple_des;
use crate::pbe::Scheme;
use crate::store::rubbish;
use crate::{KeyError, Password, SecretKey, StoreError};

const CIPHER: &str = "PBEWithMD5AndTripleDES";

/// A sealed object, still sealed.
pub(crate) struct SealedObject {
    cipher: String,
    parameters: Vec<u8>,
    content: Vec<u8>,
}

impl SealedObject {
    /// Reads the object at the front; also gives the number of bytes it took.
    pub(super) fn read(bytes: &[u8]) -> Result<(SealedObject, usize), StoreError> {
        let (object, n_bytes) = serial::read(bytes).map_err(|error| match error {
            SerialError::Cut => StoreError::CutShort,
            SerialError::UnknownClass(name) => {
                StoreError::Malformed(format!("a secret key of class {name:?}"))
            }
            SerialError::Bad(what) => StoreError::Malformed(format!("a secret key: {what}")),
        })?;
        let sealed = (|| {
            matches!(
                &*object.class,
                "com.sun.crypto.provider.SealedObjectForKeyProtector" | "javax.crypto.SealedObject"
            )
            .then_some(())?;
            Some(SealedObject {
                cipher: object.text("sealAlg")?.to_owned(),
                parameters: object.bytes("encodedParams")?.to_vec(),
                content: object.bytes("encryptedContent")?.to_vec(),
            })
        })();
        let sealed =
            sealed.ok_or_else(|| StoreError::Malformed("a secret key that is not sealed".to_owned()))?;
        Ok((sealed, n_bytes))
    }

    /// Unlocks the key.
    pub(crate) fn unseal(&self, password: &Password) -> Result<SecretKey, KeyError> {
        if self.cipher != CIPHER {
            return Err(KeyError::UnsupportedAlgorithm(format!("the cipher {:?}", self.cipher)));
        }
        let scheme = Scheme::md5_triple_des(&self.parameters)?;
        let plain = unlock_md5_triple_des(&scheme, &self.content, password)?;
        key(&plain).map_err(rubbish)
    }
}

/// A serialized `SecretKeySpec`, or the `KeyRep` that stands for keys of other classes.
fn key(plain: &[u8]) -> Result<SecretKey, KeyError> {
    let (object, _) = serial::read(plain).map_err(|error| match error {
        SerialError::Cut => KeyError::Malformed("it ends too early".to_owned()),
        SerialError::UnknownClass(name) => KeyError::UnsupportedAlgorithm(format!("the key class {name:?}")),
        SerialError::Bad(what) => KeyError::Malformed(what.to_owned()),
    })?;
    let parts = match &*object.class {
        "javax.crypto.spec.SecretKeySpec" => object.text("algorithm").zip(object.bytes("key")),
        "java.security.KeyRep"
            if object.constant("type") == Some("SECRET") && object.text("format") == Some("RAW") =>
        {
            object.text("algorithm").zip(object.bytes("encoded"))
        }
        _ => None,
    };
    let (algorithm, bytes) = parts.ok_or_else(|| KeyError::Malformed("no secret key is in it".to_owned()))?;
    Ok(SecretKey::new(algorithm.to_owned(), Zeroizing::new(bytes.to_vec())))
}
