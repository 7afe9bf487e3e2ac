//! Arguments of `config`.

/// Show, edit or check the configuration file
///
/// The file is TOML, and every key is optional. Options and environment variables override it. A mistake in it is reported
/// with its line, and the default of that key is used; commands that change sessions refuse to run if the mistake may
/// concern `roots`. Nothing in the file is run. docs/config.md describes all keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread config edit\n  \
    rethread config show\n  \
    rethread config check && echo fine\n  \
    rethread --config ~/work.toml config show --json")]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

/// The subcommand of `config`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print where the file is, which may not exist
    Path,
    /// List every key with its value and the source of the value
    Show,
    /// Open the file in $VISUAL or $EDITOR, and check it afterwards
    ///
    /// If the file does not exist, it is created with an explanation of every key.
    Edit,
    /// Report mistakes with their lines (exit code 1 if there are any)
    Check,
}
