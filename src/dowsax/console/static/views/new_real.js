/** Start a real mission: a site is drawn and filled in, or its file pasted or uploaded; checked all the while. */

import { getChoices, post } from "../api.js";
import { h, icon, put, say } from "../dom.js";
import { choice, labelled, nameOf, named, numberIn, numeric, refuse, SEEDS, showForm } from "../forms.js";
import { number } from "../format.js";
import { buildUnits } from "../panel/settings.js";
import { buildArea } from "../site/area_field.js";
import { buildBoard } from "../site/board.js";
import { buildFields } from "../site/fields.js";
import { buildPicture } from "../site/picture_field.js";
import { SiteState } from "../site/state.js";
import { inUnit, offerUnits, unitOf } from "../units.js";

/** [ms] after the last key before the text is read. */
const PAUSE = 350;
const BROKER = /^mqtts?:\/\/[^/\s]+/;
/** The largest length of a site file. */
const MAX_LENGTH = 60000;

export async function showNewReal(view) {
  const choices = await getChoices();
  const site = buildSite();
  const policies = choices.policies.filter((item) => !item.fields);
  const best = { name: "", label: "the best for the site" };
  const policy = choice("Policy", [best, ...policies], "", "Chooses the next place.");
  const whole = { name: "seed", value: "0", inputmode: "numeric", isWhole: true, ...SEEDS };
  const seed = numeric("Seed", whole);
  const name = named("as in the site file");
  const broker = feed();
  const parts = [
    ...site.elements,
    h("div", { class: "pair three" }, name.element, policy.element, seed.element),
    broker.element,
  ];
  const begin = async () => {
    // What was typed last may still be on its way into the text.
    await site.settle();
    shown.button.disabled = true;
    const { id } = await post("/missions", {
      type: "real",
      site: site.text.value,
      seed: numberIn(seed) ?? 0,
      ...(policy.input.value ? { policy: policy.input.value } : {}),
      ...(name.input.value.trim() ? { name: name.input.value.trim() } : {}),
      ...broker.settings(),
      ...site.picture(),
    });
    return id;
  };
  const title = "Real mission";
  const names = { ...broker.names, seed: nameOf(seed), policy: nameOf(policy), name: nameOf(name) };
  names.site = site.name;
  const shown = showForm(view, { title, parts, label: "Start the mission", begin, names, isWide: true });
  shown.button.disabled = true;
  await site.start(shown);
  return { title, close: site.close, changeUnits: site.changeUnits };
}

/** The board, the fields, the text of the site file, and what it says. */
function buildSite() {
  const state = new SiteState();
  const board = buildBoard({ changed: (shapes) => state.write({ shapes }), undo: () => state.undo() });
  const fields = buildFields((values) => state.write({ values }));
  const shapes = () => board.sketch.shapes;
  const changeShapes = (part) => {
    Object.assign(shapes(), part);
    state.write({ shapes: shapes() });
  };
  const picture = buildPicture({ map: board.map, shapes, changed: changeShapes });
  const area = buildArea({
    shapes,
    changed: (part) => {
      // All of the new area is shown.
      board.map.touched = false;
      changeShapes(part);
    },
  });
  const { text, name, element: texts, bind } = buildText(state);
  const verdict = h("p", { class: "verdict", role: "status" });
  const facts = h("dl", { class: "facts" });
  const understanding = h("details", { class: "more", open: true }, h("summary", {}, "What the site file says"), facts);
  const units = h("details", { class: "more" }, h("summary", {}, "Units"), h("div"));

  /** Show all numbers of the newest form in the units of the page. */
  const showNumbers = () => {
    const { form } = state;
    // An answer to an earlier change lacks the later ones.
    if (form.values && !state.isBehind) fields.take(form);
    if (form.shapes && !state.isBehind) area.take(form.shapes);
    say(verdict, form.faults[0]?.line ?? understood(form.site));
    board.map.redraw();
  };

  const start = async ({ button, message }) => {
    state.addEventListener("change", () => {
      const { form } = state;
      if (document.activeElement !== text || !state.isTyped) text.value = form.text;
      showUnits(units.lastChild, form.units);
      if (form.shapes) {
        board.map.take(structuredClone(form.shapes), picture.upload()?.corners, state.isBehind);
        picture.take(form.shapes);
      }
      showNumbers();
      const fault = form.faults[0];
      verdict.className = fault ? "verdict error" : "verdict good";
      if (form.site) showFacts(facts, form.site);
      facts.classList.toggle("old", !form.site);
      button.disabled = Boolean(fault);
    });
    state.addEventListener("refused", ({ detail }) => {
      verdict.className = "verdict error";
      say(verdict, detail);
      button.disabled = true;
    });
    state.addEventListener("asking", () => message.clear());
    bind(button);
    await state.read({ kind: "gas-plume" });
  };
  const side = h("div", { class: "site-side" }, fields.element, picture.element, units);
  board.element.append(area.element, verdict);
  const drawn = h("div", { class: "site-board" }, board.element, side);
  const elements = [drawn, understanding, texts];
  const uploaded = () => (picture.upload() && state.form?.shapes?.map ? { picture: picture.upload().id } : {});
  const settle = () => {
    area.check();
    return state.settle();
  };
  const close = () => {
    board.map.close();
    offerUnits({});
  };
  const changeUnits = async () => {
    // The newest form lacks what is being written.
    await state.written();
    if (state.form) showNumbers();
  };
  return { text, name, elements, start, settle, picture: uploaded, close, changeUnits };
}

