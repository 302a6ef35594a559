/** Copying a text, on pages without https too. */

/** Put a text into the clipboard, and tell if the browser took it. @param {string} text */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text); // plain http has no navigator.clipboard
  }
}

function copySelected(text) {
  const focused = document.activeElement;
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "visually-hidden" });
  (focused.closest("dialog") || document.body).append(field); // outside of an open dialog nothing can be selected
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  focused.focus({ preventScroll: true });
  return copied;
}
