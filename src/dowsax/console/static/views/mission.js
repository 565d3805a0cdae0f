/** One mission: the map, the time slider, and the side panel. */

import { mayWrite } from "../access.js";
import { h, isTyping, notice, put } from "../dom.js";
import { buildControls, buildLegend } from "../map/controls.js";
import { MapView } from "../map/map.js";
import { Mission } from "../mission.js";
import { buildAlarm } from "../panel/alarm.js";
import { buildCharts } from "../panel/charts.js";
import { buildEstimate } from "../panel/estimate.js";
import { buildExport } from "../panel/export.js";
import { buildLog } from "../panel/log.js";
import { buildReading } from "../panel/reading.js";
import { buildReadings } from "../panel/readings.js";
import { buildRemoval } from "../panel/removal.js";
import { buildReplay } from "../panel/replay.js";
import { buildSettings } from "../panel/settings.js";
import { buildSheet } from "../panel/sheet.js";
import { buildSimulation } from "../panel/simulation.js";
import { buildStatus, STATUS } from "../panel/status.js";
import { buildSurvey } from "../panel/survey.js";
import { offerUnits } from "../units.js";

/** [ms] after which ages are said again: of a wind, and of the newest reading. */
const PULSE_MS = 5000;

/** Show a mission in this element; returns {title, close}. */
export async function showMission(view, id) {
  const mission = new Mission(id);
  await mission.open();
  const { facts } = mission;
  offerUnits(facts.units);
  const legend = buildLegend();
  let parts = [];
  const map = new MapView({
    picked: (position, byKeyboard) => parts.reading?.pick(position, byKeyboard),
    chosen: (number) => mission.select(number),
    drawn: legend.update,
  });
  map.attach(mission);
  map.canPick = facts.type === "real" && mayWrite();
  parts = buildParts(mission, map);
  map.element.append(buildControls(map));
  const side = h(
    "div",
    { class: "side", id: "side" },
    heading(facts),
    parts.alarm.banner,
    parts.all.map((part) => part.element),
  );
  const sheet = buildSheet(side);
  put(
    view,
    h(
      "div",
      { class: "mission" },
      h("div", { class: "stage" }, map.element, legend.element, parts.replay.element),
      h("aside", { class: "sheet", "aria-label": "The mission" }, sheet, side),
    ),
  );

  let waiting = null;
  const update = () => {
    waiting = null;
    for (const part of [...parts.all, parts.replay]) part.update();
    map.redraw();
    // Visible from other tabs.
    const mark = parts.alarm.isOn() ? "(!) " : "";
    document.title = `${mark}${(STATUS[mission.facts.status] ?? STATUS.failed).word}: ${facts.name}`;
  };
  // Several changes within one repaint are drawn once.
  mission.addEventListener("change", () => {
    waiting ??= requestAnimationFrame(update);
  });
  mission.addEventListener("gone", () => {
    if (mission.leaving) return;
    notice(`\u201c${facts.name}\u201d was deleted by somebody else.`);
    location.hash = "#/";
  });
  update();
  const pulse = setInterval(update, PULSE_MS);
  const keys = (event) => shortcut(event, mission, parts, map);
  document.addEventListener("keydown", keys);
  const repaint = () => map.redraw();
  document.addEventListener("themechange", repaint);

  return {
    title: facts.name,
    close: () => {
      mission.close();
      map.close();
      parts.replay.stop();
      parts.alarm.close();
      clearInterval(pulse);
      cancelAnimationFrame(waiting);
      offerUnits({});
      document.removeEventListener("keydown", keys);
      document.removeEventListener("themechange", repaint);
    },
  };
}

function buildParts(mission, map) {
  const isReal = mission.facts.type === "real";
  const status = buildStatus(mission, map);
  const alarm = buildAlarm(mission);
  const reading = isReal && mayWrite() ? buildReading(mission, map) : null;
  const survey = isReal && mayWrite() ? buildSurvey(mission, map.element) : null;
  const simulation = !isReal && mayWrite() ? buildSimulation(mission) : null;
  const known = [buildEstimate(mission, map), buildReadings(mission, map), buildCharts(mission)];
  const removal = mayWrite() ? buildRemoval(mission) : null;
  const rest = [...known, survey, buildExport(mission), buildLog(mission), alarm, buildSettings(), removal];
  const all = [status, reading, simulation, ...rest].filter(Boolean);
  return { all, alarm, reading, simulation, replay: buildReplay(mission) };
}

function heading(facts) {
  const kind = facts.type === "real" ? "Real" : "Simulated";
  const simulated = facts.type === "simulated" ? [`scenario ${facts.scenario}`, `seed ${facts.seed}`] : [];
  const words = [kind, facts.field, facts.policy, ...simulated];
  return h(
    "header",
    { class: "mission-head" },
    h("h1", { tabindex: "-1" }, facts.name),
    h("p", {}, words.filter(Boolean).join(" · ")),
    facts.mqtt?.readings
      ? h("p", {}, `Live feed: readings on ${facts.mqtt.readings}, advice to ${facts.mqtt.advice}`)
      : null,
  );
}

function toggleLayer(map, name) {
  map.show[name] = !map.show[name];
  const box = document.querySelector(`input[name=layer-${name}]`);
  if (box) box.checked = map.show[name];
  map.redraw();
}

/** Keys that work anywhere on the page, except where one types; Space also presses what has the focus. */
function shortcut(event, mission, parts, map) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === " " && event.target.closest("input, button, a, summary")) return;
  const act = {
    " ": () => parts.simulation?.toggle(),
    "[": () => mission.select(mission.shown - 1),
    "]": () => mission.select(mission.shown + 1),
    l: () => mission.select(mission.count),
    f: () => toggleLayer(map, "field"),
    d: () => toggleLayer(map, "density"),
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