/** Offer the units of a site; a text that is no site has none, and leaves them as they are. */
function showUnits(element, units) {
  const now = JSON.stringify(units);
  if (now === "{}" || now === element.dataset.units) return;
  element.dataset.units = now;
  offerUnits(units);
  put(element, buildUnits());
}

function showFacts(facts, { description }) {
  put(
    facts,
    description.flatMap(({ heading, text }) => [h("dt", {}, heading), h("dd", {}, text)]),
  );
}

/** The text of the site file, folded away, and its upload. */
function buildText(state) {
  const file = h("input", { type: "file", accept: ".toml,text/plain", class: "unseen", id: "site-file" });
  const label = h("label", { for: "site-file", class: "button" }, icon("up"), "Upload a site file");
  const plain = { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off" };
  const text = h("textarea", { name: "site", rows: "22", class: "code", ...plain });
  const hint = "Every key is explained in it. Paste your own, or change this one: map and form follow.";
  const site = labelled("Site file (TOML)", text, hint);
  const element = h(
    "details",
    { class: "more", id: "site-text" },
    h("summary", {}, "The site file, for experts"),
    h("div", { class: "row wrap end" }, file, label),
    site.element,
  );
  let timer = null;
  const ask = () => {
    try {
      requireText(text.value);
      state.read({ text: text.value });
    } catch (refusal) {
      state.refuse(refusal.message);
    }
  };
  const bind = (button) => {
    text.addEventListener("input", () => {
      // What is being typed has not been checked yet.
      button.disabled = true;
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE);
    });
    file.addEventListener("change", async () => {
      if (!file.files[0]) return;
      text.value = await file.files[0].text();
      file.value = "";
      ask();
    });
  };
  return { text, name: nameOf(site), element, bind };
}

function requireText(text) {
  if (text.trim() === "") throw new RangeError("Site file: it is empty; paste one, or choose a kind.");
  if (text.length > MAX_LENGTH) throw new RangeError(`Site file: more than ${MAX_LENGTH} letters; shorten it.`);
}

function understood({ name, kind, unit, area }) {
  const [[west, south], [east, north]] = area;
  const [across, along] = [east - west, north - south].map((side) => number(inUnit(side, "length")));
  const size = `${across} × ${along} ${unitOf("length").name}`;
  return `Understood: ${name || "a site"}, ${kind}${unit ? ` in ${unit}` : ""}, ${size}.`;
}

/** Settings of a live feed, folded away: most missions have none. */
function feed() {
  const text = (label, properties, hint) =>
    labelled(
      label,
      h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...properties }),
      hint,
    );
  const url = text("Broker", { name: "mqtt-url", maxlength: "300", placeholder: "mqtt://192.168.1.20:1883" });
  const readings = text("Readings come on", { name: "mqtt-readings", maxlength: "200", placeholder: "dowsax/NAME/ID/readings" });
  const advice = text("Advice goes to", { name: "mqtt-advice", maxlength: "200", placeholder: "dowsax/NAME/ID/advice" });
  const element = h(
    "details",
    { class: "more" },
    h("summary", {}, "Live feed by MQTT"),
    url.element,
    h("div", { class: "pair" }, readings.element, advice.element),
  );
  const settings = () => {
    const given = {
      url: url.input.value.trim(),
      readings: readings.input.value.trim(),
      advice: advice.input.value.trim(),
    };
    if (!given.url) {
      if (given.readings || given.advice) refuse(url, `${nameOf(url)} is missing: topics need one.`);
      return {};
    }
    if (!BROKER.test(given.url)) refuse(url, `${nameOf(url)}: an address such as mqtt://localhost:1883.`);
    return { mqtt: Object.fromEntries(Object.entries(given).filter(([, value]) => value)) };
  };
  const names = {
    "mqtt.url": nameOf(url),
    "mqtt.readings": nameOf(readings),
    "mqtt.advice": nameOf(advice),
  };
  return { element, settings, names };
}
