/** The site as the server knows it: one text, and the form that it is read as. Changes go one after the other. */

import { post } from "../api.js";

const MOST_BACK = 100;

/** Says `change` after each answer, `refused` (with the reason) where there is none, and `asking` before. */
export class SiteState extends EventTarget {
  form = null;
  /** Whether the newest form is of a text that was typed, which must not be changed under the cursor. */
  isTyped = false;
  #back = [];
  #waiting = null;
  /** Done when all changes are written; `null` where they are. */
  #writing = null;
  #reason = "";

  /** Read a text, or begin a new one of a kind. */
  read(body) {
    return this.#ask({ body, isTyped: "text" in body });
  }

  /** Write values or shapes into the text; several changes while one is under way become one. */
  write(part) {
    return this.#ask({ part, isTyped: false });
  }

  /** Take back the last change. */
  undo() {
    const text = this.#back.pop();
    if (text !== undefined) this.#ask({ body: { text }, isTyped: false, isBack: true });
  }

  /** Whether changes are still to be written that the newest form does not have. */
  get isBehind() {
    return this.#waiting !== null;
  }

  /** Wait until all changes are written, or refused. */
  async written() {
    await this.#writing;
  }

  /** Wait until all changes are written. An error says why there is no site then. */
  async settle() {
    await this.written();
    if (this.#reason) throw new RangeError(this.#reason);
  }

  refuse(reason) {
    this.#reason = reason;
    this.dispatchEvent(new CustomEvent("refused", { detail: reason }));
  }

  #ask(wish) {
    if (this.#writing) {
      const before = this.#waiting;
      this.#waiting = wish.part && before?.part ? { ...wish, part: { ...before.part, ...wish.part } } : wish;
    } else {
      this.#writing = this.#writeAll(wish).finally(() => {
        this.#writing = null;
      });
    }
    return this.#writing;
  }

  async #writeAll(first) {
    for (let wish = first; wish; ) {
      this.dispatchEvent(new Event("asking"));
      try {
        this.#take(await post("/site/form", this.#bodyOf(wish)), wish);
      } catch (refusal) {
        this.refuse(refusal.message);
      }
      wish = this.#waiting;
      this.#waiting = null;
    }
  }

  #bodyOf({ body, part }) {
    if (body) return body;
    const { text, values, shapes } = this.form;
    return { text, values, shapes, ...part };
  }

  #take(form, { isTyped, isBack }) {
    if (this.form && !isBack && form.text !== this.form.text) this.#back.push(this.form.text);
    if (this.#back.length > MOST_BACK) this.#back.shift();
    this.form = form;
    this.isTyped = Boolean(isTyped);
    this.#reason = form.faults[0]?.line ?? "";
    this.dispatchEvent(new Event("change"));
  }
}
