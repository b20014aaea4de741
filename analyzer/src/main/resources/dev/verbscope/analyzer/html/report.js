"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = table.tHead.rows[0].cells;
  for (let i = 0; i < heads.length; i++) {
    const label = heads[i].textContent;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    heads[i].replaceChildren(button);
    button.addEventListener("click", () => {
      const up = heads[i].getAttribute("aria-sort") !== "ascending";
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[i].setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = Array.from(table.tBodies[0].rows);
      const key = row => row.cells[i].dataset.key ?? row.cells[i].textContent;
      const number = heads[i].classList.contains("n");
      rows.sort((a, b) => (up ? 1 : -1) * (number ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b), "en", {numeric: true})));
      table.tBodies[0].append(...rows);
    });
  }
}
