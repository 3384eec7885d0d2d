/* Theme only. Loaded before first paint, so that a stored choice does not flash. */
(function () {
  "use strict";
  var root = document.documentElement, saved = null;
  root.classList.add("js");   // controls that need a script are shown from here on
  try { saved = localStorage.getItem("theme"); } catch (e) { /* storage may be blocked */ }
  if (saved === "light" || saved === "dark") root.dataset.theme = saved;
  document.addEventListener("click", function (ev) {
    if (!ev.target.closest("[data-theme-toggle]")) return;
    var dark = root.dataset.theme ? root.dataset.theme === "dark"
             : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch (e) { /* keep for this page */ }
    document.dispatchEvent(new Event("themechange"));
  });
})();
