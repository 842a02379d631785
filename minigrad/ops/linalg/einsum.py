"""einsum: sums of products, with one letter for each dimension.

The equation is parsed into numbers, one per letter; an ellipsis represents letters that the others
leave free.  Diagonals of an operand and sums over a single operand are computed with `diagonal` and
`sum`, and the rest is one op.  The gradient of that op for an operand is an einsum again, of the
gradient and the other operands, with that operand's letters as the output.
"""

from string import ascii_lowercase, ascii_uppercase

from ...op.declaration import F, Op
from ...op.publish import function
from ...shapes import numel
from ...tensor.tensor import Tensor

LETTERS = ascii_uppercase + ascii_lowercase  # in the order that an implicit output uses


def contract(xp, a, of_a, b, of_b, output):
    """Return the sum of products of two arrays with labelled dimensions, with a single matmul."""
    shared = [n for n in of_a if n in of_b]
    batch = [n for n in shared if n in output]
    summed = [n for n in shared if n not in output]
    left = [n for n in of_a if n not in of_b]
    right = [n for n in of_b if n not in of_a]
    sizes = dict(zip((*of_a, *of_b), (*a.shape, *b.shape)))
    a = xp.transpose(a, [of_a.index(n) for n in batch + left + summed])
    b = xp.transpose(b, [of_b.index(n) for n in batch + summed + right])
    outer, rows, inner, columns = ([sizes[n] for n in names]
                                   for names in (batch, left, summed, right))
    a = a.reshape((*outer, numel(rows), numel(inner)))
    b = b.reshape((*outer, numel(inner), numel(columns)))
    product = xp.matmul(a, b) if summed else a * b
    product = product.reshape((*outer, *rows, *columns))
    order = batch + left + right
    return xp.transpose(product, [order.index(n) for n in output])


class Einsum(Op):
    """A sum of products of tensors with labelled dimensions.

    Each label is in the output or occurs twice, and all dimensions with one label have equal sizes.

    >>> from minigrad import ones
    >>> Einsum([ones(2, 3), ones(3, 4)], [(0, 1), (1, 2)], (0, 2)).shape
    torch.Size([2, 4])
    """

    public, list_of_tensors = False, "tensors"

    def shape(tensors, labels, output):
        sizes = {n: size for of, shape in zip(labels, tensors) for n, size in zip(of, shape)}
        return tuple(sizes[n] for n in output)

    def forward(xp, tensors, labels, output):
        if len(tensors) == 2:
            return contract(xp, tensors[0], labels[0], tensors[1], labels[1], output)
        pairs = [part for pair in zip(tensors, map(list, labels)) for part in pair]
        return xp.einsum(*pairs, list(output), optimize=True)

    def grad_tensors(g, tensors, labels, output):
        grads = []
        for i, of in enumerate(labels):
            others, theirs = [*tensors[:i], *tensors[i + 1 :]], [*labels[:i], *labels[i + 1 :]]
            grads.append(Einsum([g, *others], [output, *theirs], of))
        return grads

    def samples(make):
        yield [make(2, 3), make(3, 4)], [(0, 1), (1, 2)], (0, 2)
        yield [make(5, 2, 3), make(5, 3)], [(0, 1, 2), (0, 2)], (1, 0)
        yield [make(2, 3), make(3, 4), make(4)], [(0, 1), (1, 2), (2,)], (0,)


def read_labels(text, ndim, at):
    """Return an operand's labels as numbers; the ellipsis stays in its position."""
    labels = []
    place = 0
    while place < len(text):
        if text.startswith("...", place):
            if ... in labels:
                raise RuntimeError(f"einsum(): found '.' for operand {at} for which an ellipsis "
                                   "was already found")
            labels.append(...)
            place += 3
            continue
        letter = text[place]
        if letter == ".":
            raise RuntimeError(f"einsum(): found '.' for operand {at} that is not part of any "
                               "ellipsis")
        if letter not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {place} in the "
                               "equation string, subscripts must be in [a-zA-Z]")
        labels.append(LETTERS.index(letter))
        place += 1
    named = len(labels) - (... in labels)
    if ndim is not None and (named > ndim if ... in labels else named != ndim):
        which = ("is more than the number of dimensions" if ... in labels else
                 "does not match the number of dimensions")
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) {which} "
                           f"({ndim}) for operand {at}"
                           + ("" if ... in labels else " and no ellipsis was given"))
    return labels


