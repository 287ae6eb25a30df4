"use strict";
// What people fill in: a verdict, a correction and a comment for each row of the sheet; and the desk where it is saved.

const TYPES = ["NA", "PE", "AE", "none"];
const PARTS = ["check", "text", "requires", "safety"];
const ASKED = {
  plausibility: "Would a physician ask this, of this patient, now?",
  implicitness: "Is this type of the implicit form right",
  item: "Is this item right?",
  arguments: "Are these arguments right?",
};
let numbered = 0;

// Why `wardround review import` would refuse a correction; "" where it would not.
function fault(row, one) {
  const [, what, , , value] = row;
  if (one.verdict !== "revise" || what === "plausibility") return "";
  const told = one.correction.trim();
  if (!told) return "a revision needs a correction";
  if (what === "implicitness") return TYPES.includes(told) ? "" : `a type is one of ${TYPES.join(", ")}`;
  const found = parsed(told);
  if (!found || Array.isArray(found)) return "a correction is a JSON object";
  const strange = what === "item" ? Object.keys(found).find((name) => !PARTS.includes(name)) : undefined;
  if (strange !== undefined) return `an item has ${PARTS.join(", ")}, not ${strange}`;
  return same(found, standing(what, value)) ? "not changed yet: this is what stands there" : "";
}

function same(one, other) {
  const sorted = (value) => (value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])]))
    : Array.isArray(value) ? value.map(sorted) : value);
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

// What a correction of a row begins with.
function standing(what, value) {
  const found = parsed(value);
  return what === "item" ? { check: found } : found;
}

