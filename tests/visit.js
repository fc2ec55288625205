/* What a reader finds on a page, once it is drawn: every figure is scrolled into view, all is measured, nothing is
   judged. The tests assert on it (`visits` in tests/browser.py). Afterwards, on a wider screen, only what differs there. */
async wider => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const root = document.documentElement, text = found => found && found.innerText;
  const size = element => (({ width, height }) => [width, height])(element.getBoundingClientRect());
  const inside = figure => ({ wide: figure.scrollWidth > figure.clientWidth, overflow: getComputedStyle(figure).overflowX,
    right: Math.max(...all("figcaption *", figure).map(part => part.getBoundingClientRect().right)) });
  const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const until = async met => {
    for (const end = performance.now() + 30000; !met() && performance.now() < end;) await frames();
  };

  await (window.MathJax && MathJax.startup ? MathJax.startup.promise : null);
  await document.fonts.ready;
  await until(() => !window.FontAwesome || root.classList.contains("fontawesome-i2svg-complete"));
  await frames();
  await until(() => document.getAnimations().every(({ playState }) => playState != "running")); // sidebars slide

  /* Code that the switch shows; claims open as a reader opens them. */
  const shown = element => element.getClientRects().length > 0;
  const code = all(".cell.tag_lmc-switched > .cell_input"), button = document.getElementById("lmc-code");
  const before = code.filter(shown).length;
  if (button && !wider) button.click();
  const switched = code.filter(shown).map(cell => cell.textContent.trim().split("\n")[0]);
  if (button && !wider) button.click();
  for (const claim of all("details.lmc-claim")) claim.open = true;

  const early = all("script[src*=plotly]").length;
  const images = all("article img").filter(shown), reserved = images.map(size), pictures = [];
  for (const [k, image] of images.entries()) {
    image.scrollIntoView({ block: "center", behavior: "instant" });
    await image.decode().catch(() => null); // a picture that does not come has no width
    const figure = image.closest("figure");
    pictures.push({ src: image.getAttribute("src"), alt: image.alt,
      natural: [image.naturalWidth, image.naturalHeight], shown: [image.clientWidth, image.clientHeight],
      reserved: reserved[k], size: size(image), moves: Boolean(image.closest(".lmc-moves")),
      caption: figure ? text(figure.querySelector("figcaption")) : null, figure: figure && inside(figure) });
  }
  if (wider) return { overflow: root.scrollWidth - root.clientWidth, pictures };
  const moving = [], undrawn = [];
  for (const { dataset } of all("script.lmc-moving-spec")) {
    const figure = document.getElementById(dataset.figure);
    figure.scrollIntoView({ block: "center", behavior: "instant" });
    await until(() => figure.querySelector(".main-svg"));
    if (figure.querySelector(".main-svg")) moving.push(figure);
    else undrawn.push(figure.id);
  }
  await frames();

  /* Formulas that end beyond the page, and those beyond their own box that does not scroll, start late or need not. */
  const cut = all("article mjx-container").filter(formula => {
    const box = formula.closest("span.math, div.math") || formula, rect = box.getBoundingClientRect();
    if (!rect.width || box.closest(".pst-scrollable-table-container")) return false;
    const wide = box.scrollWidth > box.clientWidth, scrolls = getComputedStyle(box).overflowX == "auto";
    const outside = rect.right > root.clientWidth + 1 || formula.getBoundingClientRect().left < rect.left - 1;
    return outside || (wide && !scrolls);
  });

  /* Marks that follow a formula in the text, and whether they stand on its line. */
  const marks = [], article = document.querySelector("article") || document.body;
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const formula = node.previousSibling;
    if (!/^[.,;:!?)]/.test(node.data) || !formula || !formula.matches) continue;
    if (!formula.matches("mjx-container:not([display=true]), span.math") || !formula.getClientRects().length) continue;
    if (node.parentElement.closest("pre, script, details:not([open])")) continue;
    const range = document.createRange();
    range.setStart(node, 0);
    range.setEnd(node, 1);
    const rect = range.getBoundingClientRect(), end = formula.getBoundingClientRect();
    const beside = rect.top < end.bottom && rect.left >= end.right - 1;
    marks.push([beside, node.parentElement.textContent.slice(-80)]);
  }

  const labels = all("svg.lmc-scale").flatMap(svg => {
    const boxes = all("text:not(.lmc-log)", svg).map(label => label.getBoundingClientRect());
    return boxes.flatMap((a, k) => boxes.slice(0, k).filter(b =>
      a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2));
  });
  const beyond = element => element.getBoundingClientRect().right > root.clientWidth + 1;
  const boxes = all(".lmc-claim, .lmc-claim *:not(mjx-container *):not(svg *)");

  const movers = [];
  for (const figure of moving) {
    const plot = figure.querySelector(".lmc-moving-plot"), slider = figure.querySelector("input");
    const axes = Object.keys(plot.layout).filter(name => /^yaxis\d*$/.test(name)).sort();
    const drawn = [];
    for (const frame of [slider.value, slider.min, slider.max]) {
      slider.value = frame;
      slider.dispatchEvent(new Event("input"));
      await frames();
      drawn.push([Number(frame), plot.data.map(trace => [trace.x, trace.y]), slider.getAttribute("aria-valuetext")]);
    }
    movers.push({ figure: figure.id, drawn, rows: axes.map(name => plot.layout[name].domain), slider: size(slider),
      spec: document.querySelector(`script[data-figure="${figure.id}"]`).textContent,
      named: all("input, [role=img]", figure).map(part => part.getAttribute("aria-label")),
      bars: all(".modebar-btn", figure).length,
      fonts: all(".lmc-moving text", figure).map(label => parseFloat(getComputedStyle(label).fontSize)) });
  }

  const facts = {
    url: location.href,
    title: document.title,
    next: all("a.right-next").map(link => link.href),
    downloads: all(".dropdown-download-buttons a").map(link => link.href),
    overflow: root.scrollWidth - root.clientWidth,
    formulas: all("mjx-container").length,
    wrong: all("mjx-merror, .math-error").map(formula => formula.textContent),
    fonts: [...document.fonts].filter(font => font.status == "loaded").map(font => font.family),
    pictures, cut: cut.map(formula => formula.textContent), marks, movers, before, switched,
    boxes: boxes.length,
    beyond: boxes.filter(beyond).map(box => box.getAttribute("class")),
    scales: all("svg.lmc-scale text").map(label => label.getBBox().height),
    met: labels.length,
    map: all(".lmc-map text").map(label => label.getBoundingClientRect().height),
    early, undrawn,
    icons: all("svg.svg-inline--fa").map(icon => all("path", icon).map(path => path.getAttribute("d"))),
    missing: all("svg.svg-inline--fa g.missing").length,
  };
  const display = value => all("article pre").forEach(code => { code.style.display = value; });
  display("none"); // code may hold formulas as strings
  facts.text = text(article);
  display("");
  return facts;
}
