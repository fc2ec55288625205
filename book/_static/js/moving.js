/* Figures that move. A chapter's page holds, for each, the picture of one frame and the description of all frames
   (lmc_helpers/figures/moving.py). When the picture comes near the screen, the page's own copy of plotly.js is loaded,
   and the picture gives way to a figure with a slider. Without this script the picture stays. */
(function () {
  "use strict";
  const library = new URL("../plotly/plotly.min.js", document.currentScript.src).href;
  const EACH = 180, GAP = 76, LEFT = 62, RIGHT = 14, BELOW = 58; // pixels
  const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: false, showTips: false };
  let loading = null;

  function load() {
    loading = loading || new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = library;
      script.onload = () => done(window.Plotly);
      script.onerror = failed;
      document.head.append(script);
    });
    return loading;
  }

  function make(tag, name, parent) {
    const made = document.createElement(tag);
    made.className = name;
    parent.append(made);
    return made;
  }

  const plain = html => { const box = document.createElement("span"); box.innerHTML = html; return box.textContent; };

  /* The theme's colours: what is written in black on paper has the colour of the text. */
  function theme() {
    const style = getComputedStyle(document.documentElement), body = getComputedStyle(document.body);
    const read = (name, other) => style.getPropertyValue(name).trim() || other;
    return { text: read("--pst-color-text-base", body.color), muted: read("--pst-color-text-muted", body.color),
      grid: read("--pst-color-border", "#ccc"), surface: read("--pst-color-surface", "#fff"), font: body.fontFamily };
  }

  function inked(trace, look) {
    const found = { ...trace, showlegend: false, hovertemplate: `%{x:.3~g}, %{y:.3~g}<extra>${trace.name}</extra>` };
    ["line", "marker"].filter(part => trace[part]).forEach(part => {
      found[part] = { ...trace[part], color: trace[part].color === "#222222" ? look.text : trace[part].color };
    });
    return found;
  }

  /* The frame's traces, drawn in the theme's colours. */
  function traces(spec, frame, look) {
    const all = spec.data.map(trace => inked(trace, look)), moved = spec.frames[frame];
    moved.traces.forEach((place, k) => Object.assign(all[place], moved.data[k]));
    return all;
  }

  /* Panels side by side, or one below the other where they would be narrow. */
  function arrange(spec, width, look) {
    const meta = spec.layout.meta, many = meta.panels, stacked = width < EACH * many + 160;
    const top = spec.layout.annotations.length ? 34 : 12, font = { family: look.font, size: 13, color: look.text };
    const inner = width - LEFT - RIGHT, column = stacked ? inner : (inner - GAP * (many - 1)) / many;
    const row = column * meta.height, step = row + BELOW + top;
    const high = stacked ? many * step - BELOW - top : row;
    const layout = { width, height: high + top + BELOW, margin: { l: LEFT, r: RIGHT, t: top, b: BELOW }, font,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false, hovermode: "closest",
      hoverlabel: { bgcolor: look.surface, bordercolor: look.grid, font }, barmode: "overlay",
      annotations: spec.layout.annotations.map(note => ({ ...note, font: { ...font, size: 14 } })) };
    for (let k = 0; k < many; k++) {
      const end = k ? String(k + 1) : "";
      const domain = stacked
        ? { x: [0, 1], y: [1 - (k * step + row) / high, 1 - k * step / high] }
        : { x: [k * (column + GAP) / inner, (k * (column + GAP) + column) / inner], y: [0, 1] };
      ["x", "y"].forEach(name => {
        const axis = spec.layout[name + "axis" + end];
        layout[name + "axis" + end] = { ...axis, domain: domain[name].map(v => Math.min(1, Math.max(0, v))),
          title: { ...axis.title, standoff: 8 }, fixedrange: true, zeroline: false, gridcolor: look.grid,
          linecolor: look.muted, showline: true, exponentformat: "power", ticks: "outside", tickcolor: look.muted,
          automargin: name === "y" };
      });
    }
    return layout;
  }

  function swatch(trace, look) {
    const { line, marker } = inked(trace, look), dash = { dash: "6 3", dot: "2 3" }[line && line.dash] || "none";
    const shapes = { circle: '<circle cx="14" cy="6" r="4"/>', square: '<rect x="10" y="2" width="8" height="8"/>',
      "triangle-down": '<path d="M9 2h10l-5 9z"/>', x: '<path d="M10 2l8 8m0-8l-8 8" stroke-width="2"/>' };
    const stroke = line ? `<path d="M0 6h28" stroke="${line.color}" stroke-width="2" stroke-dasharray="${dash}"/>` : "";
    const shape = trace.type === "bar" ? '<rect x="6" y="1" width="16" height="10"/>' : shapes[marker && marker.symbol] || "";
    const colour = marker ? marker.color : "none";
    return `<svg width="28" height="12" aria-hidden="true">${stroke}<g fill="${colour}" stroke="${colour}" stroke-width="0">${shape}</g></svg>`;
  }

  function build(Plotly, figure, spec) {
    const picture = figure.querySelector("img"), caption = figure.querySelector("figcaption"), meta = spec.layout.meta;
    const stage = document.createElement("div");
    stage.className = "lmc-moving";
    const legend = make("ul", "lmc-moving-legend", stage), plot = make("div", "lmc-moving-plot", stage);
    const controls = make("div", "lmc-moving-controls", stage), label = make("label", "", controls);
    label.innerHTML = `<span>${meta.slider}</span>`;
    const slider = make("input", "", label), value = make("output", "", label), note = make("p", "", controls);
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", picture ? picture.alt : plain(meta.slider));
    Object.assign(slider, { type: "range", min: 0, max: spec.frames.length - 1, step: 1, value: meta.start });
    slider.setAttribute("aria-label", plain(meta.slider));
    figure.insertBefore(stage, caption);
    figure.classList.add("lmc-moves");
    if (picture) picture.setAttribute("aria-hidden", "true");

    let waiting = false, width = 0;
    function draw() {
      waiting = false;
      const frame = Number(slider.value), look = theme();
      width = Math.floor(stage.clientWidth);
      Plotly.react(plot, traces(spec, frame, look), arrange(spec, width, look), CONFIG);
      value.textContent = meta.values[frame];
      note.innerHTML = meta.notes[frame];
      slider.setAttribute("aria-valuetext", `${meta.values[frame]}: ${plain(meta.notes[frame])}`);
      const named = spec.data.filter((trace, k, all) => trace.name && all.findIndex(t => t.name === trace.name) === k);
      legend.innerHTML = named.map(trace => `<li>${swatch(trace, look)}<span>${trace.name}</span></li>`).join("");
    }
    function ask() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }
    slider.addEventListener("input", ask);
    new MutationObserver(ask).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    new ResizeObserver(() => { if (Math.floor(stage.clientWidth) !== width) ask(); }).observe(stage);
    draw();
  }

  const waiting = new Map();
  document.querySelectorAll("script.lmc-moving-spec").forEach(script => {
    const figure = document.getElementById(script.dataset.figure);
    if (figure) waiting.set(figure, script);
  });
  if (!waiting.size || !window.IntersectionObserver) return;
  const observer = new IntersectionObserver(entries => entries.forEach(entry => {
    if (!entry.isIntersecting) return;
    observer.unobserve(entry.target);
    load().then(Plotly => build(Plotly, entry.target, JSON.parse(waiting.get(entry.target).textContent)), () => null);
  }), { rootMargin: "400px 0px" });
  waiting.forEach((script, figure) => observer.observe(figure));
})();
