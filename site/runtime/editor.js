// The editor, made of CodeMirror; build.py bundles this into the site's runtime/editor.js.

import { HighlightStyle, codeFolding, foldEffect, foldedRanges, indentUnit, syntaxHighlighting,
         unfoldEffect } from "@codemirror/language";
import { closeCompletion } from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { Annotation, Compartment, EditorState, Prec, StateEffect, StateField, Transaction } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, keymap } from "@codemirror/view";
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
  ".cm-line": { paddingLeft: "calc(6px + var(--mg-depth, 0ch))", textIndent: "calc(-1 * var(--mg-depth, 0ch))" },
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

// A line that is wider than the editor goes on below, further in than it begins.
const continued = ViewPlugin.fromClass(class {
  constructor(view) { this.decorations = indented(view); }

  update(update) {
    if (update.docChanged || update.viewportChanged) this.decorations = indented(update.view);
  }
}, { decorations: (plugin) => plugin.decorations });

function indented(view) {
  const found = [];
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to;) {
      const line = view.state.doc.lineAt(at), [begin] = /^ *(?:# ?(?:- )?)?/.exec(line.text);
      const depth = begin.length + (begin.trim() ? 0 : 2);
      found.push(Decoration.line({ attributes: { style: `--mg-depth: ${depth}ch` } }).range(line.from));
      at = line.to + 1;
    }
  }
  return Decoration.set(found, true);
}

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

// --- the file folded around a function ---------------------------------------------------------

// A fold says how much it hides, and opens when it is pressed.
const folds = codeFolding({
  preparePlaceholder: (state, { from, to }) =>
    state.doc.lineAt(to).number - state.doc.lineAt(from).number + 1,
  placeholderDOM(view, opened, count) {
    const shown = document.createElement("button");
    shown.type = "button";
    shown.className = "mg-fold";
    shown.textContent = `⋯ ${count} line${count === 1 ? "" : "s"} of the file`;
    shown.title = "Show these lines";
    shown.onclick = opened;
    return shown;
  },
});

/** The ranges of text that hide all lines but those from `first` to `last`, both from 1. */
function around(doc, shown) {
  const found = [];
  let next = 1;
  for (const [first, last] of [...shown, [doc.lines + 1, doc.lines + 1]]) {
    if (first > next) found.push({ from: doc.line(next).from, to: doc.line(first - 1).to });
    next = Math.max(next, last + 1);
  }
  return found.filter(({ from, to }) => to > from);
}

/** The pieces of text between folds of whole lines, [{from, to}, …]; none where nothing is folded. */
function pieces(state) {
  const found = [];
  const { doc } = state;
  let [count, next] = [0, 0];
  foldedRanges(state).between(0, doc.length, (from, to) => {
    if (doc.lineAt(from).from !== from || doc.lineAt(to).to !== to) return; // the body of a function
    if (from > next) found.push({ from: next, to: from - 1 });
    next = to + 1;
    count++;
  });
  if (count && next <= doc.length) found.push({ from: next, to: doc.length });
  return found;
}

const holds = (piece, from, to = from) => piece.from <= from && to <= piece.to;

// Select all takes the function with the cursor, so that nothing is lost that one does not see.
const selectShown = {
  key: "Mod-a",
  run(view) {
    const all = pieces(view.state);
    const shown = all.find((each) => holds(each, view.state.selection.main.head)) ?? all[0];
    if (shown) view.dispatch({ selection: { anchor: shown.from, head: shown.to } });
    return Boolean(shown);
  },
};

// A selection may go over folds all the same, as that of a phone's menu: what they hide stays.
const keepHidden = EditorState.transactionFilter.of((transaction) => {
  const typed = ["input", "delete", "move"].some((kind) => transaction.isUserEvent(kind));
  const all = transaction.docChanged && typed ? pieces(transaction.startState) : [];
  if (!all.length) return transaction;
  let touched = false;
  const changes = [];
  transaction.changes.iterChanges((from, to, _from, _to, insert) => {
    if (from === to || all.some((each) => holds(each, from, to))) {
      changes.push({ from, to, insert });
      return;
    }
    touched = true;
    all.map((each) => ({ from: Math.max(from, each.from), to: Math.min(to, each.to) }))
      .filter((each) => each.from <= each.to)
      .forEach((each, place) => changes.push(place ? each : { ...each, insert }));
  });
  if (!touched) return transaction;
  return { changes, scrollIntoView: transaction.scrollIntoView, annotations:
           Transaction.userEvent.of(transaction.annotation(Transaction.userEvent)) };
});

