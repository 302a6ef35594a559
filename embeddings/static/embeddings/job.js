"use strict";
// Moves the bars of a job's page while the job runs: asks the server once a second, never twice at once.
(() => {
  const page = document.getElementById("kx-job");
  const lost = document.getElementById("kx-lost");

  const show = (row, fields) => {
    for (const cell of row.querySelectorAll("[data-field]")) {
      const value = fields[cell.dataset.field];
      if (value === undefined) continue;
      if (cell.tagName === "PROGRESS") cell.value = value;
      else if (cell.tagName === "UL") cell.replaceChildren(...value.map(listed));
      else if (cell.textContent !== String(value)) cell.textContent = value;
      if (cell.dataset.field === "state") cell.className = `kx-state kx-${value}`;
    }
    for (const form of row.querySelectorAll("[data-show]")) form.hidden = !fields[form.dataset.show];
  };

  const listed = (text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  };

  const draw = (data) => {
    show(page, data);
    for (const bar of data.bars) {
      const row = page.querySelector(`[data-bar="${bar.name}"]`);
      const line = row.querySelector("progress");
      line.max = bar.total || 1;
      line.value = bar.done;
      row.querySelector("[data-field=text]").textContent = bar.text;
    }
    for (const item of data.items) {
      const row = document.querySelector(`[data-item="${item.id}"]`);
      if (!row) continue;
      show(row, item);
      const link = row.querySelector("[data-field=link]");
      link.textContent = item.name;
      if (item.url) link.href = item.url;
      else link.removeAttribute("href");
    }
  };

  const ask = async () => {
    let running = true;
    try {
      const answer = await fetch(page.dataset.url, { headers: { Accept: "application/json" } });
      if (answer.redirected || answer.status === 404) return location.reload();  // logged out, or the job is gone
      if (!answer.ok) throw new Error(answer.status);
      const data = await answer.json();
      draw(data);
      running = data.running;
      lost.hidden = true;
    } catch (error) {
      lost.hidden = false;
    }
    if (running) setTimeout(ask, 1000);
  };

  for (const form of document.querySelectorAll("form[data-confirm]")) {
    form.addEventListener("submit", (event) => {
      if (!confirm(form.dataset.confirm)) event.preventDefault();
    });
  }
  if (page.dataset.running === "yes") setTimeout(ask, 1000);
})();
