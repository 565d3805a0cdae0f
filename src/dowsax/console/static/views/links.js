/** The links for others: the crew, and who only looks. Only the owner sees them. */

import { get, post, remove } from "../api.js";
import { h, notice, put } from "../dom.js";
import { buildMessage, choice, forgive, labelled } from "../forms.js";

const ROLES = [
  { name: "reader", label: "Read-only: for the office" },
  { name: "operator", label: "Operator: for the crew" },
];
const MAY = { reader: "Read-only", operator: "Operator" };

export async function showLinks(view) {
  const list = h("ul", { class: "links" });
  const none = h("p", { class: "hint" }, "There are no links yet.");
  const name = labelled("For whom", h("input", { type: "text", maxlength: "80", name: "name", autocomplete: "off" }));
  const role = choice("May do", ROLES, "reader");
  const message = buildMessage();
  const form = h(
    "form",
    { class: "links-form", novalidate: true },
    name.element,
    role.element,
    h("button", { type: "submit", class: "primary" }, "Create a link"),
    message.element,
  );
  let links = await get("/links");
  const update = () => {
    none.hidden = links.length > 0;
    put(
      list,
      links.map((link) => itemOf(link, revoke)),
    );
  };
  const revoke = async (link) => {
    try {
      await remove(`/links/${link.id}`);
      links = links.filter(({ id }) => id !== link.id);
      update();
      notice(`The link of ${link.name || "nobody in particular"} is revoked.`, "note");
      form.querySelector("button").focus();
    } catch (refusal) {
      notice(refusal.message);
    }
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      links = [...links, await post("/links", { role: role.input.value, name: name.input.value.trim() })];
      name.input.value = "";
      message.tell("The link is made. Send its address to whom it is for.", "good");
      update();
    } catch (refusal) {
      message.tell(refusal.message);
    }
  });
  forgive(form, message);
  update();
  put(
    view,
    h(
      "div",
      { class: "page" },
      h(
        "section",
        { class: "card form wide" },
        h("h1", { tabindex: "-1" }, "Links for others"),
        h(
          "p",
          {},
          "An operator runs missions. A read-only link shows everything and changes nothing. " +
            "Anyone with this address has these rights until you revoke the link.",
        ),
        isLocal() ? h("p", { class: "hint" }, LOCAL) : null,
        list,
        none,
        form,
      ),
    ),
  );
  return { title: "Links", close: () => {} };
}

const LOCAL =
  "These addresses work on this machine only. To let others in, start the console with --host 0.0.0.0 and " +
  "open it by the address of this machine in the network, or use --token behind a proxy.";

const isLocal = () => ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

function itemOf(link, revoke) {
  const address = h("input", {
    type: "text",
    readOnly: true,
    value: `${location.origin}/?token=${link.token}`,
    "aria-label": `Address of the link of ${link.name || MAY[link.role]}`,
  });
  address.addEventListener("focus", () => address.select());
  const copy = h("button", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    address.select();
    try {
      await navigator.clipboard.writeText(address.value);
      notice("The address is copied.", "note");
    } catch {
      notice("This browser lets no page copy: copy the selected address yourself.", "note");
    }
  });
  const end = h("button", { type: "button", class: "danger", "aria-label": `Revoke the link of ${link.name}` }, "Revoke");
  end.addEventListener("click", () => revoke(link));
  const made = new Date(link.created).toLocaleDateString();
  return h(
    "li",
    {},
    h("p", {}, h("b", {}, link.name || "No name"), ` ${MAY[link.role]}, made ${made}`),
    h("div", { class: "row" }, address, copy, end),
  );
}
