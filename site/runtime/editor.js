// The editor, made of CodeMirror; build.py bundles this into the site's runtime/editor.js.

import { HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { Annotation, EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";

// Material's own colours for code, which change with light and dark.
const colour = (name) => `var(--md-code-hl-${name}-color)`;
const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.self, tags.bool, tags.null], color: colour("keyword") },
  { tag: [tags.string, tags.docString, tags.special(tags.string)], color: colour("string") },
  { tag: tags.number, color: colour("number") },
  { tag: tags.comment, color: colour("comment") },
  { tag: [tags.operator, tags.operatorKeyword], color: colour("operator") },
  { tag: [tags.punctuation, tags.bracket], color: colour("punctuation") },
  { tag: tags.function(tags.definition(tags.variableName)), color: colour("function") },
  { tag: tags.definition(tags.className), color: colour("function") },
  { tag: tags.className, color: colour("constant") },
  { tag: tags.meta, color: colour("special") },
]);

const look = EditorView.theme({
  "&": { color: "var(--md-code-fg-color)", backgroundColor: "var(--md-code-bg-color)" },
  ".cm-content": { caretColor: "var(--md-code-fg-color)" },
  ".cm-cursor": { borderLeftColor: "var(--md-code-fg-color)" },
  ".cm-gutters": { color: "var(--md-default-fg-color--light)",
                   backgroundColor: "var(--md-code-bg-color)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" }, // colours stand out as without it
  ".cm-activeLineGutter": { color: "var(--md-default-fg-color)", backgroundColor: "transparent" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--mg-selection)" },
  ".cm-panels, .cm-tooltip": { color: "var(--md-default-fg-color)",
                               backgroundColor: "var(--md-default-bg-color)" },
});

const copied = Annotation.define();

// The line that a verdict is about; it moves with the text, and goes once it is edited itself.
const marking = StateEffect.define();
const markedLine = Decoration.line({ class: "mg-marked" });
const marked = StateField.define({
  create: () => Decoration.none,
  update(lines, transaction) {
    lines = lines.map(transaction.changes);
    transaction.changes.iterChangedRanges((_from, _to, from, to) => {
      const { doc } = transaction.state;
      const [first, last] = [doc.lineAt(from).from, doc.lineAt(to).to];
      lines = lines.update({ filter: (place) => place < first || place > last });
    });
    for (const effect of transaction.effects) {
      if (effect.is(marking)) {
        lines = effect.value === null ? Decoration.none : Decoration.set(markedLine.range(effect.value));
      }
    }
    return lines;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * Show an editor in `parent`.  `changed(text)` hears of edits, `run()` is called by Ctrl-Enter,
 * `label` names the editor to screen readers.  `twins` is a set that editors of one text share:
 * what is typed in one is in all.
 */
export function openEditor({ parent, text, label, changed, run, readOnly = false, twins }) {
  const state = EditorState.create({
    doc: text,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (run?.(), true) }])),
      basicSetup, keymap.of([indentWithTab]), python(), indentUnit.of("    "),
      EditorState.readOnly.of(readOnly), syntaxHighlighting(highlighting), look, marked,
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((each) => each.annotation(copied))) {
          changed?.(update.state.doc.toString());
        }
      }),
    ],
  });
  const view = new EditorView({
    state, parent,
    dispatchTransactions(transactions, self) {
      self.update(transactions);
      for (const each of transactions) {
        if (each.changes.empty || each.annotation(copied)) continue;
        for (const twin of twins ?? []) {
          if (twin !== self) twin.dispatch({ changes: each.changes, annotations: copied.of(true) });
        }
      }
    },
  });
  twins?.add(view);
  return {
    view,
    text: () => view.state.doc.toString(),
    put(other) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } });
    },
    /** Show a line (from 1) near the top; nothing else of the page moves. */
    showLine(number) {
      const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.dispatch({ selection: { anchor: line.from } });
      // Not EditorView.scrollIntoView, which scrolls the page as well.  CodeMirror guesses the height
      // of lines until the editor is seen; scrolled by that guess it corrects itself again and again.
      const seen = new IntersectionObserver((entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.disconnect();
        requestAnimationFrame(() => view.requestMeasure({
          read: () => view.lineBlockAt(line.from).top,
          write: (top) => { view.scrollDOM.scrollTop = top - 8; },
        }));
      });
      seen.observe(view.dom);
    },
    /** Mark a line (from 1) as the one with the error; null marks none. */
    mark(number) {
      const line = number && view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.dispatch({ effects: marking.of(line ? line.from : null) });
    },
    focus: () => view.focus(),
    close() {
      twins?.delete(view);
      view.destroy();
    },
  };
}
