//! Runs `archive` as if some days had passed: `archive_growth ARCHIVE ROOT DAYS`. For `docs/bench/archive/run`.

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use rethread_engine::Roots;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::archive::{ArchiveLocation, update_archive};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, archive, root, days] = &args[..] else {
        return Err("usage: archive_growth ARCHIVE ROOT DAYS".into());
    };
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?;
    let now = Timestamp(now + days.parse::<i64>()? * DAY_MILLIS);
    let (id, name) = ("bench".to_owned(), "bench".to_owned());
    let location = ArchiveLocation { dir: archive.into(), machine_id: id, machine_name: name };
    update_archive(&location, &Roots { paths: vec![root.into()], ..Roots::default() }, &[], now)?;
    Ok(())
}
