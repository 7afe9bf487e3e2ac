//! Checks a session or a whole store for damage. Writes nothing.

mod session;
mod store;

pub use session::{ReachableEntries, SessionReport, check_session};
pub(super) use session::{check_file, find_problems};
pub(crate) use session::{newest_client, writing_client};
pub use store::{DoctorRequest, SideFileSizes, StoreCode, StoreFinding, StoreReport, check_store};
