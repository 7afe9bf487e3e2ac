//! What fills a context: parts that add up, whatever was counted and whatever was not.

use proptest::prelude::*;
use rethread_core::context::{
    Attribution, AttributionItem, ContextCollector, ContextHistory, Dropped, ItemKind, Request, Window,
    apportion, attribute_tokens,
};
use rethread_core::entry;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{ResumeIndex, active_path};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{random, script};

struct Known {
    tree: Tree,
    facts: ResumeIndex,
    weigher: ContextCollector,
}

fn know(file: &[u8]) -> Known {
    let (mut weaver, mut facts, mut weigher) =
        (TreeBuilder::default(), ResumeIndex::default(), ContextCollector::default());
    LineSplitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read(&line, problems, |entry, offset| {
            let place = LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            weaver.add(&entry, place);
            facts.add(&entry, place);
            weigher.add(&entry, place);
        });
    });
    Known { tree: weaver.finish(), facts, weigher }
}

impl Known {
    /// Follows what the newest client loads.
    fn context(&self) -> (ContextHistory, Window) {
        let client = Version::read("2.1.325");
        let (leaf, path) = match active_path(&self.tree, &self.facts, &client) {
            Some((leaf, path)) => (Some(leaf), path),
            None => (None, Vec::new()),
        };
        let walk = leaf.map(|leaf| self.tree.ancestors_across_compactions(leaf)).unwrap_or_default();
        let way: Vec<NodeId> =
            self.tree.with_parallel_calls(&walk).into_iter().map(|step| step.node).collect();
        let curve = ContextHistory::of(&self.tree, &self.weigher, &way);
        let window = Window::of(&self.tree, &self.weigher, &path, &curve);
        (curve, window)
    }
}

/// Says what a window holds, one cause to a line, and where the context dropped.
fn told(text: &str) -> String {
    let known = know(&script::bytes(text));
    let (curve, window) = known.context();
    let mut lines = vec![format!(
        "{:?} sent, {:?} answered, {} since, {} used",
        window.context,
        window.output,
        window.since,
        window.used()
    )];
    for row in window.rows(&known.weigher) {
        let sign = if row.measured == row.tokens { "" } else { "~" };
        lines.push(format!("{} {}: {} {sign}{}", row.cause.name(), row.name, row.items, row.tokens));
    }
    for drop in &curve.drops {
        let how = match &drop.how {
            Dropped::Compacted(_) => "compacted",
            Dropped::Cleared => "cleared",
            Dropped::Unsaid => "unsaid",
        };
        lines.push(format!("{how} at {}: {:?} to {:?}", drop.at, drop.before, drop.after));
    }
    for reread in window.rereads(&known.weigher) {
        lines.push(format!("{} read {} times, {} again", reread.path, reread.reads, reread.repeats));
    }
    lines.join("\n")
}

