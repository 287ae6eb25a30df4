"use strict";
// Making elements. Text goes in as text nodes alone; what cannot be seen, or would turn the text around it, is shown
// by its code point.

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const LONGEST = 4000; // characters shown before "show all"

function put(node, text) {
  const told = String(text);
  let from = 0;
  for (const found of told.matchAll(HIDDEN)) {
    if (found.index > from) node.append(told.slice(from, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    const mark = document.createElement("span");
    mark.className = "hidden-mark";
    mark.textContent = `[U+${code}]`;
    node.append(mark);
    from = found.index + found[0].length;
  }
  if (from < told.length) node.append(told.slice(from));
  return node;
}

// make("td.n", "text", node, {attribute: value})
function make(what, ...inside) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const one of inside) {
    if (one === null || one === undefined) continue;
    if (one instanceof Node) node.append(one);
    else if (Array.isArray(one)) node.append(...one.filter((each) => each !== null));
    else if (typeof one === "object") for (const name in one) node.setAttribute(name, one[name]);
    else put(node, one);
  }
  return node;
}

// Text of any length, isolated from what is around it; a long one is cut until asked for.
function prose(text, attributes) {
  const told = String(text);
  const box = make("div.prose", { dir: "auto", ...attributes });
  if (told.length <= LONGEST) return put(box, told);
  put(box, told.slice(0, LONGEST));
  const more = make("button", `… show all ${told.length.toLocaleString("en")} characters`, { type: "button" });
  more.addEventListener("click", () => {
    box.replaceChildren();
    put(box, told);
  });
  box.append(more);
  return box;
}

// JSON as it is; it scrolls where it is long, so the keyboard must reach it.
function source(value) {
  return make("pre", JSON.stringify(value, null, 1), { dir: "ltr", tabindex: "0" });
}

function figure(value, places = 3) {
  return value === null || value === undefined ? "–" : value.toFixed(places);
}

// A line that opens; what is in it is made when it is opened.
function fold(summary, build, open = false) {
  const box = make("details", make("summary", summary));
  const fill = () => {
    if (box.open && box.children.length === 1) box.append(build());
  };
  box.addEventListener("toggle", fill);
  box.open = open;
  if (open) fill();
  return box;
}

function dataTable(caption, columns, rows, attributes) {
  const first = rows.length ? rows[0].children : [];
  const number = (place) => first[place] && first[place].classList.contains("n");
  const head = make("tr", columns.map((name, place) => make(number(place) ? "th.n" : "th", name, { scope: "col" })));
  return make(
    "div.scroll", { tabindex: "0", role: "group", "aria-label": caption, ...attributes },
    make("table", make("caption", caption), make("thead", head), make("tbody", rows)),
  );
}

// A button that shows more of a list; `grow` draws the list anew, and the first new row has the focus then.
function moreButton(box, left, page, grow) {
  const more = make("button", `Show ${Math.min(page, left)} more`, { type: "button" });
  more.addEventListener("click", () => {
    const first = box.querySelectorAll("tbody a").length;
    grow();
    box.querySelectorAll("tbody a")[first].focus();
  });
  return make("p", more);
}
