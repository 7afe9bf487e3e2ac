"use strict";
// The map of a session: loaded after the text and again when the session grows. Shows the turn that the user is reading.
(() => {
  const { get, ready, parseHtml, idle } = window.rethread;

  ready(() => {
    const main = document.getElementById("main");
    const map = document.getElementById("map");
    if (!main || !map) return;

    let current = null;
    const markCurrent = () => {
      const turn = Number(window.rethread.currentTurn()?.dataset.turn);
      if (!turn) return;
      let next = null;
      for (const link of map.querySelectorAll("a[data-turn]")) if (Number(link.dataset.turn) <= turn) next = link;
      if (next === current) return;
      current?.removeAttribute("aria-current");
      current = next;
      if (!current) return;
      current.setAttribute("aria-current", "true");
      // Scroll the map only, never the page.
      const [link, frame] = [current.getBoundingClientRect(), map.getBoundingClientRect()];
      if (link.top < frame.top || link.bottom > frame.bottom) map.scrollTop += link.top - frame.top - frame.height / 3;
    };

    let shownMarkup = "";
    const update = async () => {
      const markup = await get(`${main.dataset.base}/map${main.dataset.query}`).catch(() => shownMarkup);
      if (markup === shownMarkup) return;
      shownMarkup = markup;
      const focused = map.contains(document.activeElement) && document.activeElement.getAttribute("href");
      map.replaceChildren(parseHtml(markup));
      map.hidden = !map.firstElementChild;
      if (focused) [...map.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
      current = null;
      idle(markCurrent);
    };

    let isScheduled = false;
    addEventListener("scroll", () => {
      if (isScheduled) return;
      isScheduled = true;
      setTimeout(() => idle(() => { isScheduled = false; markCurrent(); }), 100);
    }, { passive: true });
    document.addEventListener("rethread:grown", update);
    // An exported page contains its map.
    if (window.rethread.packed) idle(markCurrent); else update();
  });
})();