#[test]
fn what_is_counted_is_shared_out() {
    let simple = "
        u1: tidy the shed
          a1 in=5000 out=80: !Bash ls shed
            u2: =a1 rake hose spade barrow and a great many small things that nobody has looked at for years
              a2 in=100 read=5010 out=20: all there
    ";
    insta::assert_snapshot!(told(simple), @"
    Some(5110) sent, (20, true) answered, 0 since, 5130 used
    client : 0 ~4996
    call : 1 80
    result Bash: 1 30
    answer : 1 20
    prompt : 1 ~4
    ");
}

#[test]
fn what_was_not_counted_is_judged() {
    let silent = "
        u1: tidy the shed
          a1 in=0 out=0: !Bash ls shed
            u2: =a1 rake hose spade
              a2 in=0 out=0: all there
    ";
    insta::assert_snapshot!(told(silent), @"
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
    insta::assert_snapshot!(told(waiting), @"
    Some(5000) sent, (80, true) answered, 19 since, 5099 used
    client : 0 ~4996
    call : 1 80
    result Bash: 1 ~19
    prompt : 1 ~4
    ");
}

#[test]
fn what_the_file_does_not_hold_is_told_apart() {
    let reminded = "
        u1: tidy the shed
          a1 in=5000 out=80: !Bash ls shed
            u2: =a1 rake
              a2 in=9000 out=20: all there
    ";
    insta::assert_snapshot!(told(reminded), @"
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
fn a_window_begins_anew_with_a_compaction() {
    let compacted = "
        u1: tidy the shed
          a1 in=50000 out=80: all there
            s1: compact_boundary
              u5 recap: the shed was tidied
                u6: go on
                  a6 in=6000 out=30: done
    ";
    insta::assert_snapshot!(told(compacted), @"
    Some(6000) sent, (30, true) answered, 0 since, 6030 used
    client : 0 ~5992
    answer : 1 30
    summary : 1 ~6
    prompt : 1 ~2
    compacted at 1: Some(1000) to Some(6000)
    ");
    let quiet = "
        u1: tidy the shed
          a1 in=50000 out=80: all there
            s1: compact_boundary
              u5 recap: the shed was tidied
    ";
    insta::assert_snapshot!(told(quiet), @"
    None sent, (0, false) answered, 6 since, 50002 used
    client : 0 ~49996
    summary : 1 ~6
    compacted at 1: Some(1000) to None
    ");
}

#[test]
fn a_drop_that_no_line_tells_of_is_told() {
    let dropped = "
        u1: tidy the shed
          a1 in=50000 out=200: ?long thoughts about a shed | !Bash ls shed
            u2: =a1 rake hose spade barrow
              a2 in=50400 out=300: ?and more of them | all there
                u3: and now the garden
                  a3 in=40000 out=30: yes
    ";
    insta::assert_snapshot!(told(dropped), @"
    Some(40000) sent, (30, true) answered, 0 since, 40030 used
    client : 0 ~39602
    call : 1 ~141
    unrecorded : 0 ~124
    answer : 2 ~119
    result Bash: 1 ~35
    prompt : 2 ~9
    unsaid at 2: Some(50400) to Some(40000)
    ");
}

#[test]
fn within_a_turn_the_oldest_results_go_first() {
    let long = "many words ".repeat(300);
    let cleared = format!(
        "u1: look\n  a1 in=20000 out=60: !Bash one\n    u2: =a1 {long}\n      a2 in=21150 out=60: !Grep two\n        \
         u3: =a2 {long}\n          a3 in=21000 out=30: seen"
    );
    // The second result is judged to be some 1,100 tokens, and yet less was sent than before: the first one must have left.
    insta::assert_snapshot!(told(&cleared), @"
    Some(21000) sent, (30, true) answered, 0 since, 21030 used
    client : 0 ~19998
    result Grep: 1 ~880
    call : 2 120
    answer : 1 30
    prompt : 1 ~2
    ");
}

#[test]
fn lines_read_twice_are_told_and_pages_are_not() {
    let read = |no: u32, lines: &str| {
        format!(
            r#"{{"type":"tool_use","id":"t{no}","name":"Read","input":{{"file_path":"/shed.txt"{lines}}}}}"#
        )
    };
    let answer = |no: u32| format!(r#"{{"type":"tool_result","tool_use_id":"t{no}","content":"rake"}}"#);
    let session = format!(
        "u1: look\n  a1: {}\n    u2: {}\n      a2: {}\n        u3: {}\n          a3: {}\n            u4: {}",
        read(1, r#","offset":1,"limit":50"#),
        answer(1),
        read(2, r#","offset":51,"limit":50"#),
        answer(2),
        read(3, ""),
        answer(3),
    );
    let said = told(&session);
    assert!(said.ends_with("/shed.txt read 3 times, 1 again"), "{said}");
}

fn parcel() -> impl Strategy<Value = AttributionItem> {
    let is =
        prop::sample::select(vec![ItemKind::Thinking, ItemKind::Result, ItemKind::Prompt, ItemKind::Other]);
    (prop_oneof![0u64..50, 0u64..100_000], is).prop_map(|(estimate, is)| AttributionItem { estimate, is })
}

/// Requests with what stands between them: how many parcels come in, what was counted, how many are answered, their count.
fn requests() -> impl Strategy<Value = Vec<(usize, Option<u64>, usize, Option<u64>)>> {
    let count = || prop::option::of(prop_oneof![0u64..100, 0u64..300_000]);
    prop::collection::vec((0usize..4, count(), 0usize..3, count()), 0..8)
}

/// Gives out parcels by number, one after another.
fn numbered(
    parcels: &[AttributionItem],
    shapes: &[(usize, Option<u64>, usize, Option<u64>)],
) -> (Vec<Request>, Vec<usize>) {
    let mut numbers = 0..parcels.len();
    let mut take = |most: usize| numbers.by_ref().take(most).collect::<Vec<usize>>();
    let requests = shapes.iter().map(|&(before, context, answer, output)| Request {
        before: take(before),
        context,
        answer: take(answer),
        output,
    });
    let requests = requests.collect();
    (requests, take(usize::MAX))
}

/// What all parts must add up to: the last count, and what came since.
fn whole(parcels: &[AttributionItem], requests: &[Request], since: &[usize], client: u64) -> u64 {
    let judged = |numbers: &[usize]| numbers.iter().map(|&no| parcels[no].estimate).sum::<u64>();
    let answered = |request: &Request| request.output.unwrap_or_else(|| judged(&request.answer));
    let mut whole = None;
    for request in requests {
        let came = whole.map(|whole: u64| whole + judged(&request.before));
        let sent = request.context.or(came);
        whole = Some(sent.unwrap_or(client + judged(&request.before)) + answered(request));
    }
    whole.unwrap_or(client) + judged(since)
}

proptest! {
    #[test]
    fn shares_add_up(amount in any::<u64>(),
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
    fn parts_add_up_to_what_was_counted(
        parcels in prop::collection::vec(parcel(), 0..40),
        shapes in requests(),
        client in 0u64..50_000,
    ) {
        let (requests, since) = numbered(&parcels, &shapes);
        let counted = requests.iter().any(|request| request.context.is_some());
        let Attribution { tokens, measured, client: own, unrecorded } = attribute_tokens(&parcels, &requests, &since, client);
        let sum = own + unrecorded + tokens.iter().sum::<u64>();
        prop_assert_eq!(sum, whole(&parcels, &requests, &since, if counted { 0 } else { client }));
        // What came since the last count was never counted.
        prop_assert!(since.iter().all(|&no| !measured[no] && tokens[no] == parcels[no].estimate));
    }

    #[test]
    fn windows_of_any_file_add_up(file in random::file()) {
        let known = know(&file);
        let (curve, window) = known.context();
        let whole = match window.context {
            Some(sent) => sent + window.output.0 + window.since,
            None => window.client + window.since,
        };
        prop_assert_eq!(window.used(), whole);
        prop_assert_eq!(window.rows(&known.weigher).iter().map(|row| row.tokens).sum::<u64>(), whole);
        prop_assert!(curve.points.len() <= known.weigher.responses(&known.tree) + known.tree.messages());
        prop_assert!(curve.drops.iter().all(|drop| drop.at <= curve.points.len()));
    }
}
