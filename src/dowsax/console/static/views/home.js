/** All missions, and the two ways to start one. */

import { mayWrite } from "../access.js";
import { h, icon, put, say } from "../dom.js";
import { ago, plural } from "../format.js";
import { buildAlarms } from "../panel/alarms.js";
import { chip } from "../panel/status.js";

const READ_ONLY = "You have a read-only link: you see every mission, and change none.";

/** Show the list in this element; `missions` is a store that says `change`. Returns {close}: its title has its alarms. */
export function showHome(view, missions) {
  const list = h("ul", { class: "missions" });
  const count = h("p", { class: "hint" });
  const alarms = buildAlarms(missions);
  const found = h(
    "section",
    { class: "home-list", "aria-labelledby": "missions-title" },
    h("div", { class: "home-head" }, h("h2", { id: "missions-title" }, "Missions"), count),
    list,
  );
  put(
    view,
    h(
      "div",
      { class: "home" },
      h(
        "div",
        { class: "hero" },
        h("h1", { tabindex: "-1" }, "Find the source, and know when to stop"),
        h(
          "p",
          {},
          "Each reading narrows down where the source is, " +
            "and the console says where to measure next.",
        ),
      ),
      alarms.element,
      mayWrite() ? starts() : h("p", { class: "hint" }, READ_ONLY),
      found,
    ),
  );

  const update = () => {
    const all = [...missions.list].sort((a, b) => String(b.updated).localeCompare(String(a.updated)));
    found.hidden = all.length === 0;
    say(count, plural(all.length, "mission"));
    put(list, all.map(item));
  };
  missions.addEventListener("change", update);
  update();
  const close = () => {
    missions.removeEventListener("change", update);
    alarms.close();
  };
  return { title: "", close };
}

/** The two ways to start a mission. */
export function showNew(view) {
  put(
    view,
    h(
      "div",
      { class: "home" },
      h("div", { class: "hero" }, h("h1", { tabindex: "-1" }, "New mission")),
      mayWrite() ? starts() : h("p", { class: "hint" }, READ_ONLY),
    ),
  );
  return { title: "New mission", close: () => {} };
}

function starts() {
  return h(
    "div",
    { class: "starts" },
    start(
      "#/new/simulated",
      "searching",
      "Watch a simulated search",
      "A hidden source in a square of 25 m. See how the belief follows the readings, then reveal the truth.",
    ),
    start(
      "#/new/real",
      "pin",
      "Start a real mission",
      "Describe your site. Then type readings, upload a survey, or connect a live feed.",
    ),
  );
}

function start(href, name, title, text) {
  return h(
    "a",
    { class: "start", href },
    h("span", { class: "start-icon" }, icon(name)),
    h("span", {}, h("strong", {}, title), h("span", {}, text)),
  );
}

/** A mission from before a restart is prepared again before it continues. */
function waits({ preparing, status }) {
  return preparing && status !== "preparing" ? "preparing" : null;
}

function item(mission) {
  const kind = mission.type === "real" ? "Real" : "Simulated";
  return h(
    "li",
    {},
    h(
      "a",
      { href: `#/m/${encodeURIComponent(mission.id)}` },
      h("span", { class: "mission-name" }, mission.name),
      chip(mission.status, mission.type === "simulated" ? mission.running : undefined),
      mission.alarm ? h("span", { class: "chip unsure", title: mission.alarm }, icon("unsure"), "ALARM") : null,
      h(
        "span",
        { class: "mission-facts" },
        [kind, mission.field, plural(mission.readings, "reading"), waits(mission), ago(mission.updated)]
          .filter(Boolean)
          .join(" · "),
      ),
    ),
  );
}
