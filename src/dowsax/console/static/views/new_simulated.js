/** Start a simulated search. */

import { getChoices, post } from "../api.js";
import { h, put } from "../dom.js";
import { choice, nameOf, named, numberIn, numeric, SEEDS, showForm } from "../forms.js";

const FIELD = "gas";
const HINT =
  "A source is hidden in a square of 25 m. The search ends when it is found within 1 m with 95\u00a0%, " +
  "or when its readings are spent.";

export async function showNewSimulated(view) {
  const inputs = buildInputs(await getChoices());
  const { name, field, scenario, policy, seed, speed, particles } = inputs;
  const pair = (...items) => h("div", { class: "pair" }, ...items.map((item) => item.element));
  const parts = [
    h("p", { class: "hint" }, HINT),
    pair(field, scenario),
    pair(policy, name),
    pair(seed, speed),
    h("details", { class: "more" }, h("summary", {}, "More about the filter"), particles.element),
  ];
  const begin = async () => {
    const { id } = await post("/missions", settings(inputs));
    await post(`/missions/${encodeURIComponent(id)}/control`, { action: "run" });
    return id;
  };
  const names = Object.fromEntries(Object.entries(inputs).map(([key, item]) => [key, nameOf(item)]));
  showForm(view, { title: "Simulated search", parts, label: "Start the search", begin, names });
  return { title: "Simulated search", close: () => {} };
}

function buildInputs(choices) {
  const fields = choices.fields.map((item) => ({ name: item.name, label: titled(item) }));
  const usual = fields.some((item) => item.name === FIELD) ? FIELD : undefined;
  const field = choice("Field", fields, usual, "What the source feeds and the sensor reads.");
  const policy = choice("Policy", [], undefined, "Chooses the next place.");
  // A policy may be for some fields only.
  const fill = () => {
    const fit = choices.policies.filter((item) => !item.fields || item.fields.includes(field.input.value));
    put(policy.input, ...fit.map((item) => h("option", { value: item.name }, item.label || item.name)));
  };
  field.input.addEventListener("change", fill);
  fill();
  const whole = (name, more) => ({ name, inputmode: "numeric", isWhole: true, ...more });
  return {
    field,
    policy,
    name: named("field and seed"),
    scenario: choice("Scenario", choices.scenarios, undefined, "Where the source is, and whether it moves."),
    seed: numeric("Seed", whole("seed", { value: "0", ...SEEDS }), "The same seed gives the same search."),
    speed: numeric("Readings per second", { name: "speed", value: "4", least: 0.05, most: 50 }),
    particles: numeric(
      "Particles",
      whole("particles", { placeholder: "as the filter has by itself", least: 16, most: 20000 }),
      "More are slower and more exact. The false-stop rate is measured for the usual number only.",
    ),
  };
}

function settings({ name, field, scenario, policy, seed, speed, particles }) {
  const number = numberIn(particles);
  const start = numberIn(seed) ?? 0;
  return {
    type: "simulated",
    field: field.input.value,
    scenario: scenario.input.value,
    policy: policy.input.value,
    seed: start,
    speed: numberIn(speed) ?? 4,
    name: name.input.value.trim() || `${field.input.value}, seed ${start}`,
    ...(number === null ? {} : { particles: number }),
  };
}

function titled({ label, name, unit }) {
  const text = label || name;
  return unit && !text.includes(unit) ? `${text} [${unit}]` : text;
}
