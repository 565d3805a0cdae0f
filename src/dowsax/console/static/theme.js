// Before anything is painted: the chosen look, where one was chosen, so that the page does not flash.
try {
  const chosen = localStorage.getItem("dowsax-theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser that keeps nothing follows the system.
}
