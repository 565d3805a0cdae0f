/** Start a real mission: a site file from a template, pasted or uploaded, checked while typing. */

import { getChoices, getText, post, postText } from "../api.js";
import { h, icon, put, say } from "../dom.js";
import { choice, labelled, nameOf, named, numberIn, numeric, refuse, SEEDS, showForm } from "../forms.js";
import { number } from "../format.js";

/** [ms] after the last key before the site is checked. */
const PAUSE = 350;
const BROKER = /^mqtts?:\/\/[^/\s]+/;
/** The largest length of a site file. */
const MAX_LENGTH = 60000;

export async function showNewReal(view) {
  const choices = await getChoices();
  const site = buildSite(choices.kinds);
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
    const { id } = await post("/missions", {
      type: "real",
      site: site.text.value,
      seed: numberIn(seed) ?? 0,
      ...(policy.input.value ? { policy: policy.input.value } : {}),
      ...(name.input.value.trim() ? { name: name.input.value.trim() } : {}),
      ...broker.settings(),
    });
    return id;
  };
  const title = "Real mission";
  const names = { ...broker.names, seed: nameOf(seed), policy: nameOf(policy), name: nameOf(name) };
  names.site = site.name;
  const shown = showForm(view, { title, parts, label: "Start the mission", begin, names, isWide: true });
  shown.button.disabled = true;
  await site.start(shown);
  return { title, close: () => {} };
}

/** The text of the site file, its source, and its description. */
function buildSite(kinds) {
  const options = kinds.map(({ name, label }) => ({ name, label: label ? `${name}: ${label}` : name }));
  const kind = choice("Template for", options);
  const file = h("input", { type: "file", accept: ".toml,text/plain", class: "unseen", id: "site-file" });
  const fileLabel = h("label", { for: "site-file", class: "button" }, icon("up"), "Upload a site file");
  const plain = { spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off" };
  const text = h("textarea", { name: "site", rows: "22", class: "code", ...plain });
  const hint = "Every key is explained in it. Paste your own, or change this one.";
  const site = labelled("Site file (TOML)", text, hint);
  const verdict = h("p", { class: "verdict", role: "status" });
  const facts = h("dl", { class: "facts" });
  const understanding = h("details", { class: "more" }, h("summary", {}, "What the site file says"), facts);

  const start = async ({ button, message }) => {
    const check = checker(text, verdict, button, facts);
    const fill = async () => {
      try {
        text.value = await getText(`/site/new?kind=${encodeURIComponent(kind.input.value)}`);
        check();
      } catch (refusal) {
        message.tell(refusal.message);
      }
    };
    kind.input.addEventListener("change", fill);
    text.addEventListener("input", check);
    file.addEventListener("change", async () => {
      if (!file.files[0]) return;
      text.value = await file.files[0].text();
      file.value = "";
      check();
    });
    await fill();
  };
  const source = h("div", { class: "row wrap end" }, kind.element, file, fileLabel);
  return { text, name: nameOf(site), elements: [source, site.element, verdict, understanding], start };
}

/** Check the site once typing pauses; only the newest answer counts. */
function checker(text, verdict, begin, facts) {
  let timer = null;
  let asked = null;
  const ask = async () => {
    asked?.abort();
    const mine = new AbortController();
    asked = mine;
    try {
      requireText(text.value);
      const known = await postText("/site/check", text.value, "text/plain", mine.signal);
      verdict.className = "verdict good";
      say(verdict, understood(known));
      put(
        facts,
        (known.description ?? []).flatMap(({ heading, text: words }) => [h("dt", {}, heading), h("dd", {}, words)]),
      );
      begin.disabled = false;
    } catch (refusal) {
      if (refusal.name === "AbortError") return;
      verdict.className = "verdict error";
      say(verdict, refusal.message.replace(/^site\.toml/, "Site file"));
      put(facts);
      begin.disabled = true;
    }
  };
  return () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  };
}

function requireText(text) {
  if (text.trim() === "") throw new RangeError("Site file: it is empty; paste one, or choose a template.");
  if (text.length > MAX_LENGTH) throw new RangeError(`Site file: more than ${MAX_LENGTH} letters; shorten it.`);
}

function understood({ name, kind, unit, area }) {
  const [[west, south], [east, north]] = area;
  const size = `${number(east - west)} × ${number(north - south)} m`;
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