// JSON to be edited: what cannot be seen is written as its escape, which is the same JSON.
function editable(value) {
  return JSON.stringify(value, null, 1).replace(new RegExp(HIDDEN.source, "g"), (mark) => (mark === "\n" ? mark : [...mark.split("")].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")));
}

function field(label, control) {
  numbered += 1;
  control.id = `r${numbered}`;
  return make("p", make("label", label, { for: control.id }), control);
}

// The controls of one row of the sheet.
function asked(session, row, changed) {
  const [turn, what, key, , value] = row;
  const place = rowKey(turn, what, key);
  const one = () => judged.get(session.id).get(place) || OPEN;
  const verdict = make("select", make("option", "open", { value: "" }), INDEX.verdicts.map((name) => make("option", name, { value: name })));
  const correction = what === "implicitness"
    ? make("select", make("option", "choose", { value: "" }), TYPES.map((name) => make("option", name, { value: name })))
    : make("textarea", { rows: 6, spellcheck: "false", dir: "ltr" });
  const comment = make("textarea", { rows: 1, dir: "auto" });
  const told = make("p.fault", { role: "status" });
  const corrected = field("Correction", correction);
  const legend = make("legend", make("span", what === "implicitness" ? `${ASKED[what]}: ${value}?` : ASKED[what]), make("span.spoken", ` ${what} ${key} ${turn === null ? "" : `of turn ${turn}`}`));
  const box = make("fieldset.asked", { "data-row": place }, legend, make("div.said-of", field("Verdict", verdict), field("Comment", comment)), what === "plausibility" ? null : corrected, told);
  const show = () => {
    const now = one();
    for (const [control, text] of [[verdict, now.verdict], [correction, now.correction], [comment, now.comment]]) {
      if (control.value !== text) control.value = text;
    }
    corrected.hidden = now.verdict !== "revise";
    told.textContent = "";
    put(told, fault(row, now));
    correction.setAttribute("aria-invalid", String(Boolean(fault(row, now))));
    box.className = `asked ${now.verdict || "open"}`;
  };
  const write = (change) => {
    judge(session, place, change);
    show();
    changed();
  };
  verdict.addEventListener("change", () => {
    const begun = verdict.value === "revise" && !one().correction && (what === "item" || what === "arguments");
    write({ verdict: verdict.value, ...(begun ? { correction: editable(standing(what, value)) } : {}) });
  });
  correction.addEventListener("input", () => write({ correction: correction.value }));
  comment.addEventListener("input", () => write({ comment: comment.value }));
  box.addEventListener("shown", show);
  show();
  return box;
}

// -- the desk -------------------------------------------------------------------------------------------------------------

function say(text, bad = false) {
  const box = document.getElementById("told");
  box.className = bad ? "fault" : "";
  box.textContent = "";
  put(box, text);
}

const hold = (event) => event.preventDefault();

function progress() {
  const every = SESSIONS.reduce((sum, one) => sum + one.rows, 0);
  const done = SESSIONS.reduce((sum, one) => sum + tally(one).done, 0);
  document.getElementById("progress").textContent = `${done.toLocaleString("en")} of ${every.toLocaleString("en")} judged.`;
  const box = document.getElementById("keeping");
  box.hidden = keeping === null;
  box.textContent = "";
  if (keeping !== null) put(box, `This browser keeps nothing for this page (${keeping}): save the sheet before you close it.`);
  // nothing else holds what was judged: the browser asks before the page is closed
  (keeping !== null && done ? addEventListener : removeEventListener)("beforeunload", hold);
  return done;
}

async function save() {
  const refused = [];
  for (const session of SESSIONS) {
    if (!judged.get(session.id).size) continue;
    for (const row of (await sessionBody(session)).rows) {
      const one = judged.get(session.id).get(rowKey(row[0], row[1], row[2]));
      if (one && fault(row, one)) refused.push(`${session.id}, ${row[0] === null ? "" : `turn ${row[0]}, `}${row[1]} ${row[2]}: ${fault(row, one)}`);
    }
  }
  const body = new Blob([await sheetText()], { type: "text/csv" });
  const name = `${INDEX.set.replace(/[^\w.-]+/g, "-") || "sessions"}-review.csv`;
  const link = make("a", { href: URL.createObjectURL(body), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  if (refused.length) say(`Saved as ${name}, but wardround review import will refuse ${refused.length}: ${refused.slice(0, 5).join("; ")}`, true);
  else say(`Saved as ${name}: wardround review import takes it.`);
}

async function load(file) {
  try {
    const told = await loadSheet(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer()));
    const strange = told.strange ? ` ${told.strange} are about nothing on this page and were left out.` : "";
    const changed = told.changed ? ` ${told.changed} were judged of another version of what stands here.` : "";
    say(`${told.taken} verdicts and comments taken from ${file.name}.${strange}${changed}`, Boolean(strange || changed));
  } catch (error) {
    say(`${file.name}: ${error.message}; nothing was taken`, true);
  }
  refresh();
}

function refresh() {
  progress();
  list();
  document.querySelectorAll("fieldset.asked").forEach((one) => one.dispatchEvent(new Event("shown")));
}

function desk() {
  const out = make("button", "Save the sheet (CSV)", { type: "button", id: "save" });
  out.addEventListener("click", save);
  const file = make("input", { type: "file", id: "load", accept: ".csv,text/csv" });
  file.addEventListener("change", async () => {
    if (file.files.length) await load(file.files[0]);
    file.value = "";
  });
  const clear = make("button", "Forget all verdicts", { type: "button", id: "forget" });
  let sure = false;
  const ask = (now) => {
    sure = now;
    clear.textContent = now ? `Really forget ${progress()} verdicts?` : "Forget all verdicts";
  };
  clear.addEventListener("click", () => {
    if (!sure) return ask(true);
    forget();
    ask(false);
    say("All verdicts of this page are forgotten.");
    return refresh();
  });
  clear.addEventListener("blur", () => ask(false));
  return make("div.desk", make("p", make("strong", { id: "progress" }), make("span.hint", " Verdicts stay in this browser while you work; the sheet is what you hand in.")),
    make("p.fault", { id: "keeping", hidden: "" }),
    make("div.tools", make("p", out), make("p", make("label", "Load a sheet", { for: "load" }), file), make("p", clear)),
    make("p", { id: "told", role: "status" }));
}
