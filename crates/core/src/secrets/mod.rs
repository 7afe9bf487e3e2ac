//! Finds credentials in any text of a session and replaces them.
//!
//! ```text
//! bytes ──anchors──▶ candidates ──pattern, checksum, key, randomness──▶ SecretMatch ──TokenTable──▶ Redactor
//!                        └──decode: JSON in JSON, addresses, base64 ───▶
//! ```
//!
//! The bytes are searched as they are. Only around an anchor are escapes decoded, and positions lead back to the
//! original, so a text without anchors costs one pass.

mod anchors;
mod assignment;
mod check;
mod context;
mod decode;
mod detector;
mod detectors;
mod layout;
mod redact;
mod scan;
mod special;
mod value;

pub use context::{mask_context, secret_fingerprint};
pub use detector::{Detector, SecretSeverity};
pub use detectors::{DETECTORS, find_detector};
pub use layout::Place;
pub use redact::{RedactOptions, Redactor, Replacement, TokenTable, find_secrets_in_line};
pub use scan::{SecretMatch, find_secrets};
