//! The types of lines and of content blocks that clients were seen to write.

/// Makes an enum of names in the file: parsed from and shown as the very words.
macro_rules! names {
    ($(#[$doc:meta])* $enum:ident { $($(#[$vdoc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $($(#[$vdoc])* $variant,)*
            /// A name no measured client wrote; the text stands beside it.
            Unknown,
            /// No name at all; counted as `None`.
            Missing,
        }

        impl $enum {
            /// Every known one, in the order of this list.
            pub const KNOWN: &[$enum] = &[$($enum::$variant,)*];

            /// Finds the one that the file calls `name`.
            #[expect(non_upper_case_globals, reason = "the constants carry the names of the variants")]
            pub fn named(name: &[u8]) -> $enum {
                $(const $variant: &[u8] = $name.as_bytes();)*
                match name {
                    $($variant => $enum::$variant,)*
                    _ => $enum::Unknown,
                }
            }

            /// Returns the name in the file.
            pub fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)*
                    $enum::Unknown => "unknown",
                    $enum::Missing => "None",
                }
            }
        }
    };
}

names! {
    /// The `type` of a line.
    Kind {
        /// A prompt, a tool result, or what the client says in the user's name.
        User = "user",
        /// One or more blocks of a response.
        Assistant = "assistant",
        /// An event: see [`System`].
        System = "system",
        /// A running tool or hook; a link of the chain in 2.1.11 to 2.1.73.
        Progress = "progress",
        /// Context that the client adds; a link of the chain since 2.1.101.
        Attachment = "attachment",
        /// The title of the session that holds `leafUuid`, from whatever file.
        Summary = "summary",
        /// Which backups hold the files as they were at a prompt.
        FileHistorySnapshot = "file-history-snapshot",
        /// One file added to a snapshot.
        FileHistoryDelta = "file-history-delta",
        /// A title that the user gave.
        CustomTitle = "custom-title",
        /// A title that a model gave.
        AiTitle = "ai-title",
        /// The name of the session's agent; repeats the custom title.
        AgentName = "agent-name",
        /// The last prompt, and since 2.1.163 the entry that resume continues from.
        LastPrompt = "last-prompt",
        /// The input mode.
        Mode = "mode",
        /// The permission mode.
        PermissionMode = "permission-mode",
        /// A prompt or notification entering or leaving the queue.
        QueueOperation = "queue-operation",
        /// A pull request made in this session.
        PrLink = "pr-link",
        /// A remote-control connection.
        BridgeSession = "bridge-session",
        /// One request to the API: which messages were sent.
        ApiRequest = "api-request",
        /// A message of a request that the transcript does not hold.
        ApiRequestBlob = "api-request-blob",
        /// System prompt and tools of requests.
        ApiRequestShape = "api-request-shape",
        /// Running totals of the session.
        CostState = "cost-state",
        /// The tools used so far.
        ToolsUsed = "tools-used",
        /// An opaque state of the client.
        AtisLatch = "atis-latch",
        /// A page shown beside the session.
        FrameLink = "frame-link",
        /// Where a forked subagent's context ends in its parent.
        ForkContextRef = "fork-context-ref",
        /// A checkpoint as an early description of the format has it; never met in a real file.
        Snapshot = "snapshot",
    }
}

names! {
    /// The `subtype` of a system line.
    System {
        /// How long a turn took.
        TurnDuration = "turn_duration",
        /// What the stop hooks did.
        StopHookSummary = "stop_hook_summary",
        /// What happened while the user was away.
        AwaySummary = "away_summary",
        /// A slash command and its output.
        LocalCommand = "local_command",
        /// The context was compacted here.
        CompactBoundary = "compact_boundary",
        /// Old tool results were cleared here.
        MicrocompactBoundary = "microcompact_boundary",
        /// A request failed and was tried again.
        ApiError = "api_error",
        /// A notice.
        Informational = "informational",
        /// A remote-control connection changed.
        BridgeStatus = "bridge_status",
        /// A scheduled prompt fired.
        ScheduledTaskFire = "scheduled_task_fire",
    }
}

