//! Tests that a short option means the same in every command.

use std::collections::BTreeSet;

use clap::CommandFactory;

use super::Args;

/// Every short option and the long option that it stands for, in all commands that have it.
const MEANINGS: [(char, &str); 15] = [
    ('a', "all"),
    ('b', "by"),
    ('d', "dry-run"),
    ('e', "regex"),
    ('f', "format"),
    ('h', "help"),
    ('l', "sessions"),
    ('n', "limit"),
    ('o', "output"),
    ('p', "preset"),
    ('q', "quiet"),
    ('s', "case-sensitive"),
    ('t', "turns"),
    ('V', "version"),
    ('y', "yes"),
];

/// Collects a command and all its subcommands.
fn collect_commands<'c>(
    command: &'c clap::Command,
    path: &str,
    found: &mut Vec<(String, &'c clap::Command)>,
) {
    let path = format!("{path} {}", command.get_name());
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        collect_commands(sub, &path, found);
    }
    found.push((path, command));
}

#[test]
fn a_short_option_means_the_same_in_every_command() {
    let mut root = Args::command();
    root.build();
    let mut commands = Vec::new();
    collect_commands(&root, "", &mut commands);
    assert!(commands.len() > 25, "{}", commands.len());
    let mut kinds = BTreeSet::new();
    for (path, command) in &commands {
        for arg in command.get_arguments() {
            let long = arg.get_long().unwrap_or_default();
            let shorts = arg.get_short_and_visible_aliases().unwrap_or_default();
            for short in &shorts {
                let meaning = MEANINGS.iter().find(|(letter, _)| letter == short);
                assert_eq!(meaning.map(|(_, long)| *long), Some(long), "`{path}` gives -{short} to --{long}");
                // The same letter takes a value everywhere or nowhere.
                kinds.insert((*short, arg.get_action().takes_values()));
            }
            // A command with the long option has the short one, too.
            if let Some((letter, _)) = MEANINGS.iter().find(|(_, meaning)| *meaning == long) {
                assert!(shorts.contains(letter), "`{path}` has --{long} without -{letter}");
            }
        }
    }
    for (letter, takes_value) in &kinds {
        assert!(!kinds.contains(&(*letter, !takes_value)), "-{letter} takes a value in some commands only");
    }
}