def fill(labels, free):
    """Return the labels with the ellipsis replaced by `free`."""
    at = labels.index(...) if ... in labels else len(labels)
    return [*labels[:at], *free, *labels[at + 1 :]]


def parse(equation, operands):
    """Return the labels of each operand and of the output."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        few = "fewer" if len(terms) > len(operands) else "more"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    inputs = [read_labels(term, x.ndim, i) for i, (term, x) in enumerate(zip(terms, operands))]
    used = {n for labels in inputs for n in labels}
    covered = [x.ndim - len(labels) + 1 if ... in labels else 0
               for labels, x in zip(inputs, operands)]
    unused = [n for n in range(len(LETTERS)) if n not in used]
    free = unused[: max(covered, default=0)]
    labelled = [fill(labels, free[len(free) - count :]) for labels, count in zip(inputs, covered)]
    if arrow:
        output = fill(read_labels(right, None, "the output"), free if "..." in right else ())
    else:
        every = [n for labels in inputs for n in labels]
        output = free + sorted(n for n in used if n is not ... and every.count(n) == 1)
    check_output(output, labelled)
    return labelled, tuple(output)


def check_output(output, labelled):
    """Raise unless each output label occurs once, and also in an operand."""
    for n in output:
        if output.count(n) > 1:
            raise RuntimeError(f"einsum(): output subscript {LETTERS[n]} appears more than once in "
                               "the output")
        if not any(n in labels for labels in labelled):
            raise RuntimeError(f"einsum(): output subscript {LETTERS[n]} does not appear in the "
                               "equation for any input operand")


def sizes_of(labelled, operands):
    """Return the size of each label; raise `RuntimeError` if it has two sizes other than 1."""
    sizes = {}
    for i, (labels, x) in enumerate(zip(labelled, operands)):
        own = {}
        for n, size in zip(labels, x.shape):
            if own.setdefault(n, size) != size:
                raise RuntimeError(f"einsum(): subscript {LETTERS[n]} is repeated for operand {i} "
                                   f"but the sizes don't match, {size} != {own[n]}")
            seen = sizes.get(n, 1)
            if 1 not in (seen, size) and seen != size:
                raise RuntimeError(f"einsum(): subscript {LETTERS[n]} has size {size} for operand "
                                   f"{i} which does not broadcast with previously seen size {seen}")
            sizes[n] = size if seen == 1 else seen
    return sizes


def distinct(x, labels):
    """Replace repeated labels of an operand by one, taking diagonals; return it with its labels."""
    labels = list(labels)
    for n in sorted(set(labels), key=labels.index):
        while labels.count(n) > 1:
            first = labels.index(n)
            second = labels.index(n, first + 1)
            x = F.diagonal(x, 0, first, second)
            labels = [m for i, m in enumerate(labels) if i not in (first, second)] + [n]
    return x, labels


@function(method_too=False)
def einsum(equation, *operands):
    """Return a sum of products: `"ij,jk->ik"` is the matrix product, `"ii"` the trace.

    >>> from minigrad import einsum, ones
    >>> einsum("bij,bjk->bik", ones(5, 2, 3), ones(5, 3, 4)).shape
    torch.Size([5, 2, 4])
    """
    if not isinstance(equation, str):
        equation, operands = from_sublists((equation, *operands))
    if len(operands) == 1 and not isinstance(operands[0], Tensor):
        operands = tuple(operands[0])
    labelled, output = parse(equation, operands)
    sizes = sizes_of(labelled, operands)
    tensors, reduced = [], []
    for i, x in enumerate(operands):
        x, labels = distinct(x, labelled[i])
        x = F.expand(x, full) if (full := [sizes[n] for n in labels]) != list(x.shape) else x
        needed = set(output).union(*labelled[:i], *labelled[i + 1 :])
        alone = [d for d, n in enumerate(labels) if n not in needed]
        tensors.append(F.sum(x, alone) if alone else x)
        reduced.append(tuple(n for n in labels if n in needed))
    if len(tensors) == 1:
        return F.permute(tensors[0], [reduced[0].index(n) for n in output])
    return Einsum(tensors, reduced, output)


def from_sublists(arguments):
    """Return the equation and operands of `einsum(a, [0, 1], b, [1, 2], [0, 2])`."""

    def text(labels):
        return "".join("..." if n is Ellipsis else LETTERS[n] for n in labels)

    inputs = arguments[: len(arguments) // 2 * 2]
    equation = ",".join(text(labels) for labels in inputs[1::2])
    if len(arguments) % 2:
        equation += "->" + text(arguments[-1])
    return equation, inputs[::2]
