// The theme makes each block's copy button a landmark of the page, dozens of them: they are none.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (node.classList?.contains("md-code__nav")) node.setAttribute("role", "group");
    }
  }
}).observe(document.body, { childList: true, subtree: true });

// The theme unfolds everything to print. Only what the reader unfolded is to be on paper (print.css).
document.addEventListener("click", ({ target }) => {
  const folded = target.closest?.("summary")?.parentElement;
  folded?.classList.toggle("mg-opened", !folded.open); // the click is about to change it
});

// Paper is light: in the dark's colours a print would be pale grey on white.
{
  const { dataset } = document.body;
  let scheme;
  const begin = () => {
    scheme ??= dataset.mdColorScheme;
    dataset.mdColorScheme = "default";
  };
  const end = () => {
    if (scheme) dataset.mdColorScheme = scheme;
    scheme = undefined;
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? begin() : end()));
}

// What scrolls sideways is reachable by keys: not every browser lets them stop at a scroller.
{
  const SCROLLERS = ".md-content :is(pre > code, .md-typeset__scrollwrap, .katex, .katex-display, .mg-stage)";
  const reach = () => {
    const wide = [...document.querySelectorAll(SCROLLERS)].map((each) => [each, each.scrollWidth > each.clientWidth + 1]);
    for (const [each, scrolls] of wide) {
      if (scrolls) each.tabIndex = 0;
      else if (each.tabIndex === 0) each.removeAttribute("tabindex");
    }
    document.documentElement.dataset.mgReach = "yes";
  };
  let waiting;
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(reach, 300);
  };
  addEventListener("load", reach);
  addEventListener("resize", later);
  document.fonts?.ready.then(later);
}