names! {
    /// The `data.type` of a progress line.
    Progress {
        /// Output of a running command.
        Bash = "bash_progress",
        /// A running hook.
        Hook = "hook_progress",
        /// A line of a running subagent.
        Agent = "agent_progress",
        /// A running MCP call.
        Mcp = "mcp_progress",
        /// Waiting for a background task.
        WaitingForTask = "waiting_for_task",
        /// A search query changed.
        QueryUpdate = "query_update",
        /// A search answered.
        SearchResultsReceived = "search_results_received",
    }
}

names! {
    /// The `attachment.type` of an attachment line.
    Attachment {
        /// A prompt typed while a tool ran: no user line holds it.
        QueuedCommand = "queued_command",
        /// The agents that may be called.
        AgentListingDelta = "agent_listing_delta",
        /// Auto mode was entered.
        AutoMode = "auto_mode",
        /// Auto mode was left.
        AutoModeExit = "auto_mode_exit",
        /// What a custom command may do.
        CommandPermissions = "command_permissions",
        /// A file kept by name over a compaction.
        CompactFileReference = "compact_file_reference",
        /// Today's date.
        Date = "date",
        /// The date changed.
        DateChange = "date_change",
        /// Tools that can be loaded.
        DeferredToolsDelta = "deferred_tools_delta",
        /// Tools that were loaded.
        DeferredToolsRecord = "deferred_tools_record",
        /// A file changed outside.
        EditedTextFile = "edited_text_file",
        /// The machine and the folder.
        Environment = "environment",
        /// A file in the context.
        File = "file",
        /// A hook added context.
        HookAdditionalContext = "hook_additional_context",
        /// A hook ran.
        HookSuccess = "hook_success",
        /// A hook spoke to the user.
        HookSystemMessage = "hook_system_message",
        /// Instructions of MCP servers.
        McpInstructionsDelta = "mcp_instructions_delta",
        /// Which model answers.
        Model = "model",
        /// A memory file of a subfolder.
        NestedMemory = "nested_memory",
        /// The plan file.
        PlanFileReference = "plan_file_reference",
        /// Plan mode was entered.
        PlanMode = "plan_mode",
        /// Plan mode was left.
        PlanModeExit = "plan_mode_exit",
        /// System prompt and tools.
        PromptSnapshot = "prompt_snapshot",
        /// A file was read in part.
        ReadTruncationNotice = "read_truncation_notice",
        /// How commits and pull requests are signed.
        RemoteSessionChange = "remote_session_change",
        /// Lines selected in an editor.
        SelectedLinesInIde = "selected_lines_in_ide",
        /// Context given by the host.
        SessionContext = "session_context",
        /// A turn went by without words.
        SilentTurnReminder = "silent_turn_reminder",
        /// The skills that may be used.
        SkillListing = "skill_listing",
        /// A reminder of the task list.
        TaskReminder = "task_reminder",
        /// A reminder of the to-do list.
        TodoReminder = "todo_reminder",
        /// How many tokens are left.
        TotalTokensReminder = "total_tokens_reminder",
    }
}

names! {
    /// The `type` of a content block.
    BlockKind {
        /// Words.
        Text = "text",
        /// Reasoning; newer models leave the text empty.
        Thinking = "thinking",
        /// Reasoning that is encrypted.
        RedactedThinking = "redacted_thinking",
        /// A call of a tool.
        ToolUse = "tool_use",
        /// A call of a tool that runs at the API.
        ServerToolUse = "server_tool_use",
        /// What a tool answered.
        ToolResult = "tool_result",
        /// A picture.
        Image = "image",
        /// A document.
        Document = "document",
        /// The name of a tool that was loaded.
        ToolReference = "tool_reference",
    }
}
