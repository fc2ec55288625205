// A chapter's page: the switch for its code is remembered, and a claim that is linked to opens.
(() => {
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
