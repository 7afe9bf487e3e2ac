//! The style sheet and the script.

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::html::assets;
use crate::web::response;

/// Answers with a file of ours; its name changes with its bytes, so that browsers may keep it.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let found = [assets::style(), assets::script()].into_iter().find(|asset| asset.name == name);
    let Some(asset) = found else { return response::missing("there is no such file") };
    let mut response = response::typed(StatusCode::OK, asset.kind, asset.text);
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, forever);
    response
}
