/** Where the reader is: the address holds the whole state, so that a reload, the back button and a sent link work. */

import { useEffect, useState } from "./vendor/preact-htm.js";

const listeners = new Set();

/** Go to an address of this page. @param {string} url @param {{replace?: boolean}} [options] */
export function navigate(url, { replace = false } = {}) {
  if (url === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  for (const listener of listeners) listener();
}

/** The current path and search parameters; renders again when they change. */
export function useAddress() {
  const [, render] = useState(0);
  useEffect(() => {
    const listener = () => render((count) => count + 1);
    listeners.add(listener);
    addEventListener("popstate", listener);
    return () => {
      listeners.delete(listener);
      removeEventListener("popstate", listener);
    };
  }, []);
  return { path: location.pathname, parameters: new URLSearchParams(location.search) };
}

/** The current address with these parameters set, lists once for each value, and removed where they are empty. @param {Record<string, unknown>} changes */
export function addressWith(changes, path = location.pathname) {
  const parameters = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    parameters.delete(name);
    for (const one of [value ?? ""].flat()) if (one !== "") parameters.append(name, String(one));
  }
  const search = parameters.toString();
  return search ? `${path}?${search}` : path;
}

/** Name the view in the title of the window; undefined leaves it. @param {string} [name] */
export function useTitle(name) {
  useEffect(() => {
    if (name !== undefined) document.title = name ? `${name} - Knowlex` : "Knowlex";
  }, [name]);
}

/** A plain click on a link of this page goes without a reload; all other clicks are the browser's. */
export function followLink(event) {
  const link = event.target.closest?.("a[data-inside]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
