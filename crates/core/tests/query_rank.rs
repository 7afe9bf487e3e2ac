//! Evaluation and ranking of queries, one case per script.

use rethread_core::entry::read_line;
use rethread_core::lines::LineSplitter;
use rethread_core::query::{
    CompiledQuery, EntryContext, Query, Scorer, SearchDoc, SearchDocBuilder, idf, length_class,
};
use rethread_testkit::script;

/// Calls `visit` with the query and the search documents of a script.
fn with_docs<T>(text: &str, query: &str, visit: impl FnOnce(&CompiledQuery, &[SearchDoc<'_>]) -> T) -> T {
    let query = Query::parse_with_times(query, &|_| None).expect("a query");
    let query = CompiledQuery::new(&query, false);
    let bytes = script::bytes(text);
    let mut builder = SearchDocBuilder::default();
    let mut docs = Vec::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read_line(&line, problems, |entry, _| docs.extend(builder.build_doc(&entry)));
    });
    visit(&query, &docs)
}

/// Returns for each document whether it matches.
fn evaluate(text: &str, query: &str) -> Vec<bool> {
    with_docs(text, query, |query, docs| {
        let matches = |doc| query.evaluate(doc, &EntryContext::default()).is_some();
        docs.iter().map(matches).collect()
    })
}

/// Returns the score of each document.
fn score(text: &str, query: &str) -> Vec<u32> {
    with_docs(text, query, |query, docs| {
        let term_matches: Vec<_> = docs.iter().map(|doc| query.match_terms(doc)).collect();
        let count = |term: usize| term_matches.iter().filter(|matches| matches[term].is_some()).count();
        let weights: Vec<f32> = (0..query.ranked_terms().len()).map(|term| idf(count(term))).collect();
        let scorer = Scorer::new(&weights);
        let scores = docs.iter().zip(&term_matches);
        scores.map(|(doc, matches)| scorer.score(matches, doc.sources, length_class(doc.len))).collect()
    })
}

#[test]
fn tool_field_matches_a_part_of_an_mcp_name() {
    let text = "u1: find it\n  a1: !mcp__github__search_code shed\n    a2: !Bash shed";
    let matches = |tool: &str| evaluate(text, &format!("tool:{tool}"));
    assert_eq!(matches("mcp__github__search_code"), [false, true, false]);
    assert_eq!(matches("GitHub"), [false, true, false]);
    assert_eq!(matches("search_code"), [false, true, false]);
    assert_eq!(matches("bash"), [false, false, true]);
    // Only whole parts count.
    assert_eq!(matches("git"), [false, false, false]);
    assert_eq!(matches("search"), [false, false, false]);
}

#[test]
fn file_field_matches_the_paths_of_a_call() {
    let call = |uuid: &str, input: &str| {
        format!(
            r#"raw: {{"type":"assistant","uuid":"{uuid}","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"t{uuid}","name":"Edit","input":{input}}}]}}}}"#
        )
    };
    let text = [
        call("a1", r#"{"file_path":"/home/ann/src/shed.rs","old_string":"rake.rs"}"#),
        call("a2", r#"{"notebook_path":"/home/ann/rake.ipynb"}"#),
        call("a3", r#"{"pattern":"shed","path":"/home/ann/docs"}"#),
    ]
    .join("\n");
    let matches = |file: &str| evaluate(&text, &format!("file:{file}"));
    assert_eq!(matches("src/SHED"), [true, false, false]);
    assert_eq!(matches("rake"), [false, true, false]);
    assert_eq!(matches("docs"), [false, false, true]);
    assert_eq!(matches("/home/ann"), [true, true, true]);
}

#[test]
fn result_belongs_to_the_tool_of_a_call_before_the_first_entry() {
    let bytes = script::bytes("u2: =a1 rake");
    let read_result = |prior_call: Option<&str>| {
        let mut builder = SearchDocBuilder::default();
        if let Some(id) = prior_call {
            builder.add_prior_call(rethread_core::id::Id::from_text(id.as_bytes()), "Bash");
        }
        let mut tools = Vec::new();
        LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
            read_line(&line, problems, |entry, _| {
                tools = builder.build_doc(&entry).expect("a document").tools;
            });
        });
        tools
    };
    let line = String::from_utf8(bytes.clone()).expect("text");
    let id = line.split("\"tool_use_id\":\"").nth(1).and_then(|rest| rest.split('"').next());
    assert_eq!(read_result(Some(id.expect("an id"))), ["Bash"]);
    assert_eq!(read_result(None), [] as [&str; 0]);
}

#[test]
fn prompts_rank_before_answers_and_answers_before_tools_and_results() {
    let text = "u1: shed\n  a1: shed\n    a2: ?shed\n      a3: !Bash shed\n        u2: =a3 shed\n          u3 meta: shed";
    let scores = score(text, "shed");
    let [prompt, answer, thinking, tool, result, meta] = scores[..] else { panic!("{scores:?}") };
    assert!(prompt > answer && answer > thinking, "{scores:?}");
    assert!(thinking == tool && tool > result && result == meta, "{scores:?}");
    // The difference is small: a better match counts more than the source.
    assert!(answer * 2 > prompt && result * 2 > prompt, "{scores:?}");
}

#[test]
fn rare_words_rank_before_common_ones() {
    let text = "u1: rake\n  u2: shed\n    u3: shed\n      u4: shed\n        u5: shed";
    let scores = score(text, "rake OR shed");
    assert!(scores[1..].iter().all(|&common| common == scores[1] && scores[0] > common), "{scores:?}");
}

#[test]
fn marks_of_an_excerpt_are_in_order_and_do_not_overlap() {
    let marked = |query: &str| {
        with_docs("u1: the rake and the rakes are in the shed", query, |query, docs| {
            let excerpt = query.build_excerpt(&docs[0]).expect("an excerpt");
            excerpt.marks.iter().map(|mark| excerpt.text[mark.clone()].to_owned()).collect::<Vec<_>>()
        })
    };
    assert_eq!(marked("shed rake"), ["rake", "rake", "shed"]);
    assert_eq!(marked("rake \"rakes are\" shed"), ["rake", "rakes are", "shed"]);
}

#[test]
fn excerpt_is_the_text_with_the_most_needles() {
    let excerpt = |text: &str, query: &str| {
        with_docs(text, query, |query, docs| {
            let excerpt = query.build_excerpt(docs.last()?)?;
            Some((excerpt.source.name(), excerpt.text))
        })
        .expect("an excerpt")
    };
    let text = "u1: go\n  a1: the shed | the rake is in the shed | a shed | !Bash ls rake shed";
    assert_eq!(excerpt(text, "shed rake"), ("answer", "the rake is in the shed".to_owned()));
    // The first of several texts with equally many needles.
    assert_eq!(excerpt(text, "shed"), ("answer", "the shed".to_owned()));
    assert_eq!(excerpt(text, "rake ls"), ("tool", "ls rake shed".to_owned()));
}
