/* Armillary page script. All of it is extra: every page does its main job without it.
   data-live      a region that refreshes itself (stream, else polling)
   data-log       a log that grows
   data-confirm   a question before a form is sent or a request is made
   data-copy      copies the text of the element its selector names
   data-ago       a relative time that stays true */
(function () {
  "use strict";
  const one = (selector, root) => (root || document).querySelector(selector);
  const each = (root, selector, act) => {
    if (root.matches && root.matches(selector)) act(root);
    root.querySelectorAll(selector).forEach(act);
  };
  const language = document.documentElement.lang || "en";
  // Ages count by the server's clock; the browser's may be wrong.
  const skew = Date.parse(document.body.dataset.now) - Date.now() || 0;
  const now = () => Date.now() + skew;

  /* --- relative times ------------------------------------------------------------------------ */
  const words = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  function ago(time) {
    const seconds = Math.trunc((Date.parse(time.dateTime) - now()) / 1000);
    const [unit, size] = UNITS.find((pair) => Math.abs(seconds) >= pair[1]) || UNITS[3];
    // House style keeps a space between digits and Han; Intl does not.
    const text = words.format(Math.trunc(seconds / size) || -0, unit).replace(/(\d)(?=\p{Script=Han})/u, "$1 ");
    if (time.textContent !== text) time.textContent = text;
  }

  /* --- live regions ----------------------------------------------------------------------------
     <section data-live="/stream" hx-get="/part" hx-trigger="live">. The stream only says that something changed
     (event "change") or that nothing did (event "beat"); htmx fetches the part. Without a stream (empty address,
     refused, limit reached) the region polls every data-live-every seconds. A part holding data-live-end ends it. */
  const badge = one("#live");
  const heard = new Map();
  function follow(region) {
    const every = 1000 * (Number(region.dataset.liveEvery) || 5);
    let source = null, timer = 0, opened = false;
    const quiet = "liveQuiet" in region.dataset;   // a detail of the frame says nothing about the page's own age
    const beat = () => { if (!quiet) heard.set(region, { at: Date.now(), late: 3 * every + 20000 }); };
    const refresh = () => window.htmx.trigger(region, "live");
    const close = () => { if (source) source.close(); clearInterval(timer); source = null; };
    const ended = () => !region.isConnected || one("[data-live-end]", region) !== null;
    const end = () => { close(); heard.delete(region); };
    const poll = () => { close(); timer = setInterval(() => (ended() ? end() : refresh()), every); };
    function open() {
      if (!region.dataset.live) return poll();
      source = new EventSource(region.dataset.live);
      // A stream that broke off or ended may have missed the last change.
      source.addEventListener("open", () => { if (opened) refresh(); opened = true; });
      source.addEventListener("beat", beat);
      source.addEventListener("change", () => { beat(); refresh(); });
      source.addEventListener("error", () => { if (source && source.readyState === EventSource.CLOSED) poll(); });
    }
    region.addEventListener("htmx:afterRequest", (ev) => { if (ev.detail.successful) beat(); });
    region.addEventListener("htmx:afterSwap", () => { if (ended()) end(); });
    document.addEventListener("visibilitychange", () => {   // a hidden page keeps no stream open
      if (ended()) return end();
      if (document.hidden) return close();
      refresh();
      open();
    });
    if (ended()) return;
    beat();
    open();
  }
  document.addEventListener("htmx:beforeSwap", (ev) => {   // signed out meanwhile: a part was answered with the sign-in page
    const asked = new URL(ev.detail.pathInfo.requestPath, location.href).pathname, xhr = ev.detail.xhr;
    if (!/^\s*<!doctype/i.test(xhr.responseText) || new URL(xhr.responseURL || location.href).pathname === asked) return;
    ev.detail.shouldSwap = false;
    if (!("liveQuiet" in ev.detail.elt.dataset)) location.reload();   // the frame's poll must not take away a half-filled form
  });
  function showAge() {
    if (!badge) return;
    badge.hidden = heard.size === 0;
    if (badge.hidden) return;
    const oldest = Array.from(heard.values()).reduce((a, b) => (a.at < b.at ? a : b));
    const age = Date.now() - oldest.at, lost = age > oldest.late, seconds = Math.floor(age / 1000);
    const text = seconds < 60 ? badge.dataset.s.replace("{n}", seconds) : badge.dataset.m.replace("{n}", Math.floor(seconds / 60));
    badge.classList.toggle("ok", !lost);
    badge.classList.toggle("warn", lost);
    badge.classList.remove("off");
    one("use", badge).setAttribute("href", lost ? "#s-unknown" : "#s-dot");
    one("span", badge).textContent = (lost ? badge.dataset.wordLost : badge.dataset.wordLive).replace("{age}", text);
  }

  /* --- logs ------------------------------------------------------------------------------------
     GET data-log?after=OFFSET answers text/plain, X-Log-Offset (where to read on) and X-Log-Ended when complete. */
  function tail(box) {
    const pre = one("pre", box), button = one("[data-log-pause]", box), word = one("[data-log-state]", box);
    let offset = box.dataset.logOffset || "0", paused = false, ended = "logEnded" in box.dataset;
    const say = (state) => { word.textContent = word.dataset[state]; };
    const address = () => box.dataset.log + (box.dataset.log.includes("?") ? "&" : "?") + "after=" + encodeURIComponent(offset);
    function append(text) {
      const atEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 40;
      pre.append(text);
      while (pre.childNodes.length > 500) pre.firstChild.remove();   // an endless log must not fill the browser
      if (atEnd) pre.scrollTop = pre.scrollHeight;
    }
    async function read() {
      const answer = await fetch(address(), { headers: { Accept: "text/plain" }, credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const text = await answer.text();
      offset = answer.headers.get("X-Log-Offset") || offset;
      ended = answer.headers.has("X-Log-Ended");
      if (text) append(text);
    }
    async function loop() {
      if (!box.isConnected) return;
      if (!paused && !document.hidden) await read().then(() => say("following"), () => say("lost"));
      if (ended) { button.hidden = true; return say("ended"); }
      setTimeout(loop, 2000);
    }
    button.addEventListener("click", () => {
      paused = !paused;
      button.setAttribute("aria-pressed", String(paused));
      say(paused ? "paused" : "following");
    });
    pre.scrollTop = pre.scrollHeight;
    if (ended || !box.dataset.log) { button.hidden = true; say("ended"); } else loop();
  }

  /* --- confirm --------------------------------------------------------------------------------- */
  function ask(text) {
    const dialog = one("#confirm");
    one("#confirm-say").textContent = text;
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((done) => dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true }));
  }
  document.addEventListener("submit", (ev) => {
    const form = ev.target, button = ev.submitter;
    const text = (button && button.dataset.confirm) || form.dataset.confirm;
    if (!text || form.dataset.confirmed) return void delete form.dataset.confirmed;
    ev.preventDefault();
    ev.stopImmediatePropagation();
    ask(text).then((yes) => { if (yes) { form.dataset.confirmed = "yes"; form.requestSubmit(button); } });
  }, true);
  document.addEventListener("htmx:confirm", (ev) => {
    const element = ev.detail.elt;
    if (!element.dataset.confirm || element.tagName === "FORM") return;
    ev.preventDefault();
    ask(element.dataset.confirm).then((yes) => { if (yes) ev.detail.issueRequest(true); });
  });

  /* --- small things: copy, "/", menus, drawers --------------------------------------------------- */
  async function copy(button) {
    const text = one(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1500);
    } catch (e) {   // no clipboard on a plain-http address: select the text instead
      getSelection().selectAllChildren(one(button.dataset.copy));
    }
  }
  let opener = null;
  document.addEventListener("click", (ev) => {
    const button = ev.target.closest("[data-copy]"), link = ev.target.closest('a[href^="#"]');
    if (button) copy(button);
    if (link) opener = link;
    document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(ev.target)) menu.open = false; });
  });
  document.addEventListener("keydown", (ev) => {
    const typing = ev.target.closest("input, textarea, select, [contenteditable]");
    const drawer = one(".drawer:target");
    if (ev.key === "/" && !typing && !ev.ctrlKey && !ev.metaKey && !ev.altKey && one("#find")) {
      ev.preventDefault();
      one("#find").focus();
    } else if (ev.key === "Escape" && one("details.menu[open]")) {
      const menu = one("details.menu[open]");
      menu.open = false;
      one("summary", menu).focus();
    } else if (ev.key === "Escape" && drawer) {
      location.hash = "#main";
      if (opener) opener.focus();
    }
  });
  const enterDrawer = () => { const drawer = one(".drawer:target"); if (drawer) (one("a, button", drawer) || drawer).focus(); };
  window.addEventListener("hashchange", enterDrawer);

  const reach = () => {   // what scrolls sideways must be reachable by keyboard, and only that
    document.querySelectorAll(".scroll").forEach((box) => {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute("tabindex");
    });
  };
  document.addEventListener("htmx:load", (ev) => {   // the whole page once, then each part that arrives
    each(ev.target, "[data-live]", follow);
    each(ev.target, "[data-log]", tail);
    each(ev.target, "time[data-ago]", ago);
    reach();
  });
  window.addEventListener("resize", () => reach());
  setInterval(() => { showAge(); document.querySelectorAll("time[data-ago]").forEach(ago); }, 1000);
  const current = one(".nav [aria-current]");
  if (current) current.scrollIntoView({ block: "nearest", inline: "center" });
})();
