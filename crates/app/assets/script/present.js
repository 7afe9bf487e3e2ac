"use strict";
// Presentation: one turn after the other, part by part, in large type.
(() => {
  const { on, key } = window.rethread;
  let stage = null;
  let turns = [];
  let turn = 0;
  let part = 0;

  const isOpen = () => stage !== null;
  const full = () => (document.fullscreenElement ? document.exitFullscreen() : stage.requestFullscreen());

  async function open() {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base || isOpen()) return false;
    turns = [...main.querySelectorAll(":scope > .leaf > .turn[id], :scope > .leaf > .spot")].map((one) => one.id);
    if (!turns.length) return false;
    turn = Math.max(0, turns.indexOf(`t${window.rethread.reading()?.dataset.turn}`));
    part = 0;
    stage = document.createElement("div");
    stage.className = "present";
    stage.setAttribute("role", "dialog");
    stage.setAttribute("aria-modal", "true");
    stage.setAttribute("aria-label", "Presentation");
    // What is unfolded here is fetched from where the session is.
    Object.assign(stage.dataset, { base: main.dataset.base, query: main.dataset.query });
    stage.tabIndex = -1;
    const page = document.createElement("div");
    page.className = "present-page";
    const bar = document.createElement("div");
    bar.className = "present-bar";
    bar.append(document.createElement("div"));
    const foot = document.createElement("div");
    foot.className = "present-foot";
    const said = document.createElement("span");
    const buttons = document.createElement("span");
    for (const [sign, name, handler] of [["‹", "Previous part", () => on_(-1)], ["›", "Next part", () => on_(1)], ["full", "Full screen", full], ["×", "Leave the presentation", close]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "bar-button";
      button.textContent = sign;
      button.setAttribute("aria-label", name);
      button.title = name;
      button.addEventListener("click", () => { handler(); stage?.focus(); });
      buttons.append(button);
    }
    foot.append(said, buttons);
    stage.append(page, bar, foot);
    // Nothing behind it can be reached.
    for (const one of document.body.children) if (!one.matches("dialog, #say")) one.inert = true;
    document.body.append(stage);
    stage.focus();
    await draw();
  }

  function close() {
    if (!isOpen()) return false;
    if (document.fullscreenElement) document.exitFullscreen();
    stage.remove();
    stage = null;
    for (const one of document.body.children) one.inert = false;
    window.rethread.show(turns[turn]);
    document.dispatchEvent(new CustomEvent("rethread:presented"));
  }

  // All parts of a turn, also those on later leaves: a turn goes on until the next one begins.
  async function parts() {
    const first = document.getElementById(turns[turn]);
    for (let leaf = first && first.closest(".leaf"); leaf; leaf = leaf.nextElementSibling) {
      await window.rethread.load(leaf);
      if ([...leaf.children].some((one) => one.id === turns[turn + 1])) break;
    }
    const name = turns[turn].slice(1);
    const held = `#main > .leaf > .turn[data-turn="${name}"]`;
    return [...document.querySelectorAll(`:is(${held}, ${held} > .group) > :is(.part, .turn-foot)`)];
  }

  async function draw() {
    const all = await parts();
    if (!isOpen()) return;
    part = part < 0 ? all.length - 1 : Math.min(part, Math.max(0, all.length - 1));
    const page = stage.querySelector(".present-page");
    page.replaceChildren(...all.slice(0, part + 1).map((one) => one.cloneNode(true)));
    for (const one of page.querySelectorAll("[id]")) one.removeAttribute("id");
    const now = page.lastElementChild;
    // The call that one is at is unfolded, those before it are not.
    if (now?.matches("details.tool:not(.tool-bare)")) now.open = true;
    if (now) page.scrollTop += now.getBoundingClientRect().top - page.getBoundingClientRect().top - page.clientHeight * (now.offsetHeight > page.clientHeight * 0.7 ? 0.04 : 0.3);
    stage.querySelector(".present-bar > div").style.width = `${(100 * (turn + (part + 1) / Math.max(1, all.length))) / turns.length}%`;
    stage.querySelector(".present-foot > span").textContent = `Turn ${turns[turn].slice(1)}, ${turn + 1} of ${turns.length}`;
    stage.steps = all.length;
  }

  // What is higher than the screen is gone through before the next part comes.
  function within(by) {
    const page = stage.querySelector(".present-page");
    const [frame, now] = [page.getBoundingClientRect(), page.lastElementChild?.getBoundingClientRect()];
    if (!now || (by > 0 ? now.bottom <= frame.bottom + 8 : now.top >= frame.top - 8)) return false;
    page.scrollBy({ top: by * page.clientHeight * 0.8, behavior: "instant" });
    return true;
  }

  async function on_(by) {
    if (within(by)) return;
    if (by > 0 && part + 1 < stage.steps) part += 1;
    else if (by < 0 && part > 0) part -= 1;
    else if (turn + by >= 0 && turn + by < turns.length) { turn += by; part = by > 0 ? 0 : -1; }
    else return;
    await draw();
  }
  async function jump(by) {
    if (turn + by < 0 || turn + by >= turns.length) return;
    turn += by;
    part = 0;
    await draw();
  }
  // While it is open, these are the only keys of the page.
  const while_ = (key_, label, handler) => key(key_, label, handler, ".present");
  const HERE = "#main[data-base]";
  key("P", "present this session", () => void open(), HERE);
  key("p", "", () => void open(), HERE);
  while_("ArrowRight", "next part", () => void on_(1));
  while_(" ", "next part", () => void on_(1));
  while_("PageDown", "", () => void on_(1));
  while_("ArrowLeft", "previous part", () => void on_(-1));
  while_("PageUp", "", () => void on_(-1));
  while_("ArrowDown", "next turn", () => void jump(1));
  while_("ArrowUp", "previous turn", () => void jump(-1));
  while_("Home", "first turn", () => void jump(-turn));
  while_("End", "last turn", () => void jump(turns.length - 1 - turn));
  while_("F", "full screen", () => void full());
  while_("f", "", () => void full());
  while_("Escape", "leave the presentation", close);
  on('[data-do="present"]', "click", open);
})();