/** The change that makes one text of another, or null: no more than what differs. */
function difference(mine, other) {
  if (mine === other) return null;
  let [start, end] = [0, 0];
  const most = Math.min(mine.length, other.length);
  while (start < most && mine[start] === other[start]) start++;
  while (end < most - start && mine.at(-1 - end) === other.at(-1 - end)) end++;
  return { from: start, to: mine.length - end, insert: other.slice(start, other.length - end) };
}

const wrapping = new Compartment();

/** Call `then` in the frame after an element is in sight for the first time. */
function whenSeen(dom, then) {
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    requestAnimationFrame(then);
  });
  seen.observe(dom);
}

/** Let the room that is kept for an editor's text grow and shrink with its lines. */
function keepRoom(parent, { startState, state }) {
  const more = state.doc.lines - startState.doc.lines, room = parent.closest(".mg-editor > .mg-code");
  const lines = more && room && Number(getComputedStyle(room).getPropertyValue("--mg-lines"));
  if (lines) room.style.setProperty("--mg-lines", Math.max(1, lines + more));
}

/**
 * Show an editor in `parent`.  `changed(text)` hears of edits, `run()` is called by Ctrl-Enter,
 * `label` names the editor to screen readers.  `twins` is a set that editors of one text share:
 * what is typed in one is in all.  `shown` are the lines, [[first, last], …] from 1, around which
 * the rest is folded.
 */
export function openEditor({ parent, text, label, changed, run, readOnly = false, twins,
                             shown }) {
  const state = EditorState.create({
    doc: text,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run: (view) => (closeCompletion(view), run?.(), true) }, selectShown])),
      folds, keepHidden,
      basicSetup, keymap.of([indentWithTab]), python(), indentUnit.of("    "),
      EditorState.readOnly.of(readOnly), syntaxHighlighting(highlighting), look, marked,
      wrapping.of([]),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) keepRoom(parent, update);
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
  // Where lines go on below, CodeMirror guesses far too much room for text that it has not measured.
  whenSeen(view.dom, () => view.dispatch({
    effects: wrapping.reconfigure([EditorView.lineWrapping, continued]) }));
  const fold = (lines) => view.dispatch({
    effects: around(view.state.doc, lines).map((range) => foldEffect.of(range)) });
  if (shown?.length) fold(shown);
  return {
    view,
    /** Fold all but some lines; without lines, unfold all. */
    show(lines) {
      const open = [];
      foldedRanges(view.state).between(0, view.state.doc.length,
        (from, to) => { open.push(unfoldEffect.of({ from, to })); });
      view.dispatch({ effects: open });
      if (lines?.length) fold(lines);
    },
    /** Open a fold for a line (from 1) alone. */
    reveal(number) {
      const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
      const effects = [];
      foldedRanges(view.state).between(line.from, line.to, (from, to) => {
        effects.push(unfoldEffect.of({ from, to }));
        if (from < line.from - 1) effects.push(foldEffect.of({ from, to: line.from - 1 }));
        if (line.to + 1 < to) effects.push(foldEffect.of({ from: line.to + 1, to }));
      });
      view.dispatch({ effects });
    },
    /** Take over a text that was written elsewhere; nobody is told of it. */
    take(other) {
      const changes = difference(view.state.doc.toString(), other);
      if (changes) view.dispatch({ changes, annotations: copied.of(true) });
    },
    text: () => view.state.doc.toString(),
    put(other) {
      const changes = difference(view.state.doc.toString(), other);
      if (changes) view.dispatch({ changes });
    },
    /** Show a line (from 1) near the top; nothing else of the page moves. */
    showLine(number) {
      const line = view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.dispatch({ selection: { anchor: line.from } });
      // Not EditorView.scrollIntoView, which scrolls the page as well.  CodeMirror guesses the height
      // of lines until the editor is seen; scrolled by that guess it corrects itself again and again.
      whenSeen(view.dom, () => view.requestMeasure({
        read: () => view.lineBlockAt(line.from).top,
        write: (top) => { view.scrollDOM.scrollTop = top - 8; },
      }));
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
