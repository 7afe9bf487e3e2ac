"""Random session files of few lines: every text is said once, so what was sent can be told line by line."""
import json
import random
import uuid

ODD = ["fork", "pin", "rewound", "zeros", "system", "local", "attachment", "queued", "progress", "meta", "error", "tools",
       "parallel", "orphan_use", "orphan_result", "compact", "kept", "side", "repeat", "again", "missing", "forward", "roots",
       "stamps", "ties", "nostamp", "empty", "chunks", "thinking", "twice_said", "summary", "dangling", "mixed", "blank"]
ODDER = ODD + ["fork", "fork", "stamps", "tools", "parallel", "cycle", "edge_parent", "recap", "micro", "image", "command", "bad_stamp",
               "bare", "self", "late_side", "both"]
DAMAGE = ("nostamp", "bad_stamp", "self", "cycle", "image", "blank")


def tree(seed):
    """Returns the lines of a random session and what is odd in it.

    Three families: below 1000 short files with few oddities, below 3000 files with many, damage among them, then longer ones
    without damage.
    """
    r = random.Random(seed)
    if seed < 1000:
        features, steps = r.sample(ODD, r.randint(1, 5)), (5, 16)
    else:
        features, steps = r.sample(ODDER, r.randint(2, 8)), (3, 24)
    if seed >= 3000:
        calm = [feature for feature in ODDER if feature not in DAMAGE]
        features, steps = r.sample(calm, r.randint(3, 8)) + ["fork"], (12, 40)
    maker = Maker(r, set(features))
    for _ in range(r.randint(*steps)):
        maker.step()
    return maker.finish(), sorted(set(features))


PNG = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


