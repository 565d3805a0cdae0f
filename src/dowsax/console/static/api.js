/** The server's answers, or its reasons why not. */

/** What the server refused, in its own one line. */
export class Refusal extends Error {
  /** `canConfirm` where the server takes it when it is told that it is right. */
  constructor(message, status, canConfirm = false) {
    super(message);
    this.status = status;
    this.canConfirm = canConfirm;
  }
}

async function refusalOf(response) {
  const { status } = response;
  if (status === 401)
    return new Refusal("The console asks for its token: open the address that was printed at its start.", 401);
  try {
    const body = await response.json();
    if (typeof body.error === "string") return new Refusal(body.error, status, body.confirm === false);
  } catch {
    // Not the server's own answer: the number has to do.
  }
  return new Refusal(`The server answered ${status}: try again, or look at its log.`, status);
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(`/api${path}`, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("The server does not answer: is it running, and are you connected?", 0);
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

export async function get(path, signal) {
  return (await request(path, { signal })).json();
}

export async function getText(path, signal) {
  return (await request(path, { signal })).text();
}

async function send(method, path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await request(path, { method, headers, body: JSON.stringify(body) })).json();
}

export function post(path, body = {}) {
  return send("POST", path, body);
}

/** Correct a part of what is there. */
export function patch(path, body) {
  return send("PATCH", path, body);
}

/** Withdraw a reading; the answer is what is advised then. */
export async function withdraw(path, reason) {
  return (await request(`${path}?reason=${encodeURIComponent(reason)}`, { method: "DELETE" })).json();
}

/** Have something deleted; there is no answer but that it is. */
export async function remove(path) {
  await request(path, { method: "DELETE" });
}

/** A file with its name. */
export async function postFile(path, file) {
  const body = new FormData();
  body.append("file", file, file.name);
  return (await request(path, { method: "POST", body })).json();
}

/** A body that is sent as it is, such as a site. */
export async function postAsIs(path, body, type, signal) {
  const headers = { "Content-Type": type };
  return (await request(path, { method: "POST", headers, body, signal })).json();
}

/** A file and how the server calls it. */
export async function getFile(path, otherwise) {
  const response = await request(path);
  const called = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
  return { file: await response.blob(), called: called ?? otherwise };
}

let choices = null;

/** What there is to choose from; asked for until it is told once. */
export function getChoices() {
  choices ??= get("/choices").catch((refusal) => {
    choices = null;
    throw refusal;
  });
  return choices;
}

/** A name no other reading has. `crypto.randomUUID` is not there on plain HTTP. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
