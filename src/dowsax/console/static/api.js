/** Requests to the server. */

import { learnServerTime } from "./server_time.js";

/** A refused request, with the server's reason. */
export class Refusal extends Error {
  /** `canConfirm`: the server accepts the request once it is confirmed. */
  constructor(message, status, canConfirm = false) {
    super(message);
    this.status = status;
    this.canConfirm = canConfirm;
  }
}

async function refusalOf(response) {
  const { status } = response;
  if (status === 401)
    return new Refusal("The console needs its token: open the address that it printed at its start.", 401);
  try {
    const body = await response.json();
    if (typeof body.error === "string") return new Refusal(body.error, status, body.confirm === false);
  } catch {
    // Not the console's own answer: only its status code is known.
  }
  return new Refusal(`The server answered ${status}: try again, or look at its log.`, status);
}

async function request(path, options = {}) {
  const sent = Date.now();
  let response;
  try {
    response = await fetch(`/api${path}`, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer. Is it running, and are you connected?", 0);
  }
  learnServerTime(response.headers.get("Date"), sent);
  // The page was let in before: its link or token is no longer taken.
  if (response.status === 401) document.dispatchEvent(new Event("lockedout"));
  if (!response.ok) throw await refusalOf(response);
  return response;
}

export async function get(path, signal) {
  return (await request(path, { signal })).json();
}

async function send(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method, headers, body: JSON.stringify(body) })).json();
}

export function post(path, body = {}) {
  return send("POST", path, body);
}

/** Change a part of a resource. */
export function patch(path, body) {
  return send("PATCH", path, body);
}

/** Withdraw a reading; returns the new advice. */
export async function withdraw(path, reason) {
  return (await request(`${path}?reason=${encodeURIComponent(reason)}`, { method: "DELETE" })).json();
}

/** Have a reading count again, as it was after a step. */
export function restore(path, asOf) {
  return post(`${path}/restore`, { as_of: asOf });
}

/** Delete something. */
export async function remove(path) {
  await request(path, { method: "DELETE" });
}

/** Upload a file with its name. */
export async function postFile(path, file) {
  const body = new FormData();
  body.append("file", file, file.name);
  return (await request(path, { method: "POST", body })).json();
}

/** Download a file: its content and its name. */
export async function getFile(path, otherwise) {
  const response = await request(path);
  const called = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { file: await response.blob(), called: called ?? otherwise };
}

let choices = null;

/** The choices for a new mission; requested once. */
export function getChoices() {
  choices ??= get("/choices").catch((refusal) => {
    choices = null;
    throw refusal;
  });
  return choices;
}

/** A unique id for a reading. `crypto.randomUUID` does not exist on plain HTTP. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
