"use strict";
// Finds words in the whole session, also in what is folded or not loaded: the server knows where.
(() => {
  const { on, key, get, elements, show } = window.rethread;
  let hits = [];
  let place = -1;
  let asked = 0;

  const box = () => document.getElementById("find");

  function open() {
    const find = box();
    if (!find) return false;
    find.hidden = false;
    find.elements.q.focus();
    find.elements.q.select();
  }

  function close() {
    const find = box();
    if (!find || find.hidden) return false;
    find.hidden = true;
    hits = [];
    place = -1;
    if (CSS.highlights) CSS.highlights.delete("found");
  }

  async function look() {
    const find = box();
    const words = find.elements.q.value.trim();
    const mine = ++asked;
    const main = document.getElementById("main");
    if (!words) { hits = []; tell(); return; }
    const markup = elements(await get(`${main.dataset.base}/find${main.dataset.query}q=${encodeURIComponent(words)}`));
    if (mine !== asked) return;
    const all = [...markup.querySelectorAll("li")];
    hits = all.filter((one) => "leaf" in one.dataset).map((one) => Number(one.dataset.line)).sort((a, b) => a - b);
    find.dataset.elsewhere = String(all.length - hits.length);
    place = -1;
    go(1);
  }

  function tell() {
    const find = box();
    const elsewhere = Number(find.dataset.elsewhere || 0);
    const rest = elsewhere ? ` (${elsewhere} on other branches)` : "";
    const words = find.elements.q.value.trim();
    find.querySelector(".find-at").textContent = words ? (hits.length ? `${place + 1} of ${hits.length}${rest}` : `none${rest}`) : "";
  }

  async function go(by) {
    if (!hits.length) { tell(); return; }
    place = (place + by + hits.length) % hits.length;
    tell();
    const element = await window.rethread.show(`L${hits[place]}`);
    if (!element) return;
    if (element instanceof HTMLDetailsElement) element.open = true;
    // What is fetched when it opens comes a little later.
    setTimeout(() => paint(element), 60);
    setTimeout(() => paint(element), 400);
  }

  // Marks the words where they stand, without touching the text.
  function paint(element) {
    if (!CSS.highlights) return;
    const words = box().elements.q.value.trim().toLowerCase();
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const ranges = [];
    for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      for (let from = text.indexOf(words); from >= 0; from = text.indexOf(words, from + words.length)) {
        const range = new Range();
        range.setStart(node, from);
        range.setEnd(node, Math.min(node.length, from + words.length));
        ranges.push(range);
      }
    }
    CSS.highlights.set("found", new Highlight(...ranges));
    if (ranges[0]) {
      for (let up = ranges[0].startContainer.parentElement; up; up = up.parentElement) if (up instanceof HTMLDetailsElement) up.open = true;
      // The words themselves come to the middle: what holds them may be higher than the window.
      for (let up = ranges[0].startContainer.parentElement; up; up = up.parentElement) {
        if (up.scrollHeight > up.clientHeight && /auto|scroll/.test(getComputedStyle(up).overflowY)) {
          up.scrollTop += ranges[0].getBoundingClientRect().top - up.getBoundingClientRect().top - up.clientHeight / 2;
        }
      }
      scrollBy({ top: ranges[0].getBoundingClientRect().top - innerHeight / 2, behavior: "instant" });
    }
  }

  key("f", "find in this session", open);
  key("Escape", "", close);
  let typing = 0;
  on("#find input", "input", () => { clearTimeout(typing); typing = setTimeout(look, 120); });
  on("#find", "submit", (event) => { event.preventDefault(); go(1); });
  on("#find", "keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); go(-1); }
  });
  on('[data-do="find-on"]', "click", () => go(1));
  on('[data-do="find-back"]', "click", () => go(-1));
  on('[data-do="find-close"]', "click", close);
  void show;
})();
