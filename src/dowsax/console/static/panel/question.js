/** Ask whether an implausible value is right, with the server's reason. */

import { h } from "../dom.js";

/** The part of the reason that is for programs. */
const FOR_PROGRAMS = /: check it, and send it again.*$/;

/** Resolve to whether the person says yes; Escape and the first button say no. */
export function askWhether(reason) {
  return new Promise((resolve) => {
    const no = h("button", { type: "button", autofocus: true }, "Change it");
    const yes = h("button", { type: "submit", class: "danger" }, "It is right");
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id: "question-title" }, "Is this right?"),
      h("p", { id: "question-words" }, `${reason.replace(FOR_PROGRAMS, "")}.`),
      h("div", { class: "row" }, no, yes),
    );
    const dialog = h(
      "dialog",
      { class: "ask-dialog", "aria-labelledby": "question-title", "aria-describedby": "question-words" },
      form,
    );
    let isRight = false;
    no.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", () => {
      isRight = true;
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isRight);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
