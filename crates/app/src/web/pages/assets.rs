//! The style sheet and the script.

use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::html::assets;
use crate::web::response;

/// Responds with the style sheet or the script. Its name changes with its bytes, so browsers may cache it.
pub(crate) async fn file(Path(name): Path<String>) -> Response {
    let asset = [assets::style(), assets::script()].into_iter().find(|asset| asset.name == name);
    let Some(asset) = asset else { return response::not_found("there is no such file") };
    let mut response = response::build(StatusCode::OK, asset.media_type, asset.text);
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, forever);
    response
}
