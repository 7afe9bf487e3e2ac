"use strict";
// Presentation: one turn after the other, part by part, in large type.
(() => {
  const { on, key } = window.rethread;
  let stage = null;
  let turns = [];
  let turn = 0;
  let part = 0;

  const isOpen = () => stage !== null;

  async function open() {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base || isOpen()) return false;
    turns = [...main.querySelectorAll(":scope > .leaf > .turn[id], :scope > .leaf > .spot")].map((one) => one.id);
    if (!turns.length) return false;
    const here = [...main.querySelectorAll(":scope > .leaf > .turn[id]")].find((one) => one.getBoundingClientRect().bottom > 80);
    turn = Math.max(0, turns.indexOf(here ? here.id : turns[0]));
    part = 0;
    stage = document.createElement("div");
    stage.className = "present";
    stage.setAttribute("role", "dialog");
    stage.setAttribute("aria-modal", "true");
    stage.setAttribute("aria-label", "Presentation");
    stage.tabIndex = -1;
    const page = document.createElement("div");
    page.className = "present-page";
    const bar = document.createElement("div");
    bar.className = "present-bar";
    bar.append(document.createElement("div"));
    const foot = document.createElement("div");
    foot.className = "present-foot";
    foot.append(document.createElement("span"), document.createElement("span"));
    foot.lastChild.textContent = "← → Space · F full screen · Esc";
    stage.append(page, bar, foot);
    document.body.append(stage);
    stage.focus();
    await draw();
  }

  function close() {
    if (!isOpen()) return false;
    if (document.fullscreenElement) document.exitFullscreen();
    stage.remove();
    stage = null;
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
    if (page.lastChild) page.lastChild.scrollIntoView({ block: "nearest" });
    stage.querySelector(".present-bar > div").style.width = `${(100 * (turn + (part + 1) / Math.max(1, all.length))) / turns.length}%`;
    stage.querySelector(".present-foot > span").textContent = `Turn ${turns[turn].slice(1)}, ${turn + 1} of ${turns.length}`;
    stage.steps = all.length;
  }

  async function on_(by) {
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
  const while_ = (handler) => () => { if (!isOpen()) return false; handler(); };
  key("ArrowRight", "presentation: next part", while_(() => on_(1)));
  key("ArrowLeft", "presentation: previous part", while_(() => on_(-1)));
  key(" ", "presentation: next part", while_(() => on_(1)));
  key("ArrowDown", "presentation: next turn", while_(() => jump(1)));
  key("ArrowUp", "presentation: previous turn", while_(() => jump(-1)));
  key("F", "presentation: full screen", while_(() => (document.fullscreenElement ? document.exitFullscreen() : stage.requestFullscreen())));
  key("f", "", while_(() => (document.fullscreenElement ? document.exitFullscreen() : stage.requestFullscreen())));
  key("Escape", "presentation: back", close);
  key("P", "present this session", open);
  on('[data-do="present"]', "click", open);
})();
