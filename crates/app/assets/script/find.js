"use strict";
// Find in session: searches the whole session on the server, including collapsed and unloaded content.
(() => {
  const { on, key, get, parseHtml, show, loadDetails } = window.rethread;
  // Maximum number of highlighted matches.
  const MAX_HIGHLIGHTS = 500;
  let hits = [];
  let position = -1;
  let requestCount = 0;
  let stepCount = 0;

  const box = () => document.getElementById("find");

  function open() {
    const find = box();
    if (!find) return false;
    find.hidden = false;
    find.elements.q.focus();
    find.elements.q.select();
  }

  // Discards the results, including those of requests under way.
  function reset() {
    requestCount += 1;
    stepCount += 1;
    hits = [];
    position = -1;
    const find = box();
    delete find.dataset.rest;
    if (CSS.highlights) CSS.highlights.delete("match");
  }

  function close() {
    const find = box();
    if (!find || find.hidden) return false;
    find.hidden = true;
    reset();
  }

  const queryText = () => box().elements.q.value.trim();

  async function search() {
    const find = box();
    const query = queryText();
    const main = document.getElementById("main");
    reset();
    const request = requestCount;
    if (!query) { showPosition(); return; }
    hits = null;
    let markup = null;
    try {
      markup = parseHtml(await get(`${main.dataset.base}/find${main.dataset.query}q=${encodeURIComponent(query)}`));
    } catch {
      if (request !== requestCount) return;
      hits = [];
      find.querySelector(".find-position").textContent = "search failed";
      return;
    }
    if (request !== requestCount) return;
    const all = [...markup.querySelectorAll("li")];
    hits = all.filter((item) => "chunk" in item.dataset).map((item) => Number(item.dataset.line)).sort((a, b) => a - b);
    const count = Number(markup.querySelector("[data-count]")?.dataset.count || 0);
    const otherBranchCount = all.length - hits.length;
    const rest = [];
    if (otherBranchCount) rest.push(`${otherBranchCount} on other branches`);
    if (count > all.length) rest.push(`the first ${all.length} of ${count.toLocaleString("en")}`);
    find.dataset.rest = rest.length ? ` (${rest.join(", ")})` : "";
    stepMatch(1);
  }

  function showPosition() {
    const find = box();
    const { rest = "" } = find.dataset;
    const text = hits.length ? `${position + 1} of ${hits.length}` : "none";
    find.querySelector(".find-position").textContent = queryText() ? text + rest : "";
  }

  const nextPaint = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

  // Shows the next match, or the previous one if `by` is -1.
  async function stepMatch(by) {
    // `hits` is null while a request is under way.
    if (!hits) return;
    if (!hits.length) { showPosition(); return; }
    stepCount += 1;
    const step = stepCount;
    position = (position + by + hits.length) % hits.length;
    showPosition();
    const query = queryText();
    const line = hits[position];
    const target = await show(`L${line}`);
    if (!target || step !== stepCount) return;
    // The line of a prompt is also the first line of its turn: highlight the prompt.
    const element = target.querySelector(`:scope > .part[data-line="${line}"]`) || target;
    if (element instanceof HTMLDetailsElement) element.open = true;
    await loadAll(element);
    await nextPaint();
    if (step !== stepCount) return;
    const first = highlight(element, query);
    if (!first) return;
    center(first);
    // Content near the viewport gets its real height only now.
    await nextPaint();
    if (step === stepCount) center(first);
  }

  // Highlights all occurrences of the words without changing the text. Returns the range of the first one, or null.
  function highlight(element, ...words) {
    const escaped = words.filter(Boolean).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    if (!CSS.highlights || !escaped.length) return null;
    const pattern = new RegExp(escaped.join("|"), "giu");
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const ranges = [];
    for (let node = walker.nextNode(); node && ranges.length < MAX_HIGHLIGHTS; node = walker.nextNode()) {
      for (const match of node.data.matchAll(pattern)) {
        if (ranges.length >= MAX_HIGHLIGHTS) break;
        const range = new Range();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("match", new Highlight(...ranges));
    return ranges[0] || null;
  }

  // Scrolls a range to the middle of the window: the element that contains it may be higher than the window.
  function center(range) {
    const parent = range.startContainer.parentElement;
    for (let ancestor = parent; ancestor; ancestor = ancestor.parentElement) if (ancestor instanceof HTMLDetailsElement) ancestor.open = true;
    for (let ancestor = parent; ancestor; ancestor = ancestor.parentElement) {
      if (ancestor.scrollHeight > ancestor.clientHeight && /auto|scroll/.test(getComputedStyle(ancestor).overflowY)) {
        ancestor.scrollTop += range.getBoundingClientRect().top - ancestor.getBoundingClientRect().top - ancestor.clientHeight / 2;
      }
    }
    scrollBy({ top: range.getBoundingClientRect().top - innerHeight / 2, behavior: "instant" });
  }

  // Loads all of a part, including the rest of long texts.
  async function loadAll(element) {
    if (element instanceof HTMLDetailsElement) await loadDetails(element);
    for (const rest of element.querySelectorAll("details.more > [data-src]")) await loadDetails(rest.parentElement);
  }

  // Highlights the words of a search result in a part and scrolls to the first one.
  window.rethread.highlightMatches = async (element, words) => {
    await loadAll(element);
    await nextPaint();
    const first = highlight(element, ...words);
    if (!first) return;
    center(first);
    await nextPaint();
    center(first);
  };

  on('[data-command="find"]', "click", open);
  // The browser's own find sees only loaded content. Pressing the keys again opens it.
  document.addEventListener("keydown", (event) => {
    const find = box();
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key !== "f" || !find || find.contains(document.activeElement) || document.querySelector(".present")) return;
    event.preventDefault();
    open();
  });
  key("f", "find in this session", open, "#find");
  key("Escape", "", close, "#find");
  let typingTimer = 0;
  on("#find input", "input", () => { clearTimeout(typingTimer); typingTimer = setTimeout(search, 120); });
  on("#find", "submit", (event) => { event.preventDefault(); stepMatch(1); });
  on("#find", "keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); stepMatch(-1); }
  });
  on('[data-command="find-next"]', "click", () => stepMatch(1));
  on('[data-command="find-previous"]', "click", () => stepMatch(-1));
  on('[data-command="find-close"]', "click", close);
})();