class Maker:
    def __init__(self, r, features):
        self.r, self.on = r, features
        self.lines, self.nodes, self.clock, self.n = [], [], 0, 0
        self.tip = None
        self.session = str(uuid.UUID(int=r.getrandbits(128), version=4))

    def has(self, feature, chance):
        return feature in self.on and self.r.random() < chance

    def uid(self):
        self.n += 1
        return str(uuid.UUID(int=(self.n << 96) + self.r.getrandbits(64), version=4))

    def stamp(self):
        self.clock += 0 if self.has("ties", 0.4) else self.r.randint(1, 50)
        at = self.clock
        if self.has("bad_stamp", 0.1):
            return self.r.choice(["", "yesterday", "2026-11-14 10:05:00"])
        if self.has("stamps", 0.3):
            at = self.r.randint(0, 600)
        return f"2026-11-14T{10 + at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}.000Z"

    def parent(self):
        if self.has("missing", 0.06):
            return str(uuid.UUID(int=self.r.getrandbits(128), version=4))
        if self.has("roots", 0.08):
            return None
        if self.nodes and self.has("fork", 0.25):
            return self.r.choice(self.nodes)["uuid"]
        return self.tip

    def add(self, kind, parent=..., **more):
        if parent is ...:
            parent = self.parent()
        line = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": "/home/ann/garden", "sessionId": self.session,
                "version": "2.1.325", "gitBranch": "main", "type": kind, "uuid": self.uid()}
        line.update(more)
        if "timestamp" not in line:
            line["timestamp"] = self.stamp()
        if self.has("nostamp", 0.1):
            del line["timestamp"]
        self.lines.append(line)
        self.nodes.append(line)
        self.tip = line["uuid"]
        return line

    def user(self, content=None, **more):
        line = self.add("user", message={"role": "user", "content": content}, **more)
        if content is None:
            text = f"u{self.n}"
            line["message"]["content"] = text if self.r.random() < 0.6 else [{"type": "text", "text": text}]
        return line

    def reply(self, content=None, message=None, stop="end_turn", **more):
        line = self.add("assistant", message={}, **more)
        line["message"] = {"id": message or f"msg_{self.n:04d}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                           "content": content or [{"type": "text", "text": f"a{self.n}"}], "stop_reason": stop, "stop_sequence": None,
                           "usage": {"input_tokens": 1, "output_tokens": 1}}
        return line

    def use(self, call):
        return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "echo " + call}}

    def result(self, call):
        return {"type": "tool_result", "tool_use_id": call, "content": "out " + call}

    def step(self):
        r = self.r
        if not self.nodes:
            return self.user(parent=None)
        last = next(n for n in reversed(self.nodes) if n["uuid"] == self.tip)
        kinds = ["talk"] * 4 + [f for f in ("tools", "parallel", "orphan_use", "orphan_result", "system", "local", "attachment", "queued",
                                            "progress", "meta", "error", "compact", "kept", "side", "repeat", "again", "chunks", "thinking",
                                            "twice_said", "pin", "rewound", "zeros", "summary", "empty", "mixed", "blank", "edge_parent", "recap", "micro", "image", "command", "bare", "late_side", "both") if f in self.on]
        return getattr(self, "do_" + r.choice(kinds))(last)

    def do_talk(self, last):
        if last["type"] == "assistant" or last["type"] != "user" and self.r.random() < 0.5:
            return self.user()
        return self.reply()

    def do_twice_said(self, last):
        return self.user() if last["type"] == "user" else self.reply()

    def do_tools(self, last):
        call = f"toolu_{self.n}"
        self.reply([self.use(call)], stop="tool_use")
        if self.has("fork", 0.1):
            self.user()
        self.user([self.result(call)])

    def do_parallel(self, last):
        r, message = self.r, f"msg_P{self.n}"
        uses, calls = [], []
        if r.random() < 0.5:
            self.reply(message=message, stop="tool_use")
        for _ in range(r.randint(2, 3)):
            call = f"toolu_{self.n}"
            parent = ... if not uses or r.random() < 0.8 else uses[0]["parentUuid"]
            uses.append(self.reply([self.use(call)], message, "tool_use", parent=parent) if parent is not ... else
                        self.reply([self.use(call)], message, "tool_use"))
            calls.append(call)
        order = list(range(len(uses)))
        if r.random() < 0.5:
            r.shuffle(order)
        for k in order:
            if r.random() < 0.1:
                continue
            if r.random() < 0.8:
                self.user([self.result(calls[k])], parent=uses[k]["uuid"])
            else:
                self.user([self.result(calls[k])])
            if r.random() < 0.15:
                self.add("attachment", attachment={"type": "date", "date": "2026-11-14"})
        if r.random() < 0.8:
            self.reply()

    def do_orphan_use(self, last):
        call = f"toolu_{self.n}"
        content = [self.use(call)]
        if self.r.random() < 0.3:
            content = [{"type": "text", "text": f"a{self.n}o"}] + content
        self.reply(content, stop="tool_use")

    def do_orphan_result(self, last):
        content = [self.result(f"toolu_x{self.n}")]
        if self.r.random() < 0.3:
            content.append({"type": "text", "text": f"u{self.n}o"})
        self.user(content)

    def do_mixed(self, last):
        texts = [{"type": "text", "text": f"m{self.n}{k}"} for k in "xy"]
        self.user(texts) if last["type"] != "user" else self.reply(texts)

    def do_system(self, last):
        subtype = self.r.choice(["informational", "turn_duration", "stop_hook_summary", "api_error"])
        self.add("system", subtype=subtype, content=f"s{self.n}", isMeta=False, level="info")

    def do_local(self, last):
        self.add("system", subtype="local_command", isMeta=False, level="info",
                 content=self.r.choice(["<command-name>/x</command-name>", "<local-command-stdout>y</local-command-stdout>"]) + f" l{self.n}")

    def do_attachment(self, last):
        kind = self.r.choice(["date", "hook_success", "edited_text_file", "critical_system_reminder", "todo"])
        body = {"date": {"date": "2026-11-14"}, "hook_success": {"hookName": "Stop", "hookEvent": "Stop", "content": "", "toolUseID": "t"},
                "edited_text_file": {"filename": "/tmp/x", "snippet": "1 y"}, "critical_system_reminder": {"content": "z"},
                "todo": {"content": [], "itemCount": 0, "context": "x"}}[kind]
        self.add("attachment", attachment={"type": kind, **body})

    def do_queued(self, last):
        self.add("attachment", attachment={"type": "queued_command", "prompt": f"k{self.n}", "commandMode": "prompt"})

    def do_progress(self, last):
        self.add("progress", data={"type": "hook_progress", "hookEvent": "Stop", "hookName": "x", "command": "y"}, toolUseID="t", parentToolUseID="t")

    def do_meta(self, last):
        text = self.r.choice(["<local-command-caveat>c</local-command-caveat>", "note"])
        self.user(f"{text} u{self.n}", isMeta=True)

    def do_blank(self, last):
        text = self.r.choice(["", " ", "\n\n", "(no content)", "No response requested.", "[Request interrupted by user]"])
        if last["type"] == "user":
            self.reply([{"type": "text", "text": text}])
        else:
            self.user(text if self.r.random() < 0.5 else [{"type": "text", "text": text}])

    def do_error(self, last):
        line = self.reply(isApiErrorMessage=True)
        line["message"]["model"] = "<synthetic>"
        line["message"]["content"][0]["text"] = f"API Error: a{self.n}"

    def do_empty(self, last):
        if last["type"] == "user":
            self.reply()["message"]["content"] = []
        else:
            self.user([])

    def do_thinking(self, last):
        kind = self.r.random()
        message = f"msg_T{self.n}"
        think = {"type": "thinking", "thinking": f"t{self.n}", "signature": "c2ln"}
        if kind < 0.4:
            self.reply([think], message)
            if self.r.random() < 0.6:
                self.reply(message=message)
        elif kind < 0.7:
            self.reply([think, {"type": "text", "text": f"a{self.n}t"}], message)
        else:
            self.reply([{"type": "text", "text": f"a{self.n}t"}, think], message)

    def do_chunks(self, last):
        message = f"msg_C{self.n}"
        first = self.reply(message=message)
        for _ in range(self.r.randint(1, 2)):
            if self.r.random() < 0.5:
                self.reply(message=message, parent=first["parentUuid"])
            else:
                self.reply(message=message)

    def do_compact(self, last):
        edge = self.add("system", parent=None, subtype="compact_boundary", content="Conversation compacted", isMeta=False, level="info",
                        logicalParentUuid=self.tip, compactMetadata={"trigger": "manual", "preTokens": 1000})
        if self.r.random() < 0.9:
            self.user(parent=edge["uuid"], isCompactSummary=True, isVisibleInTranscriptOnly=True)
        return edge

    def do_kept(self, last):
        r = self.r
        talk = [n for n in self.nodes if n["type"] in ("user", "assistant")]
        by = {n["uuid"]: n for n in self.nodes}
        chain, at = [], self.tip
        while at in by and len(chain) < 4 and by[at] not in chain:
            chain.append(by[at])
            at = by[at]["parentUuid"]
        chain = [n for n in chain if n["type"] in ("user", "assistant")][:r.randint(1, 3)][::-1]
        edge = self.add("system", parent=None, subtype="compact_boundary", content="Conversation compacted", isMeta=False, level="info",
                        logicalParentUuid=self.tip, compactMetadata={"trigger": "manual", "preTokens": 1000})
        recap = self.user(parent=edge["uuid"], isCompactSummary=True, isVisibleInTranscriptOnly=True)
        if chain and talk:
            anchor = recap if r.random() < 0.7 else edge
            meta = edge["compactMetadata"]
            how = r.random()
            if how < 0.7:
                meta["preservedSegment"] = {"headUuid": chain[0]["uuid"], "anchorUuid": anchor["uuid"], "tailUuid": chain[-1]["uuid"]}
            if how > 0.3:
                ids = [n["uuid"] for n in chain]
                meta["preservedMessages"] = {"anchorUuid": anchor["uuid"], "uuids": ids, "allUuids": ids}

    def do_side(self, last):
        tip = self.tip
        parent = None if self.r.random() < 0.7 else tip
        for k in range(self.r.randint(1, 2)):
            line = (self.user if k == 0 else self.reply)(parent=parent, isSidechain=True)
            parent = line["uuid"]
        if self.r.random() < 0.8:
            self.tip = tip

    def do_repeat(self, last):
        self.lines.append(self.r.choice(self.nodes))

    def do_again(self, last):
        old = json.loads(json.dumps(self.r.choice(self.nodes)))
        if old["type"] == "user":
            old["message"]["content"] = f"again u{self.n}"
        elif old["type"] == "assistant":
            old["message"]["content"] = [{"type": "text", "text": f"again a{self.n}"}]
        if self.r.random() < 0.3 and self.tip != old["uuid"]:
            old["parentUuid"] = self.r.choice(self.nodes)["uuid"]
            if self.cyclic(old):
                old["parentUuid"] = None
        if self.r.random() < 0.5:
            old["timestamp"] = self.stamp()
        self.lines.append(old)
        self.nodes.append(old)
        self.n += 1

    def cyclic(self, line):
        by = {n["uuid"]: n for n in self.nodes}
        by[line["uuid"]] = line
        seen, at = set(), line["uuid"]
        while at in by:
            if at in seen:
                return True
            seen.add(at)
            at = by[at]["parentUuid"]
        return False

    def do_pin(self, last):
        more = {"explicit": True} if self.r.random() < 0.2 else {}
        leaf = self.r.choice(self.nodes)["uuid"] if self.r.random() < 0.6 else self.tip
        if self.r.random() < 0.05:
            leaf = str(uuid.UUID(int=self.r.getrandbits(128), version=4))
        self.lines.append({"type": "last-prompt", "lastPrompt": "q", "leafUuid": leaf, "sessionId": self.session, **more})

    def do_rewound(self, last):
        self.lines.append({"type": "last-prompt", "lastPrompt": "q", "leafUuid": self.r.choice(self.nodes)["uuid"], "explicit": True,
                           "rewound": True, "sessionId": self.session})

    def do_zeros(self, last):
        self.lines.append({"type": "last-prompt", "leafUuid": "00000000-0000-0000-0000-000000000000", "explicit": True, "sessionId": self.session})

    def do_edge_parent(self, last):
        edge = self.add("system", subtype="compact_boundary", content="Conversation compacted", isMeta=False, level="info",
                        logicalParentUuid=self.tip, compactMetadata={"trigger": "auto", "preTokens": 1000})
        self.user(parent=edge["uuid"], isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def do_recap(self, last):
        self.user(parent=None, isCompactSummary=True)

    def do_micro(self, last):
        self.add("system", subtype="microcompact_boundary", content="Context microcompacted", isMeta=False, level="info",
                 microcompactMetadata={"trigger": "auto", "preTokens": 1000, "tokensSaved": 10})

    def do_image(self, last):
        picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
        self.user([picture] if self.r.random() < 0.5 else [{"type": "text", "text": f"u{self.n}i"}, picture])

    def do_command(self, last):
        self.user(f"<command-name>/x</command-name> u{self.n}")
        if self.r.random() < 0.6:
            self.user(f"<local-command-stdout>y</local-command-stdout> u{self.n}")

    def do_bare(self, last):
        line = self.user()
        for key in self.r.sample(["isSidechain", "userType", "cwd", "version", "gitBranch"], 3):
            del line[key]

    def do_late_side(self, last):
        side = self.reply(isSidechain=True)
        self.user(parent=side["uuid"])

    def do_both(self, last):
        self.reply([{"type": "text", "text": f"a{self.n}b"}, self.use(f"toolu_{self.n}")], stop="tool_use")
        self.user([self.result(f"toolu_{self.n - 1}"), {"type": "text", "text": f"u{self.n}b"}])

    def do_summary(self, last):
        self.lines.append({"type": "summary", "summary": "x", "leafUuid": self.r.choice(self.nodes)["uuid"]})

    def finish(self):
        if "forward" in self.on:
            for _ in range(self.r.randint(1, 3)):
                k = self.r.randrange(max(1, len(self.lines) - 1))
                self.lines[k:k + 2] = self.lines[k:k + 2][::-1]
        if self.has("cycle", 0.3):
            self.r.choice(self.nodes)["parentUuid"] = self.r.choice(self.nodes)["uuid"]
        if self.has("self", 0.3):
            line = self.r.choice(self.nodes)
            line["parentUuid"] = line["uuid"]
        if "dangling" in self.on:
            self.user()
        return self.lines


def data(lines):
    return b"".join((l if isinstance(l, bytes) else json.dumps(l).encode()) + b"\n" for l in lines)
