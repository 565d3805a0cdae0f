/** The page: the current view, the list of missions, the connection, the theme. */

import { askAccess, isOpen, isOwner, mayWrite } from "./access.js";
import { h, icon, isTyping, notice, put } from "./dom.js";
import { listen, watchConnection } from "./live.js";
import { theme } from "./map/colours.js";
import { showHelp } from "./views/help.js";
import { showHome, showNew } from "./views/home.js";

const view = document.getElementById("view");

/** The newest list of missions. */
class Missions extends EventTarget {
  list = [];

  take(list) {
    this.list = list;
    this.dispatchEvent(new Event("change"));
  }
}

const missions = new Missions();
let current = { close: () => {} };
let visit = 0;

/** Load a view; large ones on demand. */
async function viewOf(hash, place) {
  // A reader may not begin a mission, and is told so.
  if (hash.startsWith("#/new") && !mayWrite()) return showNew(place);
  if (hash === "#/links") return (await import("./views/links.js")).showLinks(place);
  if (hash === "#/new/simulated") return (await import("./views/new_simulated.js")).showNewSimulated(place);
  if (hash === "#/new/real") return (await import("./views/new_real.js")).showNewReal(place);
  if (hash === "#/new") return showNew(place);
  if (hash.startsWith("#/m/")) {
    return (await import("./views/mission.js")).showMission(place, decodeURIComponent(hash.slice(4)));
  }
  return showHome(place, missions);
}

/** A place for the view of a visit, which does nothing once the person has moved on. */
function placeOf(mine) {
  const place = {
    isEmpty: true,
    isLeft: () => mine !== visit,
    replaceChildren: (...children) => {
      place.isEmpty = false;
      if (mine === visit) view.replaceChildren(...children);
    },
  };
  return place;
}

/** [ms] that a view may take before the page says that it is loading. */
const LOADING_DELAY_MS = 400;

/** Say that a view is loading if it takes long; returns a function that ends the wait. */
function waitFor(place) {
  const show = () => {
    if (place.isEmpty && !place.isLeft()) put(view, h("p", { class: "loading", role: "status" }, "Loading"));
  };
  const timer = setTimeout(show, LOADING_DELAY_MS);
  return () => clearTimeout(timer);
}

async function go() {
  if (location.hash === "#view") {
    view.focus();
    return;
  }
  const mine = ++visit;
  current.close();
  current = { close: () => {} };
  document.body.dataset.view = { "": "home", "#": "home", "#/": "home" }[location.hash] ?? "page";
  if (location.hash.startsWith("#/m/")) document.body.dataset.view = "mission";
  let shown;
  const place = placeOf(mine);
  const arrived = waitFor(place);
  try {
    shown = await viewOf(location.hash, place);
  } catch (refusal) {
    if (mine === visit) showFailure(refusal);
    return;
  } finally {
    arrived();
  }
  if (mine !== visit) {
    shown.close();
    return;
  }
  current = shown;
  // The title of the list and of a mission has their alarms.
  if (shown.title && document.body.dataset.view !== "mission") document.title = `${shown.title}, dowsax`;
  put(document.getElementById("crumbs"), crumbs(shown.title));
  if (mine > 1) view.querySelector("h1")?.focus({ preventScroll: true });
}

/** Show numbers in other units: build the view again, unless it can change; what had the focus has it again. */
async function rebuild() {
  if (current.changeUnits) {
    current.changeUnits();
    return;
  }
  const { name } = document.activeElement ?? {};
  await go();
  if (name) view.querySelector(`[name="${CSS.escape(name)}"]`)?.focus();
}

function crumbs(title) {
  if (!title) return [];
  return [h("a", { href: "#/" }, "Missions"), h("span", { "aria-current": "page" }, title)];
}

function showFailure(refusal) {
  put(
    view,
    h(
      "div",
      { class: "page" },
      h(
        "div",
        { class: "card form" },
        h("h1", { tabindex: "-1" }, "This cannot be shown"),
        h("p", {}, refusal.message),
        h(
          "div",
          { class: "row" },
          h("button", { type: "button", class: "primary", on: { click: () => location.reload() } }, "Try again"),
          h("a", { class: "button", href: "#/" }, "All missions"),
        ),
      ),
    ),
  );
  put(document.getElementById("crumbs"));
}

function newMission() {
  return h(
    "a",
    { class: "button new", href: "#/new", "aria-label": "New mission" },
    icon("plus"),
    h("span", {}, "New"),
  );
}

function links() {
  const label = "Links for others";
  return h("a", { class: "button tool", href: "#/links", "aria-label": label, title: label }, icon("people"));
}

/** Says that nothing can be changed; on a console that needs no token, the link can be left. */
function readOnly() {
  const words = h("span", { class: "read-only" }, icon("eye"), "Read-only");
  return isOpen() ? h("span", { class: "tools" }, words, h("a", { href: "/?token=" }, "Leave")) : words;
}

function buildTools() {
  const look = h("button", { type: "button", class: "tool", title: "Light or dark" });
  const dress = () => {
    put(look, icon(theme() === "dark" ? "sun" : "moon"));
    look.setAttribute("aria-label", theme() === "dark" ? "Switch to light" : "Switch to dark");
    document.dispatchEvent(new Event("themechange"));
  };
  look.addEventListener("click", () => {
    const wanted = theme() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = wanted;
    try {
      localStorage.setItem("dowsax-theme", wanted);
    } catch {
      notice("This browser stores no settings: the theme lasts until the page is closed.", "note");
    }
    dress();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  const help = h(
    "button",
    {
      type: "button",
      class: "tool",
      "aria-label": "Help and keys",
      title: "Help and keys",
      on: { click: showHelp },
    },
    icon("help"),
  );
  put(
    document.getElementById("tools"),
    mayWrite() ? newMission() : readOnly(),
    isOwner() ? links() : null,
    help,
    look,
  );
  dress();
}

function watch() {
  const mark = document.getElementById("link");
  watchConnection((works) => {
    mark.hidden = works;
    document.body.classList.toggle("offline", !works);
  });
  return listen("/live", (message) => message.type === "missions" && missions.take(message.missions));
}

/** Show nothing more, and say why: the link was revoked, or the console has another token. */
function lockOut(stopWatching) {
  visit++;
  current.close();
  stopWatching();
  removeEventListener("hashchange", go);
  document.removeEventListener("unitschange", rebuild);
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  document.body.dataset.view = "page";
  document.title = "dowsax console";
  const [title, words] = isOwner()
    ? ["The console has another token", "Open the address that it printed at its start."]
    : ["This link was revoked", "Ask the owner of the console for another one."];
  const card = h("div", { class: "card form" }, h("h1", { tabindex: "-1" }, title), h("p", { role: "alert" }, words));
  put(view, h("div", { class: "page" }, card));
  put(document.getElementById("crumbs"));
  put(document.getElementById("tools"));
}

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !isTyping(event.target)) showHelp();
});
addEventListener("hashchange", go);
document.addEventListener("unitschange", rebuild);

/** Begin once it is known who uses the page. */
async function begin() {
  try {
    await askAccess();
  } catch (refusal) {
    showFailure(refusal);
    return;
  }
  buildTools();
  const stopWatching = watch();
  document.addEventListener("lockedout", () => lockOut(stopWatching), { once: true });
  go();
}
begin();
