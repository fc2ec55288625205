// Every page: it is printed in the colours of the light theme, the folds of its contents have names, the switch for a
// chapter's code is remembered, a claim that is linked to opens, and a formula or table too wide for a phone is drawn smaller.
(() => {
  const paper = window.matchMedia("print"), theme = document.documentElement.dataset;
  const lighten = (printed) => {
    if (printed && !theme.onScreen) Object.assign(theme, { onScreen: theme.theme, theme: "light" });
    if (!printed && theme.onScreen) { theme.theme = theme.onScreen; delete theme.onScreen; }
  };
  paper.addEventListener("change", () => lighten(paper.matches));
  window.addEventListener("beforeprint", () => lighten(true));
  window.addEventListener("afterprint", () => lighten(false));
  lighten(paper.matches);
  for (const fold of document.querySelectorAll(".bd-sidenav summary"))
    fold.setAttribute("aria-label", `Pages under ${fold.closest("li").querySelector("a").textContent.trim()}`);

  const code = document.getElementById("lmc-code");
  const store = (act) => { try { return act(window.localStorage); } catch { return null; } };
  if (code) {
    code.checked = store((s) => s.getItem("lmc-code")) === "shown";
    code.addEventListener("change", () => store((s) => s.setItem("lmc-code", code.checked ? "shown" : "hidden")));
  }
  const open = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };
  const SMALLEST = 0.72; // of the size of a formula or a table; one that needs less scrolls
  const shrink = (element, boxes) => {
    const share = Math.min(...boxes.map((box) => box.clientWidth / box.scrollWidth));
    if (!(share < 1) || "fits" in element.dataset) return;
    element.style.fontSize = `${parseFloat(getComputedStyle(element).fontSize) * Math.max(SMALLEST, share - 0.01)}px`;
    element.dataset.fits = "";
  };
  const fit = (inside) => {
    if (window.innerWidth > 600) return;
    for (const box of inside.querySelectorAll("article .pst-scrollable-table-container")) shrink(box.firstElementChild, [box]);
    for (const formula of inside.querySelectorAll("article mjx-container"))
      shrink(formula, [formula, formula.closest("span.math, div.math") || formula]);
  };
  window.addEventListener("load", () => window.MathJax?.startup?.promise.then(() => fit(document)));
  document.addEventListener("toggle", (event) => fit(event.target), true);
  window.addEventListener("hashchange", open);
  if (location.hash) open();
})();
