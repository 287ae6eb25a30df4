"use strict";
// The page's data: the index, and blocks that are unpacked when they are asked for.

const INDEX = JSON.parse(document.getElementById("index").textContent);
const EPISODES = INDEX.rows.map((row, at) => {
  const one = { at };
  INDEX.columns.forEach((name, place) => { one[name] = row[place]; });
  const session = INDEX.sessions[one.session];
  return Object.assign(one, { scenario: session.scenario, tier: session.tier, tasks: session.tasks, types: session.types });
});
const PASSES = 0.6;
const unpacked = new Map();

async function unpack(id) {
  if (!unpacked.has(id)) unpacked.set(id, inflate(document.getElementById(id).textContent));
  return unpacked.get(id);
}

async function inflate(base64) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser cannot unpack episodes (no DecompressionStream): use one of 2023 or later");
  }
  const packed = Uint8Array.from(atob(base64), (mark) => mark.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

async function episodeBody(episode) {
  return (await unpack(`b${episode.block}`))[episode.place];
}

async function sessionBody(episode) {
  if (!INDEX.whole) return null;
  return unpack(`s${INDEX.sessions[episode.session].block}`);
}

// How a turn stands, in a word: never by colour alone.
function standing(reward, ungraded) {
  if (ungraded || reward === null) return "ungraded";
  return Math.round(reward * 1e9) >= PASSES * 1e9 ? "passed" : "failed";
}

function address(episode) {
  return "#" + encodeURIComponent(INDEX.runs.length > 1 ? `${INDEX.runs[episode.run]}/${episode.key}` : episode.key);
}

function byAddress(hash) {
  let told;
  try {
    told = decodeURIComponent(hash.slice(1));
  } catch {
    return null;
  }
  if (!told.includes("/")) return null;
  return EPISODES.find((one) => one.key === told || `${INDEX.runs[one.run]}/${one.key}` === told) || null;
}
