/** Run, pause and step a simulated search; reveal the truth when it is over. */

import { post } from "../api.js";
import { h, icon, notice, put, say } from "../dom.js";

const SPEEDS = [0.5, 1, 2, 5, 10, 20];

export function buildSimulation(mission) {
  const run = h("button", { type: "button", class: "primary", id: "run" });
  const step = h("button", { type: "button" }, icon("step"), "Step");
  const speed = h("select", { id: "speed", "aria-label": "Readings per second" });
  const reveal = h("button", { type: "button" }, icon("eye"), "Reveal the truth");
  const hint = h("p", { class: "hint" });
  const drive = h("div", { class: "row" }, run, step, h("label", { class: "inline" }, speed, "per second"));
  const element = h(
    "section",
    { class: "card", "aria-labelledby": "simulation-title" },
    h("h2", { id: "simulation-title" }, "Simulation"),
    drive,
    reveal,
    hint,
  );

  let shownNotice = null;
  let isAsking = false;
  const ask = async (path, body) => {
    shownNotice?.remove();
    isAsking = true;
    update();
    try {
      return await post(`${mission.path}/${path}`, body);
    } catch (refusal) {
      shownNotice = notice(refusal.message);
      return null;
    } finally {
      isAsking = false;
      update();
    }
  };
  const control = async (action, more = {}) => {
    const answer = await ask("control", { action, ...more });
    if (answer?.id === mission.id) mission.learn(answer);
    else if (answer && action !== "step")
      mission.learn({
        running: action === "run" ? true : action === "pause" ? false : mission.facts.running,
      });
  };
  run.addEventListener("click", () => {
    if (!mission.isLive) mission.select(mission.count);
    control(mission.facts.running ? "pause" : "run");
  });
  step.addEventListener("click", () => {
    if (!mission.isLive) mission.select(mission.count);
    control("step");
  });
  speed.addEventListener("change", () => control("speed", { speed: Number(speed.value) }));
  reveal.addEventListener("click", async () => {
    const truth = await ask("reveal");
    if (truth) mission.learn({ truth });
  });

  const update = () => {
    const { status, running, truth, preparing, message, speed: given } = mission.facts;
    const going = status === "searching";
    element.hidden = Boolean(truth);
    const label = running && going ? "Pause" : "Run";
    if (run.textContent !== label) put(run, icon(running && going ? "pause" : "play"), label);
    run.disabled = !going;
    step.disabled = !going || running || isAsking;
    drive.hidden = !going && status !== "preparing";
    reveal.hidden = going || status === "preparing" || Boolean(truth);
    if (document.activeElement !== speed) fillSpeeds(speed, given);
    say(hint, preparing && (running || isAsking) ? message : hintWords(going, status));
  };
  return { element, update, toggle: () => run.disabled || run.click() };
}

function hintWords(going, status) {
  if (going) return "The truth can be revealed when the search is over.";
  return status === "preparing" ? "" : "The search is over: compare the estimate with the truth.";
}

function fillSpeeds(speed, given) {
  const all = [...new Set([...SPEEDS, given].filter(Boolean))].sort((a, b) => a - b);
  const known = Array.from(speed.options, (option) => Number(option.value));
  if (known.join() !== all.join())
    put(
      speed,
      all.map((value) => h("option", { value: String(value) }, String(value))),
    );
  speed.value = String(given ?? 2);
}
