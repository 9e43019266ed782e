// Checks that run inside the page. A function named after a fault returns all cases of it, an empty list if there are none.

const BOXES = "td, th, caption, dt, dd, p, li, summary, figcaption, pre, h1, h2";
const STOPS = "a[href], summary, button, input, select, textarea, [tabindex]";

const all = (what, inside = document) => [...inside.querySelectorAll(what)];
const brief = (words) => words.trim().replace(/\s+/g, " ").slice(0, 40);
const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
const overflows = (element) => scrolls(element) && element.scrollWidth > element.clientWidth;

function expandAll() {
  for (const details of all("details")) details.open = true;
}

function visibleText() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), shown = [];
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    const hidden = !node.data.trim() || element.closest("title, desc, .skip") || !element.checkVisibility();
    if (!hidden) shown.push([node, element]);
  }
  return shown;
}

function insideScroller(element) {
  for (; element; element = element.parentElement) if (scrolls(element)) return true;
  return false;
}

function overflowing() {
  const page = document.scrollingElement, width = page.clientWidth, wrong = new Set(), range = document.createRange();
  if (page.scrollWidth > width) wrong.add(`the page is ${page.scrollWidth} wide, the screen ${width}`);
  for (const [node, element] of visibleText()) {
    if (element.closest("svg")) continue;
    range.selectNodeContents(node);
    const words = range.getBoundingClientRect(), box = element.closest(BOXES)?.getBoundingClientRect();
    const name = `'${brief(node.data)}' (${element.tagName} in ${element.closest("[id]")?.id})`;
    const leaves = (left, right) => words.left < left - 1 || words.right > right + 1;
    if (!insideScroller(element) && leaves(0, width)) wrong.add(`${name} overflows the screen`);
    if (box && leaves(box.left, box.right)) wrong.add(`${name} overflows its box`);
  }
  for (const scroller of all("main *").filter(scrolls)) {
    const box = scroller.getBoundingClientRect(), name = `the scroller in ${scroller.closest("[id]").id}`;
    if (box.left < 0 || box.right > width) wrong.add(`${name} is wider than the screen`);
    // The header of a row stays visible while the rest scrolls; it must leave a quarter of the width.
    const heads = overflows(scroller) ? all("tbody th", scroller) : [];
    const tooWide = heads.find((head) => head.offsetWidth > 0.75 * scroller.clientWidth);
    if (tooWide) wrong.add(`'${brief(tooWide.textContent)}' fills ${name}`);
  }
  return [...wrong];
}

// Colours are [red, green, blue, opacity], from 0 to 255 and 0 to 1.
function colour(css) {
  const [red, green, blue, opacity = 1] = css.match(/[\d.]+/g).map(Number);
  return [red, green, blue, opacity];
}

function over(top, under) {
  return [0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])).concat(1);
}

function behind(element) {
  const layers = [];
  for (; element; element = element.parentElement) layers.push(colour(getComputedStyle(element).backgroundColor));
  const opaque = layers.findIndex((layer) => layer[3] === 1);
  if (opaque < 0) throw new Error("there is no opaque background");
  return layers.slice(0, opaque + 1).reduceRight((under, layer) => over(layer, under));
}

// Relative luminance and contrast ratio as WCAG 2 defines them.
function luminance(rgb) {
  const [red, green, blue] = rgb.map((of255) => {
    const share = of255 / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function lowContrast() {
  const wrong = new Set();
  const check = (element, property, least, name) => {
    const under = behind(element), reached = contrast(over(colour(getComputedStyle(element)[property]), under), under);
    if (reached < least) wrong.add(`${name}: contrast ${reached.toFixed(2)}, below ${least}`);
  };
  for (const [node, element] of visibleText())
    check(element, element.closest("svg") ? "fill" : "color", 4.5, `'${brief(node.data)}'`);
  for (const symbol of all("svg .bar, svg .dot, svg .symbol")) check(symbol, "fill", 3, symbol.className.baseVal);
  return [...wrong];
}

function overlap(one, other, slack = 0) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return wide > slack && high > slack;
}

function overlappingChartText() {
  const wrong = [], box = (element) => element.getBoundingClientRect();
  for (const svg of all("svg[role=img]")) {
    const texts = all("text", svg), marks = all(".bar, .dot", svg).map(box), frame = box(svg);
    texts.forEach((text, at) => {
      const own = box(text), name = `'${text.textContent}' in ${svg.querySelector("title").textContent}`;
      const across = own.left >= frame.left && own.right <= frame.right;
      if (!across || own.top < frame.top || own.bottom > frame.bottom) wrong.push(`${name} is cut off`);
      const met = texts.slice(at + 1).find((other) => overlap(own, box(other)));
      if (met) wrong.push(`${name} overlaps '${met.textContent}'`);
      if (marks.some((mark) => overlap(own, mark, 2))) wrong.push(`${name} overlaps a bar or dot`);
    });
  }
  return wrong;
}

function accessibilityFaults() {
  const wrong = [], expect = (well, words) => well || wrong.push(words);
  expect(document.documentElement.lang, "the page has no language");
  expect(document.title.trim(), "the page has no title");
  const levels = all("h1, h2, h3, h4, h5, h6").map((heading) => Number(heading.tagName[1]));
  expect(levels[0] === 1 && !levels.includes(1, 1), "there is not one h1, at the top");
  levels.slice(1).forEach((level, at) => expect(level <= levels[at] + 1, `h${level} follows h${levels[at]}`));
  for (const svg of all("svg:not([aria-hidden=true])")) {
    const named = svg.ariaLabel || svg.querySelector(":scope > title")?.textContent;
    expect(svg.getAttribute("role") === "img" && named, `an svg without a name: ${svg.outerHTML.slice(0, 80)}`);
  }
  for (const table of all("table")) {
    expect(table.caption && table.tHead, `a table without caption or header: ${brief(table.textContent)}`);
    for (const row of table.rows) expect(row.querySelector("th"), `a row without header: ${brief(row.textContent)}`);
  }
  for (const head of all("th:not([scope=row], [scope=col])")) wrong.push(`th without scope: ${brief(head.textContent)}`);
  expect(!document.getAnimations().length, "there is an animation");
  return wrong;
}

function unreachableScrollers() {
  const missed = all("body *").filter((element) => overflows(element) && element.tabIndex !== 0);
  return missed.map((element) => brief(element.textContent));
}

function stops() {
  return all(STOPS).filter((element) => element.tabIndex >= 0);
}

// The focused element: its position among all stops, its name, where it is, and whether the focus is visible.
function focused() {
  const element = document.activeElement;
  if (element === document.body) return null;
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  const outline = contrast(colour(style.outlineColor), behind(element.parentElement));
  return {
    place: stops().indexOf(element),
    name: brief(element.ariaLabel ?? element.textContent),
    outlined: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2 && outline >= 3,
    onScreen: box.left >= 0 && box.left < innerWidth && box.top < innerHeight && box.bottom > 0,
    closed: element.tagName === "SUMMARY" && !element.parentElement.open,
    left: box.left + scrollX, right: box.right + scrollX, top: box.top + scrollY,
  };
}
