// Every page: it is printed in the colours of the light theme, the folds of its contents have names, the switch for a
// chapter's code is remembered, and a claim that is linked to opens.
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
  window.addEventListener("hashchange", open);
  if (location.hash) open();
})();
