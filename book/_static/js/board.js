// The scoreboard's filters. Their state stands in the address after #, as paper-Z--verdict-fails--differs, so that it
// can be kept and sent (a hyphen, as scripts of the theme take what follows # for the name of an element); an address that names a row or a part shows it, whatever was filtered before.
"use strict";
(() => {
  const form = document.querySelector(".board-filter");
  if (!form) return;
  const fields = ["paper", "verdict", "kind", "whose"];
  const claims = [...document.querySelectorAll("tbody.board-claim")];
  const fold = form.querySelector(".board-unfold");

  // Folded parts are drawn when they are opened: by MathJax's first pass if that is still to come, or by one more.
  const typeset = (details) => {
    const list = details.querySelector("ul.mathjax_ignore");
    if (!list) return;
    list.classList.replace("mathjax_ignore", "mathjax_process");
    if (window.MathJax && MathJax.startup && MathJax.startup.promise) {
      MathJax.startup.promise.then(() => MathJax.typesetPromise([list]));
    }
  };

  const matches = (part, wanted) =>
    fields.slice(1).every((name) => !wanted[name] || part.dataset[name] === wanted[name]) &&
    (!wanted.differs || "differs" in part.dataset);

  const wantedNow = () => {
    const wanted = Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));
    return { ...wanted, differs: form.elements.differs.checked };
  };

  const show = () => {
    const wanted = wantedNow();
    const byPart = wanted.verdict || wanted.kind || wanted.whose || wanted.differs;
    const statements = (parts) => new Set(parts.map((part) => part.dataset.readings || part.id)).size;
    let rows = 0, shown = 0, all = 0;
    for (const claim of claims) {
      const parts = [...claim.querySelectorAll("li")];
      const paper = !wanted.paper || claim.closest("table").dataset.paper === wanted.paper;
      let here = 0;
      for (const part of parts) {
        part.hidden = !matches(part, wanted);
        here += !part.hidden;
      }
      all += statements(parts);
      claim.hidden = !paper || (byPart && !here);
      if (claim.hidden) continue;
      rows += 1;
      shown += statements(parts.filter((part) => !part.hidden));
      const count = claim.querySelector(".board-count");
      if (count) count.textContent = here < parts.length ? `${here} of ${parts.length}` : parts.length;
    }
    for (const table of document.querySelectorAll("table.board")) {
      const empty = ![...table.tBodies].some((body) => !body.hidden);
      (table.closest("section") || table).hidden = empty;
    }
    form.querySelector("output").textContent = `${rows} of ${claims.length} claims, ${shown} of ${all} statements`;
  };

  const remember = () => {
    const wanted = wantedNow();
    const words = fields.filter((name) => wanted[name]).map((name) => `${name}-${wanted[name]}`);
    if (wanted.differs) words.push("differs");
    history.replaceState(null, "", words.length ? `#${words.join("--")}` : location.pathname + location.search);
  };

  const read = () => {
    const words = decodeURIComponent(location.hash.slice(1)).split("--");
    const given = Object.fromEntries(words.map((word) => word.split(/-(.*)/s)));
    for (const name of fields) {
      const options = [...form.elements[name].options].map((option) => option.value);
      form.elements[name].value = options.includes(given[name]) ? given[name] : "";
    }
    form.elements.differs.checked = words.includes("differs");
    show();
    const target = document.getElementById(words[0]);
    const claim = target && target.closest("tbody.board-claim");
    if (claim) {
      const details = claim.querySelector("details");
      if (details && target !== claim) details.open = true;
      for (const old of document.querySelectorAll(".board-target")) old.classList.remove("board-target");
      target.classList.add("board-target");
      target.scrollIntoView({ block: "center" });
    } else if (words.some((word) => word === "differs" || fields.includes(word.split("-")[0]))) {
      form.scrollIntoView({ block: "start" });
    }
  };

  const unfold = (open) => {
    fold.setAttribute("aria-pressed", open);
    fold.textContent = open ? "fold" : "unfold";
    for (const claim of claims) {
      const details = claim.querySelector("details");
      if (details && !claim.hidden) details.open = open;
    }
  };

  for (const details of document.querySelectorAll("tbody.board-claim details")) {
    details.addEventListener("toggle", () => details.open && typeset(details));
  }
  form.addEventListener("input", () => { show(); remember(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { show(); remember(); unfold(false); }));
  fold.addEventListener("click", () => unfold(fold.getAttribute("aria-pressed") !== "true"));
  window.addEventListener("hashchange", read);
  form.hidden = false;
  read();
})();
