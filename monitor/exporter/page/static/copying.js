// A button beside each expression that copies it.
export function attachCopying() {
  for (const code of document.querySelectorAll("code.copied:only-child")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => copy(code, button));
    code.after(button);
  }
}

async function copy(code, button) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    // Only pages over HTTPS and of this machine may write to the clipboard.
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
}
