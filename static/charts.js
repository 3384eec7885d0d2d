/* Charts: draws the figure the server built, in the colours of the tokens.
   <div data-plotly="#id"></div> + <script type="application/json" id="id">{"data": [...], "layout": {...}}</script>
   A colour is written "var(--gpu)" anywhere in the figure. Loaded before the chart library. */
(function () {
  "use strict";
  // The library's bundle carries a map part that writes an inline style unless this id is taken; we draw no maps,
  // and the content security policy would refuse (and report) it.
  const taken = document.createElement("meta");
  taken.id = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53";
  document.head.append(taken);

  const TOKEN = /^var\((--[\w-]+)\)$/;
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function coloured(value) {
    if (typeof value === "string") {
      const found = TOKEN.exec(value);
      return found ? token(found[1]) : value;
    }
    if (Array.isArray(value)) return value.map(coloured);
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, coloured(inner)]));
    }
    return value;
  }

  const axis = () => ({ gridcolor: token("--line"), linecolor: token("--line-2"), zerolinecolor: token("--line-2"),
    tickcolor: token("--line-2"), automargin: true });

  function layout(own) {
    const clear = "rgba(0,0,0,0)";
    const small = { size: 11, color: token("--ink-3") };
    return Object.assign({ autosize: true, paper_bgcolor: clear, plot_bgcolor: clear, margin: { l: 8, r: 8, t: 8, b: 8 },
      font: Object.assign({ family: token("--sans") }, small), legend: { orientation: "h" }, separators: ".,",
      hoverlabel: { bgcolor: token("--raised"), bordercolor: token("--line-2"), font: { color: token("--ink") } } },
      own, { xaxis: Object.assign(axis(), own.xaxis), yaxis: Object.assign(axis(), own.yaxis) });
  }

  function draw(box) {
    const figure = coloured(JSON.parse(document.querySelector(box.dataset.plotly).textContent));
    window.Plotly.react(box, figure.data, layout(figure.layout || {}), { responsive: true, displayModeBar: false });
  }

  const drawAll = (root) => root.querySelectorAll("[data-plotly]").forEach(draw);
  const redraw = () => drawAll(document);
  window.addEventListener("DOMContentLoaded", redraw);
  document.addEventListener("themechange", redraw);
  document.addEventListener("htmx:load", (ev) => { if (window.Plotly) drawAll(ev.target); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
