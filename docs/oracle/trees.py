"""Generates random session files of few lines.

Every text occurs once in a file, so a sent message identifies its line.
"""
import json
import random
import uuid

# The order of both lists determines which session a seed gives.
COMMON_FEATURES = [
    "fork", "pin", "rewound_pin", "nil_pin", "system", "local_command", "attachment", "queued_prompt", "progress", "meta",
    "api_error", "tool_call", "parallel_calls", "unpaired_call", "unpaired_result", "compaction", "preserved_messages",
    "sidechain", "repeated_line", "repeated_uuid", "missing_parent", "swapped_lines", "several_roots", "unordered_timestamps",
    "equal_timestamps", "missing_timestamp", "empty_content", "split_response", "thinking", "same_role_twice", "summary",
    "unanswered_prompt", "two_text_blocks", "blank_text"]
ALL_FEATURES = COMMON_FEATURES + [
    "fork", "fork", "unordered_timestamps", "tool_call", "parallel_calls", "cycle", "boundary_with_parent",
    "summary_without_boundary", "microcompaction", "image", "slash_command", "invalid_timestamp", "missing_fields",
    "self_parent", "prompt_below_sidechain", "text_with_call"]
DAMAGE = ("missing_timestamp", "invalid_timestamp", "self_parent", "cycle", "image", "blank_text")
# Features that add lines. The others change how lines are linked, dated or ordered.
LINE_FEATURES = (
    "tool_call", "parallel_calls", "unpaired_call", "unpaired_result", "system", "local_command", "attachment",
    "queued_prompt", "progress", "meta", "api_error", "compaction", "preserved_messages", "sidechain", "repeated_line",
    "repeated_uuid", "split_response", "thinking", "same_role_twice", "pin", "rewound_pin", "nil_pin", "summary",
    "empty_content", "two_text_blocks", "blank_text", "boundary_with_parent", "summary_without_boundary",
    "microcompaction", "image", "slash_command", "missing_fields", "prompt_below_sidechain", "text_with_call")
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def generate_session(seed):
    """Returns the lines of a random session and the names of its features.

    There are three families. Seeds below 1000 give short files with few features. Seeds below 3000 give files with many
    features, including damage. Larger seeds give longer files without damage.
    """
    rng = random.Random(seed)
    if seed < 1000:
        features, step_range = rng.sample(COMMON_FEATURES, rng.randint(1, 5)), (5, 16)
    else:
        features, step_range = rng.sample(ALL_FEATURES, rng.randint(2, 8)), (3, 24)
    if seed >= 3000:
        undamaged = [feature for feature in ALL_FEATURES if feature not in DAMAGE]
        features, step_range = rng.sample(undamaged, rng.randint(3, 8)) + ["fork"], (12, 40)
    generator = SessionGenerator(rng, set(features))
    for _ in range(rng.randint(*step_range)):
        generator.step()
    return generator.finish(), sorted(set(features))


def to_bytes(lines):
    return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)


