"use strict";
// The review sheet: what was judged, where that is kept while people work, and the CSV that goes out and comes back.
// The CSV is the one of `wardround review export` and `wardround review import`, byte for byte.

const INDEX = JSON.parse(document.getElementById("index").textContent);
const SESSIONS = INDEX.rows.map((row, at) => {
  const one = { at };
  INDEX.columns.forEach((name, place) => { one[name] = row[place]; });
  return one;
});
const BY_ID = new Map(SESSIONS.map((one) => [one.id, one]));
const OPEN = { verdict: "", correction: "", comment: "" };
const KEPT = `wardround.review/1 ${INDEX.hash} `;
const judged = new Map(SESSIONS.map((one) => [one.id, new Map()])); // session -> key of a row -> verdict, correction, comment
let keeping = null; // why nothing is kept between visits; null while all is

async function sessionBody(session) {
  return unpack(`s${session.at}`);
}

function rowKey(turn, what, key) {
  return JSON.stringify([turn, what, key]);
}

// What a page without gold does not ask is not counted on it, whatever another page of the same set was told.
function counts(session, key) {
  return !session.bare || ["plausibility", "implicitness"].includes(JSON.parse(key)[1]);
}

function tally(session) {
  const found = [...judged.get(session.id)].filter(([key, one]) => one.verdict && counts(session, key)).map(([, one]) => one.verdict);
  return { done: found.length, revise: found.includes("revise"), reject: found.includes("reject") };
}

function judge(session, key, change) {
  const held = judged.get(session.id);
  const now = { ...(held.get(key) || OPEN), ...change };
  if (now.verdict || now.correction || now.comment) held.set(key, now);
  else held.delete(key);
  keep(session);
}

// -- kept in this browser -------------------------------------------------------------------------------------------------

// A session has an entry of its own, so that two windows on two sessions do not undo each other.
function keep(session) {
  try {
    const held = judged.get(session.id);
    const told = [...held].map(([key, one]) => [key, one.verdict, one.correction, one.comment]);
    if (told.length) localStorage.setItem(KEPT + session.id, JSON.stringify(told));
    else localStorage.removeItem(KEPT + session.id);
    keeping = null;
  } catch (fault) {
    keeping = fault.message;
  }
}

function recall(session) {
  const held = judged.get(session.id);
  try {
    const told = JSON.parse(localStorage.getItem(KEPT + session.id) || "[]");
    held.clear();
    for (const one of Array.isArray(told) ? told : []) {
      if (!Array.isArray(one) || !one.every((cell) => typeof cell === "string")) continue;
      const [key, verdict, correction, comment] = one;
      if (isKey(key) && ["", ...INDEX.verdicts].includes(verdict)) held.set(key, { verdict, correction, comment });
    }
  } catch (fault) {
    keeping = fault.message;
  }
}

function isKey(text) {
  const found = parsed(text);
  return Array.isArray(found) && found.length === 3;
}

function forget() {
  for (const session of SESSIONS) {
    judged.get(session.id).clear();
    keep(session);
  }
}

// -- CSV ------------------------------------------------------------------------------------------------------------------

const MARK = "\ufeff"; // by which spreadsheets know UTF-8

function safeCell(text) {
  return /^[=+\-@\t\r']/.test(text) ? `'${text}` : text; // else a spreadsheet would run it
}

function plainCell(text) {
  return /^'[=+\-@\t\r']/.test(text) ? text.slice(1) : text;
}

function line(cells) {
  return `${cells.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",")}\r\n`;
}

async function sheetText() {
  const lines = [MARK, line(INDEX.sheet)];
  for (const session of SESSIONS) {
    for (const [turn, what, key, shown, value] of (await sessionBody(session)).rows) {
      const one = judged.get(session.id).get(rowKey(turn, what, key)) || OPEN;
      const cells = [session.id, turn === null ? "" : String(turn), what, key, shown, value, one.verdict, one.correction, one.comment];
      lines.push(line(cells.map(safeCell)));
    }
  }
  return lines.join("");
}

const ENDS = /[,\r\n]/g; // what ends a cell without quotes

// Rows of cells, as strict as the reader of `review import`; a fault names the row, the header being row 1.
function readCells(text) {
  const rows = [];
  let cells = [];
  let at = text.startsWith(MARK) ? 1 : 0;
  while (at < text.length) {
    let cell;
    if (text[at] === '"') {
      let end = at + 1;
      while ((end = text.indexOf('"', end)) >= 0 && text[end + 1] === '"') end += 2;
      if (end < 0) throw new Error(`row ${rows.length + 1}: a quote is not closed; save the sheet as CSV`);
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      if (at < text.length && !/[,\r\n]/.test(text[at])) throw new Error(`row ${rows.length + 1}: text behind a closing quote; save the sheet as CSV`);
    } else {
      ENDS.lastIndex = at;
      const end = ENDS.exec(text)?.index ?? text.length;
      cell = text.slice(at, end);
      at = end;
    }
    cells.push(cell);
    if (text[at] === ",") {
      at += 1;
      if (at < text.length) continue;
      cells.push("");
    }
    rows.push(cells);
    cells = [];
    at += text.startsWith("\r\n", at) ? 2 : 1;
  }
  return rows.filter((one) => one.length > 1 || one[0] !== "");
}

// Reads a sheet that came back and takes over what was judged in it; says what it did.
async function loadSheet(text) {
  const [head, ...rows] = readCells(text);
  const places = INDEX.sheet.map((name) => (head || []).indexOf(name));
  if (places.includes(-1)) throw new Error(`column ${INDEX.sheet[places.indexOf(-1)]} is missing; keep the header that was exported`);
  const found = rows.map((cells, at) => readRow(places.map((place) => cells[place]), at + 2));
  const said = found.filter((one) => one.verdict || one.correction || one.comment);
  const asked = await Promise.all(said.map(async (one) => {
    const session = BY_ID.get(one.session);
    return session ? (await sessionBody(session)).rows.find((row) => rowKey(row[0], row[1], row[2]) === one.key) : undefined;
  }));
  const told = { taken: 0, strange: 0, changed: 0 };
  said.forEach((one, at) => { // nothing is taken before all of it could be read
    if (!asked[at]) {
      told.strange += 1;
      return;
    }
    if (asked[at][4] !== one.value) told.changed += 1;
    judged.get(one.session).set(one.key, { verdict: one.verdict, correction: one.correction, comment: one.comment });
    told.taken += 1;
  });
  new Set(said.filter((_, at) => asked[at]).map((one) => BY_ID.get(one.session))).forEach(keep);
  return told;
}

function readRow(cells, number) {
  if (cells.includes(undefined)) throw new Error(`row ${number}: fewer cells than columns; keep the form of the sheet`);
  const [session, turn, what, key, , value, verdict, correction, comment] = cells.map(plainCell);
  const word = verdict.trim().toLowerCase();
  if (word && !INDEX.verdicts.includes(word)) throw new Error(`row ${number}: verdict ${word.slice(0, 40)} is none of ${INDEX.verdicts.join(", ")}; leave it empty if open`);
  if (turn.trim() && !/^\d+$/.test(turn.trim())) throw new Error(`row ${number}: turn ${turn.slice(0, 20)} is no number`);
  const place = turn.trim() ? Number(turn) : null;
  return { session: session.trim(), key: rowKey(place, what.trim(), key.trim()), value, verdict: word, correction: correction.trim(), comment: comment.trim() };
}
