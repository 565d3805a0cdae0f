/** What a person has chosen, kept in this browser; where it stores nothing, until the page is closed. */

const memory = new Map();

/** What is stored under a name, or `otherwise`. */
export function stored(name, otherwise) {
  try {
    const text = localStorage.getItem(`dowsax-${name}`);
    return text === null ? (memory.get(name) ?? otherwise) : JSON.parse(text);
  } catch {
    return memory.get(name) ?? otherwise;
  }
}

export function store(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(`dowsax-${name}`, JSON.stringify(value));
  } catch {
    // It lasts until the page is closed.
  }
}