class SessionGenerator:
    """Generates a session line by line.

    `lines` are the lines of the file, `nodes` those with a uuid, and `tip` is the uuid of the default parent. A method
    `add_<feature>` adds the lines of a feature; its argument `last` is the line of the tip.
    """

    def __init__(self, rng, features):
        self.rng, self.features = rng, features
        self.lines, self.nodes, self.seconds, self.node_count = [], [], 0, 0
        self.tip = None
        self.session = str(uuid.UUID(int=rng.getrandbits(128), version=4))

    def draw(self, feature, probability):
        """Returns whether the session has the feature and a random draw succeeds."""
        return feature in self.features and self.rng.random() < probability

    def new_uuid(self):
        self.node_count += 1
        return str(uuid.UUID(int=(self.node_count << 96) + self.rng.getrandbits(64), version=4))

    def unknown_uuid(self):
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def new_timestamp(self):
        self.seconds += 0 if self.draw("equal_timestamps", 0.4) else self.rng.randint(1, 50)
        seconds = self.seconds
        if self.draw("invalid_timestamp", 0.1):
            return self.rng.choice(["", "yesterday", "2026-11-14 10:05:00"])
        if self.draw("unordered_timestamps", 0.3):
            seconds = self.rng.randint(0, 600)
        return f"2026-11-14T{10 + seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000Z"

    def choose_parent(self):
        if self.draw("missing_parent", 0.06):
            return self.unknown_uuid()
        if self.draw("several_roots", 0.08):
            return None
        if self.nodes and self.draw("fork", 0.25):
            return self.rng.choice(self.nodes)["uuid"]
        return self.tip

    def add_node(self, kind, parent=..., **fields):
        if parent is ...:
            parent = self.choose_parent()
        line = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/ann/garden",
                "sessionId": self.session, "version": "2.1.325", "gitBranch": "main", "type": kind, "uuid": self.new_uuid()}
        line.update(fields)
        if "timestamp" not in line:
            line["timestamp"] = self.new_timestamp()
        if self.draw("missing_timestamp", 0.1):
            del line["timestamp"]
        self.lines.append(line)
        self.nodes.append(line)
        self.tip = line["uuid"]
        return line

    def add_user(self, content=None, **fields):
        line = self.add_node("user", message={"role": "user", "content": content}, **fields)
        if content is None:
            text = f"u{self.node_count}"
            line["message"]["content"] = text if self.rng.random() < 0.6 else [{"type": "text", "text": text}]
        return line

    def add_assistant(self, content=None, message_id=None, stop="end_turn", **fields):
        line = self.add_node("assistant", message={}, **fields)
        line["message"] = {"id": message_id or f"msg_{self.node_count:04d}", "type": "message", "role": "assistant",
                           "model": "claude-sonnet-4-5",
                           "content": content or [{"type": "text", "text": f"a{self.node_count}"}], "stop_reason": stop,
                           "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        return line

    def add_boundary(self, trigger="manual", **fields):
        return self.add_node("system", subtype="compact_boundary", content="Conversation compacted", isMeta=False, level="info",
                             logicalParentUuid=self.tip, compactMetadata={"trigger": trigger, "preTokens": 1000}, **fields)

    def add_compact_summary(self, boundary):
        return self.add_user(parent=boundary["uuid"], isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def tool_use(self, call_id):
        return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "echo " + call_id}}

    def tool_result(self, call_id):
        return {"type": "tool_result", "tool_use_id": call_id, "content": "out " + call_id}

    def step(self):
        """Adds a message or the lines of a random feature of the session."""
        if not self.nodes:
            return self.add_user(parent=None)
        last = next(node for node in reversed(self.nodes) if node["uuid"] == self.tip)
        kinds = ["message"] * 4 + [feature for feature in LINE_FEATURES if feature in self.features]
        return getattr(self, "add_" + self.rng.choice(kinds))(last)

    def add_message(self, last):
        if last["type"] == "assistant" or last["type"] != "user" and self.rng.random() < 0.5:
            return self.add_user()
        return self.add_assistant()

    def add_same_role_twice(self, last):
        return self.add_user() if last["type"] == "user" else self.add_assistant()

    def add_tool_call(self, last):
        call_id = f"toolu_{self.node_count}"
        self.add_assistant([self.tool_use(call_id)], stop="tool_use")
        if self.draw("fork", 0.1):
            self.add_user()
        self.add_user([self.tool_result(call_id)])

    def add_parallel_calls(self, last):
        rng, message_id = self.rng, f"msg_P{self.node_count}"
        call_lines, call_ids = [], []
        if rng.random() < 0.5:
            self.add_assistant(message_id=message_id, stop="tool_use")
        for _ in range(rng.randint(2, 3)):
            call_id = f"toolu_{self.node_count}"
            parent = ... if not call_lines or rng.random() < 0.8 else call_lines[0]["parentUuid"]
            call_lines.append(self.add_assistant([self.tool_use(call_id)], message_id, "tool_use", parent=parent))
            call_ids.append(call_id)
        order = list(range(len(call_lines)))
        if rng.random() < 0.5:
            rng.shuffle(order)
        for idx in order:
            if rng.random() < 0.1:
                continue
            if rng.random() < 0.8:
                self.add_user([self.tool_result(call_ids[idx])], parent=call_lines[idx]["uuid"])
            else:
                self.add_user([self.tool_result(call_ids[idx])])
            if rng.random() < 0.15:
                self.add_node("attachment", attachment={"type": "date", "date": "2026-11-14"})
        if rng.random() < 0.8:
            self.add_assistant()

    def add_unpaired_call(self, last):
        call_id = f"toolu_{self.node_count}"
        content = [self.tool_use(call_id)]
        if self.rng.random() < 0.3:
            content = [{"type": "text", "text": f"a{self.node_count}o"}] + content
        self.add_assistant(content, stop="tool_use")

    def add_unpaired_result(self, last):
        content = [self.tool_result(f"toolu_x{self.node_count}")]
        if self.rng.random() < 0.3:
            content.append({"type": "text", "text": f"u{self.node_count}o"})
        self.add_user(content)

    def add_two_text_blocks(self, last):
        blocks = [{"type": "text", "text": f"m{self.node_count}{suffix}"} for suffix in "xy"]
        self.add_user(blocks) if last["type"] != "user" else self.add_assistant(blocks)

    def add_system(self, last):
        subtype = self.rng.choice(["informational", "turn_duration", "stop_hook_summary", "api_error"])
        self.add_node("system", subtype=subtype, content=f"s{self.node_count}", isMeta=False, level="info")

    def add_local_command(self, last):
        tag = self.rng.choice(["<command-name>/x</command-name>", "<local-command-stdout>y</local-command-stdout>"])
        self.add_node("system", subtype="local_command", isMeta=False, level="info", content=f"{tag} l{self.node_count}")

    def add_attachment(self, last):
        kind = self.rng.choice(["date", "hook_success", "edited_text_file", "critical_system_reminder", "todo"])
        body = {"date": {"date": "2026-11-14"},
                "hook_success": {"hookName": "Stop", "hookEvent": "Stop", "content": "", "toolUseID": "t"},
                "edited_text_file": {"filename": "/tmp/x", "snippet": "1 y"}, "critical_system_reminder": {"content": "z"},
                "todo": {"content": [], "itemCount": 0, "context": "x"}}[kind]
        self.add_node("attachment", attachment={"type": kind, **body})

    def add_queued_prompt(self, last):
        self.add_node("attachment", attachment={"type": "queued_command", "prompt": f"k{self.node_count}", "commandMode": "prompt"})

    def add_progress(self, last):
        self.add_node("progress", data={"type": "hook_progress", "hookEvent": "Stop", "hookName": "x", "command": "y"},
                      toolUseID="t", parentToolUseID="t")

    def add_meta(self, last):
        text = self.rng.choice(["<local-command-caveat>c</local-command-caveat>", "note"])
        self.add_user(f"{text} u{self.node_count}", isMeta=True)

    def add_blank_text(self, last):
        text = self.rng.choice(["", " ", "\n\n", "(no content)", "No response requested.", "[Request interrupted by user]"])
        if last["type"] == "user":
            self.add_assistant([{"type": "text", "text": text}])
        else:
            self.add_user(text if self.rng.random() < 0.5 else [{"type": "text", "text": text}])

    def add_api_error(self, last):
        line = self.add_assistant(isApiErrorMessage=True)
        line["message"]["model"] = "<synthetic>"
        line["message"]["content"][0]["text"] = f"API Error: a{self.node_count}"

    def add_empty_content(self, last):
        if last["type"] == "user":
            self.add_assistant()["message"]["content"] = []
        else:
            self.add_user([])

    def add_thinking(self, last):
        form = self.rng.random()
        message_id = f"msg_T{self.node_count}"
        thinking = {"type": "thinking", "thinking": f"t{self.node_count}", "signature": "c2ln"}
        if form < 0.4:
            self.add_assistant([thinking], message_id)
            if self.rng.random() < 0.6:
                self.add_assistant(message_id=message_id)
        elif form < 0.7:
            self.add_assistant([thinking, {"type": "text", "text": f"a{self.node_count}t"}], message_id)
        else:
            self.add_assistant([{"type": "text", "text": f"a{self.node_count}t"}, thinking], message_id)

    def add_split_response(self, last):
        message_id = f"msg_C{self.node_count}"
        first = self.add_assistant(message_id=message_id)
        for _ in range(self.rng.randint(1, 2)):
            if self.rng.random() < 0.5:
                self.add_assistant(message_id=message_id, parent=first["parentUuid"])
            else:
                self.add_assistant(message_id=message_id)

    def add_compaction(self, last):
        boundary = self.add_boundary(parent=None)
        if self.rng.random() < 0.9:
            self.add_compact_summary(boundary)
        return boundary

    def add_preserved_messages(self, last):
        rng = self.rng
        has_messages = any(node["type"] in ("user", "assistant") for node in self.nodes)
        by_uuid = {node["uuid"]: node for node in self.nodes}
        chain, current = [], self.tip
        while current in by_uuid and len(chain) < 4 and by_uuid[current] not in chain:
            chain.append(by_uuid[current])
            current = by_uuid[current]["parentUuid"]
        chain = [node for node in chain if node["type"] in ("user", "assistant")][:rng.randint(1, 3)][::-1]
        boundary = self.add_boundary(parent=None)
        summary = self.add_compact_summary(boundary)
        if chain and has_messages:
            anchor = summary if rng.random() < 0.7 else boundary
            metadata = boundary["compactMetadata"]
            form = rng.random()
            if form < 0.7:
                metadata["preservedSegment"] = {"headUuid": chain[0]["uuid"], "anchorUuid": anchor["uuid"],
                                                "tailUuid": chain[-1]["uuid"]}
            if form > 0.3:
                uuids = [node["uuid"] for node in chain]
                metadata["preservedMessages"] = {"anchorUuid": anchor["uuid"], "uuids": uuids, "allUuids": uuids}

    def add_sidechain(self, last):
        tip = self.tip
        parent = None if self.rng.random() < 0.7 else tip
        for idx in range(self.rng.randint(1, 2)):
            line = (self.add_user if idx == 0 else self.add_assistant)(parent=parent, isSidechain=True)
            parent = line["uuid"]
        if self.rng.random() < 0.8:
            self.tip = tip

    def add_repeated_line(self, last):
        self.lines.append(self.rng.choice(self.nodes))

    def add_repeated_uuid(self, last):
        line = json.loads(json.dumps(self.rng.choice(self.nodes)))
        if line["type"] == "user":
            line["message"]["content"] = f"again u{self.node_count}"
        elif line["type"] == "assistant":
            line["message"]["content"] = [{"type": "text", "text": f"again a{self.node_count}"}]
        if self.rng.random() < 0.3 and self.tip != line["uuid"]:
            line["parentUuid"] = self.rng.choice(self.nodes)["uuid"]
            if self.is_cyclic(line):
                line["parentUuid"] = None
        if self.rng.random() < 0.5:
            line["timestamp"] = self.new_timestamp()
        self.lines.append(line)
        self.nodes.append(line)
        self.node_count += 1

    def is_cyclic(self, line):
        """Returns whether the parents of `line` would form a cycle if it replaced the node with its uuid."""
        by_uuid = {node["uuid"]: node for node in self.nodes}
        by_uuid[line["uuid"]] = line
        visited, current = set(), line["uuid"]
        while current in by_uuid:
            if current in visited:
                return True
            visited.add(current)
            current = by_uuid[current]["parentUuid"]
        return False

    def add_pin(self, last):
        fields = {"explicit": True} if self.rng.random() < 0.2 else {}
        leaf = self.rng.choice(self.nodes)["uuid"] if self.rng.random() < 0.6 else self.tip
        if self.rng.random() < 0.05:
            leaf = self.unknown_uuid()
        self.lines.append({"type": "last-prompt", "lastPrompt": "q", "leafUuid": leaf, "sessionId": self.session, **fields})

    def add_rewound_pin(self, last):
        self.lines.append({"type": "last-prompt", "lastPrompt": "q", "leafUuid": self.rng.choice(self.nodes)["uuid"],
                           "explicit": True, "rewound": True, "sessionId": self.session})

    def add_nil_pin(self, last):
        self.lines.append({"type": "last-prompt", "leafUuid": "00000000-0000-0000-0000-000000000000", "explicit": True,
                           "sessionId": self.session})

    def add_boundary_with_parent(self, last):
        self.add_compact_summary(self.add_boundary("auto"))

    def add_summary_without_boundary(self, last):
        self.add_user(parent=None, isCompactSummary=True)

    def add_microcompaction(self, last):
        self.add_node("system", subtype="microcompact_boundary", content="Context microcompacted", isMeta=False, level="info",
                      microcompactMetadata={"trigger": "auto", "preTokens": 1000, "tokensSaved": 10})

    def add_image(self, last):
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        self.add_user([image] if self.rng.random() < 0.5 else [{"type": "text", "text": f"u{self.node_count}i"}, image])

    def add_slash_command(self, last):
        self.add_user(f"<command-name>/x</command-name> u{self.node_count}")
        if self.rng.random() < 0.6:
            self.add_user(f"<local-command-stdout>y</local-command-stdout> u{self.node_count}")

    def add_missing_fields(self, last):
        line = self.add_user()
        for key in self.rng.sample(["isSidechain", "userType", "cwd", "version", "gitBranch"], 3):
            del line[key]

    def add_prompt_below_sidechain(self, last):
        answer = self.add_assistant(isSidechain=True)
        self.add_user(parent=answer["uuid"])

    def add_text_with_call(self, last):
        text = {"type": "text", "text": f"a{self.node_count}b"}
        self.add_assistant([text, self.tool_use(f"toolu_{self.node_count}")], stop="tool_use")
        self.add_user([self.tool_result(f"toolu_{self.node_count - 1}"), {"type": "text", "text": f"u{self.node_count}b"}])

    def add_summary(self, last):
        self.lines.append({"type": "summary", "summary": "x", "leafUuid": self.rng.choice(self.nodes)["uuid"]})

    def finish(self):
        """Applies the features that change the whole file and returns its lines."""
        if "swapped_lines" in self.features:
            for _ in range(self.rng.randint(1, 3)):
                idx = self.rng.randrange(max(1, len(self.lines) - 1))
                self.lines[idx:idx + 2] = self.lines[idx:idx + 2][::-1]
        if self.draw("cycle", 0.3):
            self.rng.choice(self.nodes)["parentUuid"] = self.rng.choice(self.nodes)["uuid"]
        if self.draw("self_parent", 0.3):
            line = self.rng.choice(self.nodes)
            line["parentUuid"] = line["uuid"]
        if "unanswered_prompt" in self.features:
            self.add_user()
        return self.lines
