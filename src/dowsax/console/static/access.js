/** Who uses this page: the owner of the console, the crew, or somebody who may only look. */

import { get } from "./api.js";

let access = { role: "owner", name: "", is_open: true };

/** Ask the server; before that the page shows nothing that depends on it. */
export async function askAccess() {
  access = await get("/access");
  document.body.dataset.role = access.role;
  return access;
}

export const mayWrite = () => access.role !== "reader";
export const isOwner = () => access.role === "owner";
/** Whether the console needs no token, so that a link can be left. */
export const isOpen = () => access.is_open;
