/** Shows the pages of local files, and asks for them again when the files have changed. */

const byId = (id) => document.getElementById(id);
const zoom = byId("zoom");
let state = null;

/** Show the findings with their places. */
function showFindings(findings) {
  const list = byId("findings");
  list.hidden = findings.length === 0;
  list.replaceChildren(
    ...findings.map((each) => {
      const item = document.createElement("li");
      item.className = each.severity;
      if (each.file) {
        const place = document.createElement("span");
        place.className = "place";
        place.textContent = `${each.file}:${each.line}:${each.column} `;
        item.append(place);
      }
      item.append(`${each.severity}: ${each.message}`);
      return item;
    }),
  );
}

/** Show the pages; without any, those of the last state that had some stay, paler. */
function showPages({ pages, revision }) {
  const place = byId("pages");
  place.classList.toggle("old", pages === 0);
  if (pages === 0) return;
  while (place.children.length > pages) place.lastChild.remove();
  while (place.children.length < pages) {
    const image = document.createElement("img");
    image.loading = "lazy";
    image.alt = `Page ${place.children.length + 1}`;
    place.append(image);
  }
  const scale = Number(zoom.value);
  const dense = Math.min(scale * devicePixelRatio * (96 / 72), 4).toFixed(4).replace(/\.?0+$/, "");
  [...place.children].forEach((image, index) => {
    image.onload = () => image.style.setProperty("width", `${(image.naturalWidth / dense) * (96 / 72) * scale}px`);
    image.src = `pages/${index + 1}.png?scale=${dense}&revision=${revision}`;
  });
}

function show() {
  document.title = `${state.title} – preview`;
  byId("title").textContent = state.title;
  byId("status").textContent = state.pages === 1 ? "1 page" : `${state.pages} pages`;
  showFindings(state.findings);
  showPages(state);
}

zoom.addEventListener("change", () => state && showPages(state));
for (;;) {
  try {
    const answer = await fetch(state ? `state?seen=${state.revision}` : "state");
    const found = await answer.json();
    const isNew = found.revision !== state?.revision;
    state = found;
    if (isNew) show();
  } catch {
    byId("status").textContent = "The preview has stopped; start it again.";
    await new Promise((resolve) => setTimeout(resolve, 1000));
    state = null;
  }
}
