//! What is wrong with a session, or with a whole store. Reads only.

mod retention;
mod session;
mod store;

pub use session::{SessionReport, diagnose};
pub(crate) use session::{client_of, newest};
pub use store::{DoctorRequest, SideFileSizes, StoreCode, StoreFinding, StoreReport, doctor};
