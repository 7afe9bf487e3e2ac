"use strict";
// Presentation: shows the turns one after the other, part by part, in large type.
(() => {
  const { on, key } = window.rethread;
  let overlay = null;
  let turns = [];
  let turn = 0;
  let part = 0;

  const isOpen = () => overlay !== null;
  const toggleFullscreen = () => (document.fullscreenElement ? document.exitFullscreen() : overlay.requestFullscreen());

  async function open() {
    const main = document.getElementById("main");
    if (!main || !main.dataset.base || isOpen()) return false;
    turns = [...main.querySelectorAll(":scope > .chunk > .turn[id], :scope > .chunk > .turn-anchor")].map((element) => element.id);
    if (!turns.length) return false;
    turn = Math.max(0, turns.indexOf(`t${window.rethread.currentTurn()?.dataset.turn}`));
    part = 0;
    overlay = document.createElement("div");
    overlay.className = "present";
    overlay.setAttribute("role", "dialog");
    overlay.setAttribute("aria-modal", "true");
    overlay.setAttribute("aria-label", "Presentation");
    // Tool calls expanded in the presentation are loaded from the address of the session.
    Object.assign(overlay.dataset, { base: main.dataset.base, query: main.dataset.query });
    overlay.tabIndex = -1;
    const page = document.createElement("div");
    page.className = "present-page";
    const bar = document.createElement("div");
    bar.className = "present-bar";
    bar.append(document.createElement("div"));
    const foot = document.createElement("div");
    foot.className = "present-foot";
    const progress = document.createElement("span");
    const buttons = document.createElement("span");
    for (const [symbol, name, handler] of [["‹", "Previous part", () => step(-1)], ["›", "Next part", () => step(1)], ["full", "Full screen", toggleFullscreen], ["×", "Close the presentation", close]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "bar-button";
      button.textContent = symbol;
      button.setAttribute("aria-label", name);
      button.title = name;
      button.addEventListener("click", () => { handler(); overlay?.focus(); });
      buttons.append(button);
    }
    foot.append(progress, buttons);
    overlay.append(page, bar, foot);
    // The page below cannot be focused or clicked.
    for (const element of document.body.children) if (!element.matches("dialog, #toast")) element.inert = true;
    document.body.append(overlay);
    overlay.focus();
    await render();
  }

  function close() {
    if (!isOpen()) return false;
    if (document.fullscreenElement) document.exitFullscreen();
    overlay.remove();
    overlay = null;
    for (const element of document.body.children) element.inert = false;
    window.rethread.show(turns[turn]);
    document.dispatchEvent(new CustomEvent("rethread:presented"));
  }

  // Returns all parts of the current turn. Loads all chunks up to the start of the next turn.
  async function loadParts() {
    const first = document.getElementById(turns[turn]);
    for (let chunk = first && first.closest(".chunk"); chunk; chunk = chunk.nextElementSibling) {
      await window.rethread.load(chunk);
      if ([...chunk.children].some((element) => element.id === turns[turn + 1])) break;
    }
    const name = turns[turn].slice(1);
    const article = `#main > .chunk > .turn[data-turn="${name}"]`;
    return [...document.querySelectorAll(`:is(${article}, ${article} > .tool-group) > :is(.part, .turn-foot)`)];
  }

  async function render() {
    const all = await loadParts();
    if (!isOpen()) return;
    part = part < 0 ? all.length - 1 : Math.min(part, Math.max(0, all.length - 1));
    const page = overlay.querySelector(".present-page");
    page.replaceChildren(...all.slice(0, part + 1).map((element) => element.cloneNode(true)));
    for (const element of page.querySelectorAll("[id]")) element.removeAttribute("id");
    const current = page.lastElementChild;
    // Only the current tool call is expanded.
    if (current?.matches("details.tool:not(.tool-static)")) current.open = true;
    if (current) page.scrollTop += current.getBoundingClientRect().top - page.getBoundingClientRect().top - page.clientHeight * (current.offsetHeight > page.clientHeight * 0.7 ? 0.04 : 0.3);
    overlay.querySelector(".present-bar > div").style.width = `${(100 * (turn + (part + 1) / Math.max(1, all.length))) / turns.length}%`;
    overlay.querySelector(".present-foot > span").textContent = `Turn ${turns[turn].slice(1)}, ${turn + 1} of ${turns.length}`;
    overlay.partCount = all.length;
  }

  // Scrolls within a part that is higher than the screen. Returns false if its end (or start, if `by` is -1) is in view already.
  function scrollPart(by) {
    const page = overlay.querySelector(".present-page");
    const [frame, current] = [page.getBoundingClientRect(), page.lastElementChild?.getBoundingClientRect()];
    if (!current || (by > 0 ? current.bottom <= frame.bottom + 8 : current.top >= frame.top - 8)) return false;
    page.scrollBy({ top: by * page.clientHeight * 0.8, behavior: "instant" });
    return true;
  }

  async function step(by) {
    if (scrollPart(by)) return;
    if (by > 0 && part + 1 < overlay.partCount) part += 1;
    else if (by < 0 && part > 0) part -= 1;
    else if (turn + by >= 0 && turn + by < turns.length) { turn += by; part = by > 0 ? 0 : -1; }
    else return;
    await render();
  }
  async function jumpTurn(by) {
    if (turn + by < 0 || turn + by >= turns.length) return;
    turn += by;
    part = 0;
    await render();
  }
  // During the presentation these are the only shortcuts of the page.
  const presentKey = (name, label, handler) => key(name, label, handler, ".present");
  const SESSION = "#main[data-base]";
  key("P", "present this session", () => void open(), SESSION);
  key("p", "", () => void open(), SESSION);
  presentKey("ArrowRight", "next part", () => void step(1));
  presentKey(" ", "next part", () => void step(1));
  presentKey("PageDown", "", () => void step(1));
  presentKey("ArrowLeft", "previous part", () => void step(-1));
  presentKey("PageUp", "", () => void step(-1));
  presentKey("ArrowDown", "next turn", () => void jumpTurn(1));
  presentKey("ArrowUp", "previous turn", () => void jumpTurn(-1));
  presentKey("Home", "first turn", () => void jumpTurn(-turn));
  presentKey("End", "last turn", () => void jumpTurn(turns.length - 1 - turn));
  presentKey("F", "full screen", () => void toggleFullscreen());
  presentKey("f", "", () => void toggleFullscreen());
  presentKey("Escape", "close the presentation", close);
  on('[data-command="present"]', "click", open);
})();
