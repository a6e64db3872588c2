// Which card is chosen, for those who hear the page; what a mark of a picture says, when it is pointed at or reached by keyboard, in the line below the picture.
(() => {
  "use strict";
  const cards = [...document.querySelectorAll(".card h2 a")];
  const choose = () => {
    const chosen = cards.find((card) => card.hash === location.hash) || cards[0];
    for (const card of cards) card === chosen ? card.setAttribute("aria-current", "true") : card.removeAttribute("aria-current");
  };
  addEventListener("hashchange", choose);
  choose();
  for (const figure of document.querySelectorAll("figure.pareto")) {
    const said = figure.querySelector(".said"), before = said.textContent;
    const tell = (event) => {
      const title = event.target.closest("a, g")?.querySelector("title");
      if (title) said.textContent = title.textContent;
    };
    figure.addEventListener("pointerover", tell);
    figure.addEventListener("focusin", tell);
    figure.addEventListener("pointerleave", () => { said.textContent = before; });
  }
})();
