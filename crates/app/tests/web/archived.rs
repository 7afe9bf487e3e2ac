//! Pages of sessions that only the archive has.
#![expect(clippy::disallowed_methods, reason = "the test deletes the session that it archived")]

use rethread_testkit::web_server::WebServer;

use crate::fixtures::{self, SessionFixture};
use crate::markup::check_markup;

#[test]
fn an_archived_session_is_listed_opened_and_offers_its_restore() {
    let home = fixtures::new_three_session_home();
    let gone = SessionFixture { id: "0009", prompts: &["prune the roses"], ..SessionFixture::default() };
    gone.write(&home);
    assert_eq!(home.run(&["archive"]).code, 0);
    std::fs::remove_file(home.path().join(format!(".claude/projects/-code/{}.jsonl", gone.key()))).unwrap();
    let server = WebServer::start(home);
    let list = server.get_body("/sessions?title=roses");
    assert!(list.contains("prune the roses") && list.contains(">archived<"), "{list}");
    assert_eq!(check_markup(&list), Ok(()));
    let page = server.get_body(&format!("/s/{}", gone.key()));
    assert_eq!(check_markup(&page), Ok(()));
    for text in ["an answer", "Only the archive has this session", "Restore in terminal", "rethread restore "]
    {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("Resume in terminal") && !page.contains("data-action=\"rename\""));
    let hits = server.get_body("/search?q=roses");
    assert!(hits.contains("prune the roses"), "{hits}");
    let rename = server.post(&format!("/s/{}/action/rename", gone.key()), "title=other");
    assert!(!rename.body.contains("Undo"), "{}", rename.body);
}
