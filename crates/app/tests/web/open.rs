//! `serve --open`: a page on disk signs in one browser, once, and no secret is on a command line.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rethread_testkit::wait::wait_for;
use rethread_testkit::web_server::WebServer;

use crate::fixtures;

/// Starts a server that opens a browser, and returns it with the path of the page.
fn start_and_open() -> (WebServer, PathBuf) {
    let server = WebServer::start_and_open(fixtures::new_three_session_home());
    let path = PathBuf::from(server.wait_for_opened_page());
    (server, path)
}

/// Returns the path and query of the address to which the page leads.
fn find_target(page: &str, server: &WebServer) -> String {
    let address = page.split("content=\"0;url=").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    address.strip_prefix(&format!("http://127.0.0.1:{}", server.port())).unwrap().to_owned()
}

fn permissions(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_browser_is_signed_in_once_by_a_private_page() {
    let (server, path) = start_and_open();
    assert!(path.starts_with(server.home().path().join(".local/state/rethread")), "{}", path.display());
    let args = path.to_str().unwrap();
    assert!(!args.contains(server.key()) && !args.contains(&server.prefix()[1..]), "{args}");
    assert_eq!((permissions(&path), permissions(path.parent().unwrap())), (0o600, 0o700));
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("no-referrer") && !page.contains("<script"), "{page}");
    let target = find_target(&page, &server);
    let code = target.split_once("code=").unwrap().1;
    assert!(!page.contains(server.key()) && !args.contains(code), "{page}");

    let open = |cookie: &str| server.request_path("GET", &target, &[("Cookie", cookie)], "");
    let response = open("");
    assert_eq!(response.status, 200, "{}", response.body);
    assert!(response.body.contains(&format!("content=\"0;url={}/\"", server.prefix())), "{}", response.body);
    let cookie = response.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap();
    assert!(!cookie.contains(code), "the code is not the cookie");
    assert_eq!(server.get_with_headers("/", &[("Cookie", cookie)]).status, 200);
    wait_for("the deletion of the page", || (!path.exists()).then_some(()));

    assert_eq!(open(cookie).status, 200, "the signed-in browser may reload the address");
    let refused = open("");
    assert_eq!((refused.status, refused.header("set-cookie")), (403, None));
    assert!(refused.body.contains("This address was used before"), "{}", refused.body);
    assert!(refused.body.contains("--new-key"), "the visitor learns what to do: {}", refused.body);
    let err = server.wait_for_err("--new-key");
    assert!(err.contains("opened twice"), "{err}");
}

#[test]
fn a_page_that_is_not_opened_is_reported_with_the_address() {
    let (server, path) = start_and_open();
    let err = server.wait_for_err("hint:");
    assert!(err.contains("the browser has not opened the page") && err.contains("sandbox"), "{err}");
    let address = format!("http://127.0.0.1:{}{}/?key={}", server.port(), server.prefix(), server.key());
    assert!(err.contains(&format!("hint: open this address: {address}\n")), "{err}");
    // A slow browser is still signed in.
    let target = find_target(&std::fs::read_to_string(&path).unwrap(), &server);
    assert_eq!(server.request_path("GET", &target, &[("Cookie", "")], "").status, 200);
    wait_for("the deletion of the page", || (!path.exists()).then_some(()));
}

#[test]
fn stopping_the_server_deletes_the_page() {
    for signal in ["INT", "TERM"] {
        let (mut server, path) = start_and_open();
        assert!(path.exists(), "{signal}");
        server.stop(signal);
        assert!(!path.exists(), "{signal}");
    }
}
