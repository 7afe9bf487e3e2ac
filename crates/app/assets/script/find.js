"use strict";
// Finds words in the whole session, also in what is folded or not loaded: the server knows where.
(() => {
  const { on, key, get, elements, show, unfold } = window.rethread;
  // Most marks that are drawn.
  const MOST = 500;
  let hits = [];
  let place = -1;
  let asked = 0;
  let steps = 0;

  const box = () => document.getElementById("find");

  function open() {
    const find = box();
    if (!find) return false;
    find.hidden = false;
    find.elements.q.focus();
    find.elements.q.select();
  }

  // Lets go of what was found, and of answers that are still to come.
  function forget() {
    asked += 1;
    steps += 1;
    hits = [];
    place = -1;
    const find = box();
    delete find.dataset.rest;
    if (CSS.highlights) CSS.highlights.delete("found");
  }

  function close() {
    const find = box();
    if (!find || find.hidden) return false;
    find.hidden = true;
    forget();
  }

  const sought = () => box().elements.q.value.trim();

  async function look() {
    const find = box();
    const words = sought();
    const main = document.getElementById("main");
    forget();
    const mine = asked;
    if (!words) { tell(); return; }
    hits = null;
    let markup = null;
    try {
      markup = elements(await get(`${main.dataset.base}/find${main.dataset.query}q=${encodeURIComponent(words)}`));
    } catch {
      if (mine !== asked) return;
      hits = [];
      find.querySelector(".find-at").textContent = "could not be searched";
      return;
    }
    if (mine !== asked) return;
    const all = [...markup.querySelectorAll("li")];
    hits = all.filter((one) => "leaf" in one.dataset).map((one) => Number(one.dataset.line)).sort((a, b) => a - b);
    const count = Number(markup.querySelector("[data-count]")?.dataset.count || 0);
    const elsewhere = all.length - hits.length;
    const rest = [];
    if (elsewhere) rest.push(`${elsewhere} on other branches`);
    if (count > all.length) rest.push(`the first ${all.length} of ${count.toLocaleString("en")}`);
    find.dataset.rest = rest.length ? ` (${rest.join(", ")})` : "";
    go(1);
  }

  function tell() {
    const find = box();
    const { rest = "" } = find.dataset;
    const said = hits.length ? `${place + 1} of ${hits.length}` : "none";
    find.querySelector(".find-at").textContent = sought() ? said + rest : "";
  }

  const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

  async function go(by) {
    // While the answer is not there, there is nothing to go to.
    if (!hits) return;
    if (!hits.length) { tell(); return; }
    steps += 1;
    const mine = steps;
    place = (place + by + hits.length) % hits.length;
    tell();
    const words = sought();
    const line = hits[place];
    const there = await show(`L${line}`);
    if (!there || mine !== steps) return;
    // A turn begins with the line of its prompt, and it is the prompt that is meant.
    const element = there.querySelector(`:scope > .part[data-line="${line}"]`) || there;
    if (element instanceof HTMLDetailsElement) element.open = true;
    await whole(element);
    await drawn();
    if (mine !== steps) return;
    const first = paint(element, words);
    if (!first) return;
    bring(first);
    // What is near gets its real height only now.
    await drawn();
    if (mine === steps) bring(first);
  }

  // Marks any of the words where they stand, without touching the text, and returns the first place.
  function paint(element, ...words) {
    const wanted = words.filter(Boolean).map((one) => one.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    if (!CSS.highlights || !wanted.length) return null;
    const sign = new RegExp(wanted.join("|"), "giu");
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const ranges = [];
    for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
      for (const found of node.data.matchAll(sign)) {
        if (ranges.length >= MOST) break;
        const range = new Range();
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
    return ranges[0] || null;
  }

  // Brings the words themselves to the middle: what holds them may be higher than the window.
  function bring(range) {
    const around = range.startContainer.parentElement;
    for (let up = around; up; up = up.parentElement) if (up instanceof HTMLDetailsElement) up.open = true;
    for (let up = around; up; up = up.parentElement) {
      if (up.scrollHeight > up.clientHeight && /auto|scroll/.test(getComputedStyle(up).overflowY)) {
        up.scrollTop += range.getBoundingClientRect().top - up.getBoundingClientRect().top - up.clientHeight / 2;
      }
    }
    scrollBy({ top: range.getBoundingClientRect().top - innerHeight / 2, behavior: "instant" });
  }

  // Fetches all of a part, also the rest of long words.
  async function whole(element) {
    if (element instanceof HTMLDetailsElement) await unfold(element);
    for (const rest of element.querySelectorAll("details.more > [data-src]")) await unfold(rest.parentElement);
  }

  // Shows in a part what a search has found there.
  window.rethread.point = async (element, words) => {
    await whole(element);
    await drawn();
    const first = paint(element, ...words);
    if (!first) return;
    bring(first);
    await drawn();
    bring(first);
  };

  on('[data-do="find"]', "click", open);
  // The browser finds only what is loaded; pressed again, it is the browser's.
  document.addEventListener("keydown", (event) => {
    const find = box();
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.key !== "f" || !find || find.contains(document.activeElement) || document.querySelector(".present")) return;
    event.preventDefault();
    open();
  });
  key("f", "find in this session", open, "#find");
  key("Escape", "", close, "#find");
  let typing = 0;
  on("#find input", "input", () => { clearTimeout(typing); typing = setTimeout(look, 120); });
  on("#find", "submit", (event) => { event.preventDefault(); go(1); });
  on("#find", "keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
  });
  on('[data-do="find-on"]', "click", () => go(1));
  on('[data-do="find-back"]', "click", () => go(-1));
  on('[data-do="find-close"]', "click", close);
})();
