// The theme makes each block's copy button a landmark of the page, dozens of them: they are none.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (node.classList?.contains("md-code__nav")) node.setAttribute("role", "group");
    }
  }
}).observe(document.body, { childList: true, subtree: true });
