"""Write the formulas of lessons in plain characters, for a terminal."""

from __future__ import annotations

import re

__all__ = ["plain"]

_SYMBOLS = {
    r"\cdot": "·", r"\varepsilon": "ε", r"\partial": "∂", r"\mu": "μ", r"\sum": "∑",
    r"\beta": "β", r"\lambda": "λ", r"\pi": "π", r"\sigma": "σ", r"\gamma": "γ",
    r"\leftarrow": "←", r"\langle": "⟨", r"\rangle": "⟩", r"\quad": "  ",
    r"\qquad": "    ", r"\,": " ", r"\|": "‖", r"\left": "", r"\right": "",
    r"\mapsto": "↦", r"\times": "×", r"\le": "≤", r"\ge": "≥",
    **{rf"\{name}": name for name in ("cos", "exp", "log", "max", "min", "sin", "tanh")},
}
_RAISED = dict(zip("0123456789+-=()nijkpTx'", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱʲᵏᵖᵀˣ′"))
_LOWERED = dict(zip("0123456789+-=()ijklnmpxt", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ᵢⱼₖₗₙₘₚₓₜ"))
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def plain(text: str) -> str:
    """Return Markdown with its formulas, `$...$` and `$$...$$`, in plain characters.

    >>> plain(r"the slope $\\bar c = \\frac{\\partial f}{\\partial c}$ of $x_0^2$")
    'the slope c̄ = ∂f/∂c of x₀²'
    >>> plain("`$5` stays")
    '`$5` stays'
    """
    pieces = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(pieces), 2):
        pieces[index] = re.sub(r"\$\$(.+?)\$\$|\$([^$\n]+)\$",
                               lambda found: _formula(found[1] or found[2]), pieces[index])
    return "".join(pieces)


def _formula(text: str) -> str:
    text = text.replace(r"\_", "\0")  # not a subscript
    text = re.sub(r"\\(?:text|operatorname|mathrm|mathbf)" + _GROUP,
                  lambda found: f"{{{found[1]}}}", text)
    for name, above in (("bar", "\u0304"), ("dot", "\u0307")):
        text = re.sub(rf"\\{name}\s*(?:\{{(\w)\}}|(\w))", rf"\1\2{above}", text)
    text = re.sub(r"\\frac(\d)(\d)", r"\\frac{\1}{\2}", text)
    before = ""
    while before != text:
        before = text
        text = re.sub(r"\\frac" + _GROUP + _GROUP,
                      lambda found: f"{_bracketed(found[1])}/{_bracketed(found[2])}", text)
        text = re.sub(r"\\sqrt\s*(?:" + _GROUP + r"|(\w))",
                      lambda found: f"√{_bracketed(found[1] or found[2])}", text)
    for name, symbol in sorted(_SYMBOLS.items(), key=lambda pair: -len(pair[0])):
        gap = r"\s*" if name[1:].isalpha() and symbol in "∂" else ""
        text = re.sub(re.escape(name) + (r"(?![a-zA-Z])" if name[1:].isalpha() else "") + gap,
                      symbol, text)
    text = re.sub(r"\^(?:" + _GROUP + r"|(\S))", lambda found: _moved(found, _RAISED, "^"), text)
    text = re.sub(r"_(?:" + _GROUP + r"|(\w))", lambda found: _moved(found, _LOWERED, "_"), text)
    text = text.replace("{", "").replace("}", "").replace("\0", "_")
    return re.sub(r"  +", lambda found: "    " if len(found[0]) > 3 else " ", text)


def _moved(found: re.Match[str], small: dict[str, str], mark: str) -> str:
    inside = found[1] if found[1] is not None else found[2]
    if all(each in small for each in inside):
        return "".join(small[each] for each in inside)
    return f"{mark}{_bracketed(inside)}"


def _bracketed(text: str) -> str:
    plain_enough = re.fullmatch(r"\\?\w+|\\partial\s*\S+|\w+_\w", text.strip())
    return text if plain_enough else f"({text})"
