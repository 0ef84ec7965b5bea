//! What recovery decided and no data file says yet, as records in a file of their own: written before damage is settled, so
//! that a crash in between changes no answer.

use super::{LogSettings, files};
use crate::{
    data_file::{Meta, highest_number, meta_name},
    disk::{Disk, Mode, write_whole},
    record::{self, Of, Stamp},
    replay::{Fact, Recovered},
};
use std::io;

/// Takes in one transaction.
const TAKES_AT_ONCE: usize = 10_000;

/// What was written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) transactions: u64,
    pub(super) records: u64,
}

/// Writes the facts to a new data file of the first directory. They claim no more to be durable than was found: what is not
/// settled yet would be taken for lost, if this is all that survives.
pub(super) fn write(disk: &dyn Disk, settings: &LogSettings, recovered: &Recovered) -> io::Result<Written> {
    let mut written = Written::default();
    if recovered.facts.is_empty() {
        return Ok(written);
    }
    let mut out = Vec::new();
    let next = |written: &mut Written| {
        written.records += 1;
        recovered.order + written.records
    };
    for fact in &recovered.facts {
        match fact {
            Fact::Commit { transaction, of, records } => {
                let stamp = Stamp { transaction: *transaction, order: next(&mut written) };
                record::commit(&mut out, stamp, *of, records + 1, recovered.watermark);
            }
            Fact::Takes(places) => {
                for places in places.chunks(TAKES_AT_ONCE) {
                    written.transactions += 1;
                    let transaction = recovered.transaction + written.transactions;
                    for place in places {
                        let order = next(&mut written);
                        record::take(&mut out, Stamp { transaction, order }, *place);
                    }
                    let stamp = Stamp { transaction, order: next(&mut written) };
                    record::commit(&mut out, stamp, Of::Takes, places.len() as u32 + 1, recovered.watermark);
                }
            }
        }
    }
    let Some(dir) = settings.data_dirs.first() else { return Ok(written) };
    let file = highest_number(disk, &settings.data_dirs)?.max(recovered.file) + 1;
    let mut encryption = None;
    if let Some(keys) = &settings.encryption {
        let (made, cipher) = keys.encryption_for_new(file)?;
        out = cipher.encrypt_records(0, &out);
        encryption = Some(made);
    }
    let data = disk.open(&files::path(dir, file), Mode::Create)?;
    data.sync()?;
    let meta = dir.join(meta_name(file));
    write_whole(disk, &meta, &meta.with_extension("meta.tmp"), &Meta::new(file, encryption).encode())?;
    data.write_at(0, &out)?;
    data.sync()?;
    disk.sync_dir(dir)?;
    Ok(written)
}
