//! What is wrong with a session, or with a whole store. Reads only.

mod retention;
mod session;
mod store;

pub use session::{Diagnosis, diagnose};
pub(crate) use session::{client_of, newest};
pub use store::{Beside, DoctorRequest, Round, StoreCode, StoreFinding, doctor};
