// Shows the sections of the reference whose title or text has all words that were typed; titles come first.
const field = document.getElementById("search");
const list = document.getElementById("found");
let index;

async function load() {
  index ??= (await fetch("/docs/language/files/search.json")).json();
  return index;
}

function rank([title, , text], words) {
  const name = title.toLowerCase();
  const rest = text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    if (name === word || name.startsWith(`${word} `)) sum += 100;
    else if (name.startsWith(word)) sum += 20;
    else if (name.includes(word)) sum += 10;
    else if (rest.includes(word)) sum += 1;
    else return 0;
  }
  return sum;
}

function item([title, address, text]) {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = address;
  const name = document.createElement("b");
  name.textContent = title;
  link.append(name, ` ${text.slice(0, 120)}`);
  entry.append(link);
  return entry;
}

field.addEventListener("focus", load);
field.addEventListener("input", async () => {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const entries = await load();
  const found = entries
    .map((entry) => [rank(entry, words), entry])
    .filter(([sum]) => sum && words.length)
    .sort(([a], [b]) => b - a)
    .slice(0, 12);
  list.replaceChildren(...found.map(([, entry]) => item(entry)));
  if (words.length && !found.length) list.textContent = "Nothing found.";
  list.hidden = !words.length;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === "Escape") list.hidden = true;
  if (event.key === "Enter" && document.activeElement === field) list.querySelector("a")?.click();
});
