"use strict";
// The report's data: its episodes, and how they stand.

const INDEX = JSON.parse(document.getElementById("index").textContent);
const EPISODES = INDEX.rows.map((row, at) => {
  const one = { at };
  INDEX.columns.forEach((name, place) => { one[name] = row[place]; });
  const session = INDEX.sessions[one.session];
  return Object.assign(one, { scenario: session.scenario, tier: session.tier, tasks: session.tasks, types: session.types });
});
const PASSES = 0.6;

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
