/** A websocket that reconnects by itself, and reports whether it is connected. */

import { get } from "./api.js";

const SHORTEST = 500;
const LONGEST = 8000;
/** [ms] of silence after which the server is checked. */
const SILENCE = 10000;

/** The codes with which the server closes the socket of an unknown mission, and of a link that was revoked. */
const UNKNOWN = 4404;
const REVOKED = 4401;

const broken = new Set();
const watchers = new Set();

function report(path, works) {
  const before = broken.size > 0;
  if (works) broken.delete(path);
  else broken.add(path);
  if (before !== broken.size > 0) for (const watcher of watchers) watcher(broken.size === 0);
}

/** Call `watcher` when the connection is lost or back. */
export function watchConnection(watcher) {
  watchers.add(watcher);
}

/**
 * Listen to a path. `heard` gets every message. `opened` is called at each connection: messages in between are
 * lost and have to be requested. `gone` is called when there is no such mission. Returns a function to stop.
 */
export function listen(path, heard, opened = () => {}, gone = () => {}) {
  let socket = null;
  let wait = SHORTEST;
  let timer = null;
  let over = false;
  let lastWord = Date.now();

  /** Ask whether the server is there. An answer that a socket cannot have says that the link was revoked. */
  const ask = () => get("/health", AbortSignal.timeout(5000));
  const start = () => {
    clearTimeout(timer);
    if (over || (socket && socket.readyState <= WebSocket.OPEN)) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const mine = new WebSocket(`${scheme}://${location.host}/api${path}`);
    socket = mine;
    let wasOpen = false;
    mine.addEventListener("open", () => {
      wasOpen = true;
      wait = SHORTEST;
      lastWord = Date.now();
      report(path, true);
      opened();
    });
    mine.addEventListener("message", (event) => {
      lastWord = Date.now();
      heard(JSON.parse(event.data));
    });
    mine.addEventListener("close", (event) => {
      if (over || mine !== socket) return;
      if (event.code === UNKNOWN) {
        report(path, true);
        gone();
        return;
      }
      if (event.code === REVOKED) {
        report(path, true);
        document.dispatchEvent(new Event("lockedout"));
        return;
      }
      report(path, false);
      if (!wasOpen) ask().catch(() => {});
      timer = setTimeout(start, wait * (0.75 + 0.5 * Math.random()));
      wait = Math.min(2 * wait, LONGEST);
    });
  };

  const restart = () => {
    wait = SHORTEST;
    start();
  };
  const lost = () => {
    if (over) return;
    report(path, false);
    // The browser may take minutes to notice that it is closed.
    const left = socket;
    socket = null;
    left?.close();
    clearTimeout(timer);
    timer = setTimeout(start, wait);
  };
  const look = async () => {
    if (document.hidden || socket?.readyState !== WebSocket.OPEN || Date.now() - lastWord < SILENCE) return;
    try {
      await ask();
      lastWord = Date.now();
    } catch {
      lost();
    }
  };
  const beat = setInterval(look, SILENCE / 2);
  addEventListener("online", restart);
  addEventListener("offline", lost);
  document.addEventListener("visibilitychange", restart);
  start();

  return () => {
    over = true;
    clearTimeout(timer);
    clearInterval(beat);
    removeEventListener("online", restart);
    removeEventListener("offline", lost);
    document.removeEventListener("visibilitychange", restart);
    report(path, true);
    socket?.close();
  };
}
