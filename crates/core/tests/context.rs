//! The content of a context: tokens add up, whether they were counted or estimated.

use proptest::prelude::*;
use rethread_core::context::{
    Attribution, AttributionItem, ContextCollector, ContextHistory, ContextWindow, DropReason, ItemKind,
    RequestItems, apportion, attribute_tokens,
};
use rethread_core::entry;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{ResumeIndex, active_path};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{random, script};

struct LoadedFile {
    tree: Tree,
    resume_index: ResumeIndex,
    collector: ContextCollector,
}

fn load(file: &[u8]) -> LoadedFile {
    let (mut builder, mut resume_index, mut collector) =
        (TreeBuilder::default(), ResumeIndex::default(), ContextCollector::default());
    LineSplitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
            resume_index.add_entry(&entry, span);
            collector.add(&entry, span);
        });
    });
    LoadedFile { tree: builder.finish(), resume_index, collector }
}

impl LoadedFile {
    /// Computes the history and the window as the newest client loads the file.
    fn context(&self) -> (ContextHistory, ContextWindow) {
        let client = Version::parse_lenient("2.1.325");
        let (leaf, path) = match active_path(&self.tree, &self.resume_index, &client) {
            Some((leaf, path)) => (Some(leaf), path),
            None => (None, Vec::new()),
        };
        let ancestors = leaf.map(|leaf| self.tree.ancestors_across_compactions(leaf)).unwrap_or_default();
        let path_with_calls: Vec<NodeId> =
            self.tree.with_parallel_calls(&ancestors).into_iter().map(|step| step.node).collect();
        let history = ContextHistory::new(&self.tree, &self.collector, &path_with_calls);
        let window = ContextWindow::new(&self.tree, &self.collector, &path, &history);
        (history, window)
    }
}

/// Formats a window, one cause per line, and the drops of the context size.
fn format_context(text: &str) -> String {
    let loaded = load(&script::bytes(text));
    let (history, window) = loaded.context();
    let mut lines = vec![format!(
        "{:?} sent, {:?} answered, {} since, {} used",
        window.context,
        window.output,
        window.since,
        window.used_tokens()
    )];
    for total in window.totals_by_cause(&loaded.collector) {
        let mark = if total.measured == total.tokens { "" } else { "~" };
        lines.push(format!("{} {}: {} {mark}{}", total.cause.name(), total.name, total.items, total.tokens));
    }
    for drop in &history.drops {
        let reason = match &drop.reason {
            DropReason::Compacted(_) => "compacted",
            DropReason::Cleared => "cleared",
            DropReason::Unexplained => "unexplained",
        };
        lines.push(format!("{reason} at {}: {:?} to {:?}", drop.sample_idx, drop.before, drop.after));
    }
    for read in window.repeated_reads(&loaded.collector) {
        lines.push(format!("{} read {} times, {} again", read.path, read.reads, read.repeats));
    }
    lines.join("\n")
}

