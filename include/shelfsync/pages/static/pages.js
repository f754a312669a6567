"use strict";
// The one script of the pages. Each page works without it.

// The page of a run at work reads itself again. What holds the focus is left as it is until the run has ended.
function keepReading(control) {
  const button = control.querySelector("button");
  let paused = false;
  const timer = setInterval(async () => {
    if (paused || document.hidden) return;
    const answer = await fetch(location.href).catch(() => null);
    if (paused || !answer?.ok) return;
    const made = new DOMParser().parseFromString(await answer.text(), "text/html");
    const ended = !made.getElementById(control.id);
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = made.getElementById(old.id);
      if (!fresh) return; // another page, such as one that asks for the password
      if (fresh.innerHTML === old.innerHTML || (!ended && old.contains(document.activeElement))) continue;
      old.replaceChildren(...fresh.childNodes);
    }
    if (ended) {
      clearInterval(timer);
      control.remove();
    }
  }, control.dataset.seconds * 1000);
  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
  });
  control.hidden = false;
}

// A field suggests products while a person types; the form has the store, if one is chosen.
function suggest(field) {
  let asked = 0;
  field.addEventListener("input", () => {
    const mine = ++asked;
    setTimeout(async () => {
      if (mine !== asked || field.value.trim().length < 2) return;
      const query = new URLSearchParams(new FormData(field.form));
      const answer = await fetch(`${field.dataset.suggestions}?${query}`).catch(() => null);
      const found = answer?.ok ? await answer.json() : [];
      if (mine === asked) field.list.replaceChildren(...found.map((one) => new Option(one.label, one.sku)));
    }, 200);
  });
}

document.querySelectorAll("#keep-reading").forEach(keepReading);
document.querySelectorAll("[data-suggestions]").forEach(suggest);
