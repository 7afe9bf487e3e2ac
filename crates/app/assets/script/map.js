"use strict";
// The map beside a session: it comes when the text is there, again when that has grown, and shows where one reads.
(() => {
  const { get, ready, elements, idle } = window.rethread;

  ready(() => {
    const main = document.getElementById("main");
    const map = document.getElementById("map");
    if (!main || !map) return;

    let here = null;
    const look = () => {
      const turn = Number(window.rethread.reading()?.dataset.turn);
      if (!turn) return;
      let now = null;
      for (const one of map.querySelectorAll("a[data-turn]")) if (Number(one.dataset.turn) <= turn) now = one;
      if (now === here) return;
      here?.removeAttribute("aria-current");
      here = now;
      if (!here) return;
      here.setAttribute("aria-current", "true");
      // The map moves, and never the page.
      const [place, frame] = [here.getBoundingClientRect(), map.getBoundingClientRect()];
      if (place.top < frame.top || place.bottom > frame.bottom) map.scrollTop += place.top - frame.top - frame.height / 3;
    };

    let drawn = "";
    const draw = async () => {
      const markup = await get(`${main.dataset.base}/map${main.dataset.query}`).catch(() => drawn);
      if (markup === drawn) return;
      drawn = markup;
      const focused = map.contains(document.activeElement) && document.activeElement.getAttribute("href");
      map.replaceChildren(elements(markup));
      map.hidden = !map.firstElementChild;
      if (focused) [...map.querySelectorAll("a")].find((one) => one.getAttribute("href") === focused)?.focus({ preventScroll: true });
      here = null;
      idle(look);
    };

    let waiting = false;
    addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      setTimeout(() => idle(() => { waiting = false; look(); }), 100);
    }, { passive: true });
    document.addEventListener("rethread:grown", draw);
    // A page without a server brings its map along.
    if (window.rethread.packed) idle(look); else draw();
  });
})();