#[test]
fn counted_tokens_are_attributed_to_blocks() {
    let session = "
        u1: tidy the shed
          a1 in=5000 out=80: !Bash ls shed
            u2: =a1 rake hose spade barrow and a great many small things that nobody has looked at for years
              a2 in=100 read=5010 out=20: all there
    ";
    insta::assert_snapshot!(format_context(session), @"
    Some(5110) sent, (20, true) answered, 0 since, 5130 used
    client : 0 ~4996
    call : 1 80
    result Bash: 1 30
    answer : 1 20
    prompt : 1 ~4
    ");
}

#[test]
fn uncounted_tokens_are_estimated() {
    let without_counts = "
        u1: tidy the shed
          a1 in=0 out=0: !Bash ls shed
            u2: =a1 rake hose spade
              a2 in=0 out=0: all there
    ";
    insta::assert_snapshot!(format_context(without_counts), @"
    None sent, (0, false) answered, 88 since, 88 used
    call : 1 ~62
    result Bash: 1 ~19
    prompt : 1 ~4
    answer : 1 ~3
    ");
    let waiting = "
        u1: tidy the shed
          a1 in=5000 out=80: !Bash ls shed
            u2: =a1 rake hose spade
    ";
    insta::assert_snapshot!(format_context(waiting), @"
    Some(5000) sent, (80, true) answered, 19 since, 5099 used
    client : 0 ~4996
    call : 1 80
    result Bash: 1 ~19
    prompt : 1 ~4
    ");
}

#[test]
fn unrecorded_tokens_are_separate() {
    let session = "
        u1: tidy the shed
          a1 in=5000 out=80: !Bash ls shed
            u2: =a1 rake
              a2 in=9000 out=20: all there
    ";
    insta::assert_snapshot!(format_context(session), @"
    Some(9000) sent, (20, true) answered, 0 since, 9020 used
    client : 0 ~4996
    unrecorded : 0 ~3888
    call : 1 80
    result Bash: 1 ~32
    answer : 1 20
    prompt : 1 ~4
    ");
}

#[test]
fn window_starts_at_the_last_compaction() {
    let compacted = "
        u1: tidy the shed
          a1 in=50000 out=80: all there
            s1: compact_boundary
              u5 recap: the shed was tidied
                u6: go on
                  a6 in=6000 out=30: done
    ";
    insta::assert_snapshot!(format_context(compacted), @"
    Some(6000) sent, (30, true) answered, 0 since, 6030 used
    client : 0 ~5992
    answer : 1 30
    summary : 1 ~6
    prompt : 1 ~2
    compacted at 1: Some(1000) to Some(6000)
    ");
    let without_response = "
        u1: tidy the shed
          a1 in=50000 out=80: all there
            s1: compact_boundary
              u5 recap: the shed was tidied
    ";
    insta::assert_snapshot!(format_context(without_response), @"
    None sent, (0, false) answered, 6 since, 50002 used
    client : 0 ~49996
    summary : 1 ~6
    compacted at 1: Some(1000) to None
    ");
}

#[test]
fn unexplained_drops_are_detected() {
    let session = "
        u1: tidy the shed
          a1 in=50000 out=200: ?long thoughts about a shed | !Bash ls shed
            u2: =a1 rake hose spade barrow
              a2 in=50400 out=300: ?and more of them | all there
                u3: and now the garden
                  a3 in=40000 out=30: yes
    ";
    insta::assert_snapshot!(format_context(session), @"
    Some(40000) sent, (30, true) answered, 0 since, 40030 used
    client : 0 ~39602
    call : 1 ~141
    unrecorded : 0 ~124
    answer : 2 ~119
    result Bash: 1 ~35
    prompt : 2 ~9
    unexplained at 2: Some(50400) to Some(40000)
    ");
}

#[test]
fn oldest_results_are_reduced_first_within_a_turn() {
    let long = "many words ".repeat(300);
    let cleared = format!(
        "u1: look\n  a1 in=20000 out=60: !Bash one\n    u2: =a1 {long}\n      a2 in=21150 out=60: !Grep two\n        \
         u3: =a2 {long}\n          a3 in=21000 out=30: seen"
    );
    // The second result is estimated at 1,100 tokens, and yet the request became smaller: the first one must
    // be cleared.
    insta::assert_snapshot!(format_context(&cleared), @"
    Some(21000) sent, (30, true) answered, 0 since, 21030 used
    client : 0 ~19998
    result Grep: 1 ~880
    call : 2 120
    answer : 1 30
    prompt : 1 ~2
    ");
}

#[test]
fn repeated_lines_are_reported_and_pages_are_not() {
    let read = |id: u32, lines: &str| {
        format!(
            r#"{{"type":"tool_use","id":"t{id}","name":"Read","input":{{"file_path":"/shed.txt"{lines}}}}}"#
        )
    };
    let answer = |id: u32| format!(r#"{{"type":"tool_result","tool_use_id":"t{id}","content":"rake"}}"#);
    let session = format!(
        "u1: look\n  a1: {}\n    u2: {}\n      a2: {}\n        u3: {}\n          a3: {}\n            u4: {}",
        read(1, r#","offset":1,"limit":50"#),
        answer(1),
        read(2, r#","offset":51,"limit":50"#),
        answer(2),
        read(3, ""),
        answer(3),
    );
    let text = format_context(&session);
    assert!(text.ends_with("/shed.txt read 3 times, 1 again"), "{text}");
}

/// Visiting all earlier items for each request would take 10^11 steps.
#[test]
fn session_with_many_shrinking_requests_is_attributed() {
    let kinds = [ItemKind::Prompt, ItemKind::Thinking, ItemKind::Result, ItemKind::Other];
    let count = 200_000;
    let items: Vec<AttributionItem> =
        (0..count).map(|idx| AttributionItem { estimate: 50, kind: kinds[idx / 2 % 4] }).collect();
    let request = |idx: usize| RequestItems {
        new_items: vec![2 * idx],
        context: Some(if idx.is_multiple_of(2) { 200_000 } else { 150_000 }),
        response_items: vec![2 * idx + 1],
        output: Some(20),
    };
    let requests: Vec<RequestItems> = (0..count / 2).map(request).collect();
    assert_eq!(attribute_tokens(&items, &requests, &[], 0).total(), 150_020);
}

fn item() -> impl Strategy<Value = AttributionItem> {
    let kind =
        prop::sample::select(vec![ItemKind::Thinking, ItemKind::Result, ItemKind::Prompt, ItemKind::Other]);
    (prop_oneof![0u64..50, 0u64..100_000], kind)
        .prop_map(|(estimate, kind)| AttributionItem { estimate, kind })
}

/// Generates requests: the number of new items, the count, the number of response items, their count.
fn requests() -> impl Strategy<Value = Vec<(usize, Option<u64>, usize, Option<u64>)>> {
    let count = || prop::option::of(prop_oneof![0u64..100, 0u64..300_000]);
    prop::collection::vec((0usize..4, count(), 0usize..3, count()), 0..8)
}

/// Assigns items to requests in order.
fn assign_items(
    items: &[AttributionItem],
    shapes: &[(usize, Option<u64>, usize, Option<u64>)],
) -> (Vec<RequestItems>, Vec<usize>) {
    let mut idxs = 0..items.len();
    let mut take = |count: usize| idxs.by_ref().take(count).collect::<Vec<usize>>();
    let requests = shapes.iter().map(|&(new_count, context, response_count, output)| RequestItems {
        new_items: take(new_count),
        context,
        response_items: take(response_count),
        output,
    });
    let requests = requests.collect();
    (requests, take(usize::MAX))
}

/// Returns the sum that all tokens must add up to: the last count and the estimates since.
fn expected_total(items: &[AttributionItem], requests: &[RequestItems], since: &[usize], client: u64) -> u64 {
    let sum_estimates = |idxs: &[usize]| idxs.iter().map(|&idx| items[idx].estimate).sum::<u64>();
    let response_tokens =
        |request: &RequestItems| request.output.unwrap_or_else(|| sum_estimates(&request.response_items));
    let mut total = None;
    for request in requests {
        let estimated = total.map(|total: u64| total + sum_estimates(&request.new_items));
        let sent = request.context.or(estimated);
        total = Some(sent.unwrap_or(client + sum_estimates(&request.new_items)) + response_tokens(request));
    }
    total.unwrap_or(client) + sum_estimates(since)
}

proptest! {
    #[test]
    fn apportioned_parts_add_up(amount in any::<u64>(),
        weights in prop::collection::vec(prop_oneof![Just(0), 0u64..1 << 40], 1..20),) {
        let parts = apportion(amount, &weights);
        prop_assert_eq!(parts.iter().map(|&part| u128::from(part)).sum::<u128>(), u128::from(amount));
        if weights.iter().any(|&weight| weight > 0) {
            for (part, weight) in parts.iter().zip(&weights) {
                prop_assert!(*weight > 0 || *part == 0);
            }
        }
    }

    #[test]
    fn attributed_tokens_add_up_to_the_counts(
        items in prop::collection::vec(item(), 0..40),
        shapes in requests(),
        client in 0u64..50_000,
    ) {
        let (requests, since) = assign_items(&items, &shapes);
        let has_count = requests.iter().any(|request| request.context.is_some());
        let Attribution { tokens, measured, client: client_tokens, unrecorded } = attribute_tokens(&items, &requests, &since, client);
        let sum = client_tokens + unrecorded + tokens.iter().sum::<u64>();
        prop_assert_eq!(sum, expected_total(&items, &requests, &since, if has_count { 0 } else { client }));
        // Items since the last count keep their estimate.
        prop_assert!(since.iter().all(|&idx| !measured[idx] && tokens[idx] == items[idx].estimate));
    }

    #[test]
    fn window_tokens_add_up_for_any_file(file in random::file()) {
        let loaded = load(&file);
        let (history, window) = loaded.context();
        let expected = match window.context {
            Some(sent) => sent + window.output.0 + window.since,
            None => window.client + window.since,
        };
        prop_assert_eq!(window.used_tokens(), expected);
        prop_assert_eq!(window.totals_by_cause(&loaded.collector).iter().map(|total| total.tokens).sum::<u64>(), expected);
        prop_assert!(history.samples.len() <= loaded.collector.count_responses(&loaded.tree) + loaded.tree.message_count());
        prop_assert!(history.drops.iter().all(|drop| drop.sample_idx <= history.samples.len()));
    }
}
