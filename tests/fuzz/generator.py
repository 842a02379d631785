"""Random programs.

The generator runs what it writes on minigrad as it goes, to know which tensors there are and of
what shapes; so it has the package's trace of a program when the program is done.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import minigrad
from minigrad.tensor.tensor import Tensor

from .calls import ONE_DTYPE, OWN_TENSORS, Call, all_calls, inplace_calls
from .circumstances import looks_behind_a_number, writes_to_overlapping_memory
from .interpret import Machine, Outcome, Trace

SHAPES = [(2, 3)] * 6 + [(3,)] * 3 + [(3, 2), (2, 2), (4,), (1, 3), (2, 1, 3), (3, 3), (2, 2, 2),
                                     (), (), (1,), (6,), (0,), (0, 3), (2, 0)]

MODES = ["with torch.no_grad(): "] * 4 + [
    "with torch.enable_grad(): ", "with torch.inference_mode(): ",
    "with torch.no_grad(), torch.enable_grad(): ", "with torch.set_grad_enabled(False): ",
    "with torch.no_grad(), torch.inference_mode(False): "]

UNARY = ["neg", "exp", "tanh", "sin", "sigmoid", "relu", "abs", "sqrt", "log", "square", "clone",
         "contiguous", "float", "double", "reciprocal", "cumsum(0)", "softmax(-1)", "sum", "mean",
         "prod", "sum(0)", "sum(-1, keepdim=True)", "amax", "max", "norm", "flip(0)", "triu", "t()",
         "std", "long", "bool", "floor", "round", "positive", "log_softmax(0)", "logsumexp(0)"]

BINARY = ["{} + {}", "{} * {}", "{} - {}", "{} / {}", "torch.maximum({}, {})", "{} ** 2 + {}",
          "torch.where({} > 1, {}, 0.5)", "torch.atan2({}, {})", "{} @ {}", "{} == {}", "{} < {}",
          "torch.add({}, {}, alpha=2)", "torch.cat([{}, {}])", "torch.stack([{}, {}])",
          "torch.matmul({}, {})", "{} % {}", "{}.type_as({})", "torch.lerp({}, {}, 0.25)",
          "F.mse_loss({}, {})", "torch.outer({}, {})", "{} // {}", "{}.expand_as({})",
          "F.linear({}, {})", "{}.view_as({})"]

VIEWS = ["{}[0]", "{}[-1]", "{}[1:]", "{}[:2]", "{}[..., 0]", "{}[..., 1:]", "{}[::2]", "{}[None]",
         "{}[...]", "{}[:, 1]", "{}[:, None]", "{}.t()", "{}.T", "{}.mT", "{}.view(-1)",
         "{}.view(3, 2)", "{}.view(6)", "{}.reshape(-1)", "{}.reshape(3, 2)", "{}.flatten()",
         "{}.transpose(0, -1)", "{}.permute(1, 0)", "{}.squeeze()", "{}.squeeze(0)",
         "{}.unsqueeze(0)", "{}.unsqueeze(-1)", "{}.narrow(0, 0, 1)", "{}.narrow(-1, 1, 2)",
         "{}.select(0, 1)", "{}.diagonal()", "{}.unfold(0, 2, 1)", "{}.expand(2, *{}.shape)",
         "{}.expand(3)", "{}.expand(2, 3)", "{}.view_as({})",
         "{}.movedim(0, -1)", "{}.swapaxes(0, -1)", "{}.ravel()",
         "{}.broadcast_to((2, 3))", "{}.detach()", "{}.data", "{}.unflatten(0, (2, -1))",
         "{}[:, :2]", "{}[1:, 1:]", "{}[0:0]"]

STRIDES = ["(2,), (2,), 1", "(3,), (0,)", "(2, 2), (2, 1)", "(2, 2), (1, 2)"]

SEVERAL = ["{}.unbind()", "{}.split(1)", "{}.chunk(2)", "{}.split([1, 1])", "{}.unbind(-1)",
           "torch.tensor_split({}, 2)", "{}.max(0)", "{}.sort()",
           "{}.tensor_split(2)",
           "torch.broadcast_tensors({}, {})", "torch.aminmax({})",
           "torch.meshgrid({}, {}, indexing='ij')", "torch.atleast_2d({}, {})",
           "{}.split(2, dim=-1)", "{}.cummax(0)"]

INDICES = ["0", "-1", "1:", "None", "...", "..., 0", "[0, 1]", "[1, 0], 0", ":, [0, 1]",
           "torch.tensor([0, 0])", "torch.tensor([True, False])", "{} > 1", "::2", "..., None", "5",
           ":, 0", "torch.tensor(1)", "[[0], [1]], [0, 1]", "(0, 1)", "True", "1:, :2"]

WRITES = ["{}.mul_({})", "{}.add_({})", "{}.sub_({}, alpha=2)", "{}.div_({})", "{}.copy_({})",
          "{}.zero_()", "{}.fill_(1.5)", "{}.exp_()", "{}.tanh_()", "{}.relu_()", "{}.sigmoid_()",
          "{}.clamp_(min=0.7)", "{}.mul_(2)", "{}.add_(1)", "{}.pow_(2)", "{}.neg_()",
          "{}.masked_fill_({} > 1, 0.5)", "{}.sqrt_()", "{}.abs_()", "{} += {}", "{} *= 2",
          "{} *= {}", "{}.index_fill_(0, torch.tensor([0]), 2.0)", "{}.fill_({})",
          "{}.lerp_({}, 0.5)",
          "{}.addcmul_({}, {})", "{}.index_add_(0, torch.tensor([0]), {})",
          "F.relu({}, inplace=True)",
          "{}.index_copy_(0, torch.tensor([0]), {})", "{}.index_put_((torch.tensor([0]),), {})",
          "{}.scatter_(0, torch.zeros(1, 1, dtype=torch.int64), 3.0)", "{}.cumsum_(0)", "{}.sin_()",
          "{}.index_put_((torch.tensor([0, 0]),), {}, accumulate=True)",

          "{}.clamp_(max={})", "F.leaky_relu({}, 0.1, inplace=True)", "F.elu({}, inplace=True)",
          "{}.diagonal().mul_(2)", "{}.t().add_(1)", "{}[0].mul_(3)", "{}.unbind()[0].mul_(2)",
          "{}.view(-1)[1:].mul_({})", "{}.atan2_({})", "{}.triu_()",
          "{}.data.mul_(2)",
          "{}.detach().mul_(2)", "{}.floor_()", "{}.float().mul_(2)", "{}.logical_not_()",
          "{}.eq_({})"]

CHANGES = ["{}.t_()", "{}.unsqueeze_(0)", "{}.squeeze_()", "{}.transpose_(0, -1)", "{}.detach_()",
           "{}.requires_grad_()", "{}.requires_grad_(False)", "{}.requires_grad = True",
           "{}.requires_grad = False", "{}.retain_grad()",
           "{}.grad = None", "{}.grad = {}.detach().clone()", "{}.grad.zero_()", "{}.grad = {}",
           "{}.swapaxes_(0, 1)", "{}.as_strided_((2,), (1,))",
           "{}.data.zero_()", "{}.grad.mul_(2)"]

CREATED = ["torch.zeros_like({})", "torch.ones_like({}, requires_grad=True)", "{}.new_zeros(2, 3)",
           "torch.full_like({}, 2.0)", "torch.arange(6.0).view(2, 3)",
           "torch.empty_like({}).fill_(1)",
           "torch.eye(2)", "{}.new_tensor([1.5, 2.5])", "torch.as_tensor({})",
           "torch.nn.Parameter({}.detach())", "{}.clone().detach().requires_grad_()",
           "torch.rand(2, 3)", "torch.randn_like({})", "F.dropout({})",
           "torch.bernoulli({}.sigmoid())",
           "{}.new_ones(3, requires_grad=True)",
           "torch.tensor([0.5, 1.5, 2.5], requires_grad=True)"]

HOOKS = ["lambda g: g * 2", "lambda g: seen(g)", "lambda g: None", "lambda g: g.detach() + 1",
         "lambda g: torch.ones_like(g)", "lambda g: g.clone()", "lambda g: g",
         "lambda g: g.double()",
         "lambda g: g * {}", "raising", "lambda g: 3", "lambda g: g.sum()",
         "lambda g: g.expand_as(g)",
         "lambda g: seen(g, torch.is_grad_enabled())"]

NODE_HOOKS = ["register_hook(lambda gi, go: seen(gi, go))", "register_prehook(lambda go: seen(go))",
              "register_hook(lambda gi, go: tuple(None if g is None else g * 2 for g in gi))",
              "register_prehook(lambda go: tuple(None if g is None else g * 3 for g in go))",
              "register_hook(raising)"]

CUSTOM = ["Scale.apply({}, 0.5)", "Same.apply({})", "Flat.apply({})", "Double_.apply({})",
          "AddTo_.apply({}, {})", "Parts.apply({})", "Sparing.apply({})", "Once.apply({})",
          "Faulty.apply({})", "Nothing.apply({})", "Cube.apply({})", "Halves.apply({})",
          "Picky.apply({}, {})", "Into_.apply({}, {})", "Double_.apply({}[0])",
          "Double_.apply({}.view(-1))"]

#: Operations that are made of others than in PyTorch, or whose result is unique only up to signs:
#: only values and gradients are looked at, so the nodes in between do not matter.
COMPOSED = [
    "torch.einsum('...i,...i->...', {}, {})", "torch.einsum('i...->...i', {})",
    "torch.einsum('ij,kj->ik', {}, {})", "F.l1_loss({}, {})", "F.max_pool1d({}, 2)",
    "F.avg_pool1d({}, 2)", "F.adaptive_avg_pool1d({}, 2)", "F.adaptive_max_pool1d({}, 2)",
    "torch.linalg.svdvals({})", "torch.linalg.eigvalsh({} + {}.mT)", "torch.linalg.qr({})[1].abs()",
    "torch.linalg.pinv({})", "F.interpolate({}[None], scale_factor=2)",
    "F.interpolate({}[None], size=5, mode='linear')",
    "F.interpolate({}[None, None], scale_factor=2, mode='bilinear', align_corners=True)",
    "F.scaled_dot_product_attention({}, {}, {})",
    "F.scaled_dot_product_attention({}, {}, {}, is_causal=True)",
    "F.bilinear({}, {}, torch.ones(2, 3, 3, dtype=torch.float64))",
    "F.max_unpool1d(*F.max_pool1d({}[None], 2, return_indices=True), 2)",
    "F.unfold({}[None, None], 2)", "torch.diag({})", "F.embedding(torch.tensor([1, 0, 1]), {})",
    "F.linear({}, {}, None)", "F.cosine_similarity({}, {}, 0)", "torch.cdist({}, {})",
    "F.layer_norm({}, {}.shape[-1:])", "F.kl_div({}, {}, reduction='sum')", "F.softmax({}, -1)",
    "torch.matrix_power({}, 3)", "torch.stack(torch.unsafe_chunk({}, 2))",
    "torch.cat(torch.unsafe_split({}, 1))", "torch.tensordot({}, {}, dims=1)",
    "torch.kron({}, {})", "torch.trapezoid({})", "F.nll_loss(F.log_softmax({}, -1), "
    "torch.tensor([0, 1]), reduction='none')", "F.cross_entropy({}, torch.tensor([1, 0]))",
    "F.normalize({}, dim=-1)", "F.pad({}, (1, 2), mode='reflect')", "F.pad({}[None], (1, 1), "
    "mode='replicate')", "F.glu({}, 0)", "torch.addmv({}, {}, {})", "torch.baddbmm({}, {}, {})",
    "torch.rnn_tanh_cell({}, {}, torch.ones(3, 3, dtype=torch.float64), "
    "torch.ones(3, 3, dtype=torch.float64))",
    "torch.gru_cell({}, {}, torch.full((9, 3), 0.1, dtype=torch.float64), "
    "torch.full((9, 3), 0.2, dtype=torch.float64))",
    "torch.lstm_cell({}, ({}, {}), torch.full((12, 3), 0.1, dtype=torch.float64), "
    "torch.full((12, 3), 0.2, dtype=torch.float64))[1]"]

#: The same without gradients: what has none, or differs only in where it stands in the graph.
VALUES = ["F.one_hot({}.long().abs(), 9)", "torch.isclose({}, {})", "torch.allclose({}, {})",
          "torch.searchsorted({}.flatten().sort()[0], 0.5)", "torch.bincount({}.long().abs())",
          "torch.var_mean({})", "torch.std_mean({}, 0)", "{}.tolist()", "{}.half().float()",
          "{}.half().double()",
          "{}.int() * 2", "{}.short() + {}", "{}.byte() // 2", "torch.result_type({}, {})",
          "torch.histc({}, 4, 0.0, 2.0)" if hasattr(minigrad, "histc") else "{}.numel()",
          "torch.can_cast({}.dtype, {}.dtype)", "{}.half() * {}", "{}.int() + {}"]

#: Indices stay as they are: with others PyTorch reads and writes beyond its memory.
CONTEXTS = ["with torch.autograd.graph.saved_tensors_hooks(lambda x: x * 2 if "
            "x.is_floating_point() else x, lambda x: x): ",
            "with torch.autograd.graph.save_on_cpu(): ",
            "with torch.autograd.detect_anomaly(): "]


class Generator:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.machine = Machine(minigrad)
        self.lines: list[str] = []
        self.atoms: list[str] = []  # expressions for the tensors that there are
        self.handles: list[str] = []
        self.count = 0
        self.looked = False  # whether a hook may look at something
        self.mode, self.mode_left = "", 0
        self.steps: list[tuple[int, Callable[[], None]]] = [
            (10, self.unary), (12, self.binary), (16, self.view), (6, self.several),
            (6, self.read), (22, self.write), (8, self.assign), (14, self.registry),
            (6, self.registry_inplace), (6, self.change), (3, self.create), (6, self.hook),
            (2, self.node_hook), (6, self.custom), (8, self.backward), (5, self.grad),
            (4, self.look), (2, self.leaf), (1, self.threads), (1, self.forget),
            (3, self.composed), (1, self.values), (2, self.twice), (2, self.at_once)]

    def program(self) -> tuple[list[str], Trace]:
        """Return a program and what minigrad did with it."""
        for _ in range(self.random.choice((1, 2, 2, 3))):
            self.leaf()
        weights = [weight for weight, _ in self.steps]
        for _ in range(self.random.randrange(2, 16)):
            if self.mode_left:
                self.mode_left -= 1
            else:
                self.mode = ""
                if self.random.random() < 0.05:
                    self.mode = self.random.choice(MODES)
                    self.mode_left = self.random.choice((0, 0, 1, 2, 3))
                elif self.random.random() < 0.01:
                    self.mode = self.random.choice(CONTEXTS)
            self.random.choices([step for _, step in self.steps], weights)[0]()
        self.mode = ""
        if self.random.random() < 0.8:
            self.backward()
        return self.lines, self.machine.finish()

    # --- what there is ---------------------------------------------------------------------

    def value(self, expression: str) -> Any:
        """Return what an expression is in minigrad now."""
        return eval(expression, self.machine.names)

    def pick(self, wanted: Callable[[Tensor], bool] | None = None) -> str:
        """Return an expression for a tensor, if possible of the wanted kind; later ones rather."""
        found = self.atoms[0]
        for _ in range(6):
            place = int(len(self.atoms) * self.random.random() ** 0.6)
            atom = self.atoms[min(place, len(self.atoms) - 1)]
            tensor = self.value(atom)
            if isinstance(tensor, Tensor):  # a `.grad` may be gone by now
                if wanted is None or wanted(tensor):
                    return atom
                found = atom
        return found

    def fill(self, template: str) -> str:
        """Put tensors in the place of the braces: the first of any shape, the others fitting it.

        Wherever a template says `{}` twice for the same tensor's sake, chance decides.
        """
        first = self.pick()
        shape = tuple(self.value(first).shape)
        parts = template.split("{}")
        text = parts[0]
        for index, part in enumerate(parts[1:]):
            if index == 0:
                atom = first
            elif self.random.random() < 0.1:
                atom = self.pick()
            else:
                atom = self.pick(lambda t: fits(tuple(t.shape), shape))
            text += atom + part
        return text

    def emit(self, line: str, written: str | None = None) -> Any:
        """Run a line and keep it, unless what it does is undefined; return its outcome.

        What writes to integers that are `written` is not recorded: PyTorch marks them if it is.
        """
        mode = self.mode
        if written is not None and not getattr(attempt(lambda: self.value(written)), "dtype",
                                               minigrad.float64).is_floating_point:
            mode = "with torch.no_grad(): "
        if "inference" in mode and any(
                part in line for part in ("requires_grad=True", ".data =", "detach_()", "backward(",
                                          "autograd.grad(")):
            mode = ""  # what then comes of it PyTorch refuses here and there, in its own functions
        names = self.machine.names
        if writes_to_overlapping_memory(line, names) or looks_behind_a_number(line, names):
            return Outcome("undefined")
        self.lines.append(mode + line)
        return self.machine.step(mode + line)

    def new(self, expression: str, letter: str = "t", written: str | None = None) -> None:
        """Give the value of an expression a name, and note the tensors in it."""
        name = f"{letter}{self.count}"
        self.count += 1
        if self.emit(f"{name} = {expression}", written).error is None:
            value = self.machine.names[name]
            if isinstance(value, Tensor):
                self.atoms.append(name)
            elif isinstance(value, (tuple, list)):
                self.atoms += [f"{name}[{i}]" for i, v in enumerate(value)
                               if isinstance(v, Tensor)][:3]

    def number(self) -> str:
        return str(self.random.choice((2, 3, 0.5, 1.5, -1, 0, True, 2.0)))

    # --- steps -----------------------------------------------------------------------------

    def leaf(self) -> None:
        """Make a tensor."""
        shape = self.random.choice(SHAPES)
        kind = self.random.choices(("float64", "float32", "int64", "bool"), (60, 30, 6, 4))[0]
        size = 1
        for n in shape:
            size *= n
        if kind == "bool":
            values: list[Any] = [self.random.random() < 0.5 for _ in range(size)]
        elif kind == "int64":
            values = [self.random.randrange(-2, 4) for _ in range(size)]
        else:
            low = self.random.choice((0.3, 0.3, 0.3, -2.0))
            values = [round(self.random.uniform(low, 2.0), 2) for _ in range(size)]
        live = kind.startswith("float") and self.random.random() < 0.75
        self.new(literal(values, shape, kind, live))

    def unary(self) -> None:
        name = self.random.choice(UNARY)
        self.new(f"{self.pick()}.{name}{'' if name.endswith(')') else '()'}")

    def binary(self) -> None:
        template = self.random.choice(BINARY)
        if self.random.random() < 0.25 and re.fullmatch(r"{} \S+ {}", template):
            self.new(template.replace("{}", self.pick(), 1).replace("{}", self.number(), 1))
        else:
            self.new(self.fill(template))

    def view(self) -> None:
        if self.random.random() < 0.04:  # within the memory that the tensor itself has
            atom = self.pick(lambda t: t.numel() >= 4)
            if self.value(atom).numel() >= 4:
                self.new(f"{atom}.as_strided({self.random.choice(STRIDES)})")
        else:
            self.new(self.fill(self.random.choice(VIEWS)))

    def several(self) -> None:
        self.new(self.fill(self.random.choice(SEVERAL)), "p")

    def read(self) -> None:
        self.new(self.indexed())

    def write(self) -> None:
        line = template = self.random.choice(WRITES)
        for _ in range(8):
            line = self.fill(template)
            if "torch.tensor([0" not in line or self.value(line.partition(".")[0]).numel():
                break
        if self.random.random() < 0.15 and template[3:] in ("mul_({})", "add_({})", "div_({})"):
            line = template.replace("{}", self.pick(), 1).replace("{}", self.number())
        written = re.match(r"\w+(\[\d\])?", line)
        if "=" not in line.split("(")[0] and self.random.random() < 0.3:
            self.new(line, written=written and written[0])
        else:
            self.emit(line, written and written[0])

    def assign(self) -> None:
        line = self.indexed()
        operator = self.random.choice((" = ", " = ", " = ", " *= ", " += "))
        if self.random.random() < 0.4:
            right = self.number()
        elif self.random.random() < 0.5:
            right = line.split("[")[0] if self.random.random() < 0.2 else self.pick()
        else:
            shape = attempt(lambda: tuple(self.value(line).shape))
            right = self.pick(lambda t: shape is not None and fits(tuple(t.shape), shape))
        written = re.match(r"p\d+\[\d\]|\w+", line)  # of a tuple, one of its tensors
        self.emit(line + operator + right, written and written[0])

    def indexed(self) -> str:
        """Return an expression for elements of a tensor, which mostly exist."""
        for _ in range(8):
            expression = self.fill("{}[" + self.random.choice(INDICES) + "]")
            if attempt(lambda e=expression: self.value(e)) is not None:
                break
        return expression

    def registry(self) -> None:
        """Call an op with the arguments of one of its samples."""
        call = self.random.choice(all_calls())
        self.new(call.write(self.argument(call)))

    def registry_inplace(self) -> None:
        call = self.random.choice(inplace_calls())
        line = call.write(self.argument(call), inplace=True)
        written = re.match(r"\w+(\[\d\])?", line)
        if self.random.random() < 0.3:
            self.new(line, written=written and written[0])
        else:
            self.emit(line, written and written[0])

    def argument(self, call: Call) -> Callable[[Tensor], str]:
        """Return the function that says what stands for each tensor of a sample."""
        known: dict[int, str] = {}
        kind = call.op.__name__

        def name_of(tensor: Tensor) -> str:
            if id(tensor) not in known:
                own = kind in OWN_TENSORS and bool(known)
                known[id(tensor)] = self.stand_in(tensor, own, kind in ONE_DTYPE)
            return known[id(tensor)]

        return name_of

    def stand_in(self, tensor: Tensor, own: bool, one_dtype: bool) -> str:
        """Return an expression to put in the place of a sample's tensor.

        A new tensor if it has to have its `own` memory; one of the sample's dtype if `one_dtype`.
        """
        shape = tuple(tensor.shape)
        if tensor.dtype.is_floating_point and not own:
            chance, size = self.random.random(), tensor.numel()
            for _ in range(4):
                atom = self.pick()
                there = self.value(atom)
                if one_dtype and there.dtype != tensor.dtype:
                    continue
                if tuple(there.shape) == shape and chance < 0.9:
                    return atom
                if chance < 0.06:
                    return atom
                if chance < 0.6 and there.numel() >= size > 0 and there.is_floating_point():
                    how = "reshape(-1)" if self.random.random() < 0.5 else "flatten()"
                    part = "" if there.numel() == size else f"[:{size}]"
                    end = "" if len(shape) == 1 else f".{self.random.choice(('view', 'reshape'))}" \
                        f"({', '.join(map(str, shape)) or '()'})"
                    return f"{atom}.{how}{part}{end}"
        kind = str(tensor.dtype).removeprefix("torch.")
        values = [round(v, 3) if isinstance(v, float) else v
                  for v in tensor.detach().reshape(-1).tolist()]
        if kind == "float64" and not one_dtype and self.random.random() < 0.3:
            kind = "float32"
        name = f"t{self.count}"
        self.count += 1
        live = tensor.requires_grad and self.random.random() < 0.8
        if self.emit(f"{name} = {literal(values, shape, kind, live)}").error is None:
            self.atoms.append(name)
        return name

    def change(self) -> None:
        if self.random.random() < 0.08:
            atom = self.pick()
            self.emit(f"{atom}.data = {atom} * 2")
        else:
            self.emit(self.fill(self.random.choice(CHANGES)))

    def create(self) -> None:
        self.new(self.fill(self.random.choice(CREATED)))

    def hook(self) -> None:
        hook = self.fill(self.random.choice(HOOKS))
        tensor = self.pick(lambda t: t.requires_grad)
        kind = "register_hook"
        if self.random.random() < 0.12:
            kind, hook = "register_post_accumulate_grad_hook", self.random.choice((
                "lambda t: seen(t.grad)", "lambda t: t.grad.mul_(2)", "raising",
                "lambda t: setattr(t, 'grad', None)"))
        if self.handles and self.random.random() < 0.15:
            self.emit(f"{self.random.choice(self.handles)}.remove()")
            return
        name = f"h{self.count}"
        self.count += 1
        self.looked = True
        if self.emit(f"{name} = {tensor}.{kind}({hook})").error is None:
            self.handles.append(name)

    def node_hook(self) -> None:
        tensor = self.pick(lambda t: t.requires_grad and t._node is not None)
        self.looked = True
        self.emit(f"{tensor}.grad_fn.{self.random.choice(NODE_HOOKS)}")

    def custom(self) -> None:
        template = self.random.choice(CUSTOM)
        several = template.startswith(("Add", "Par", "Spa", "Hal"))
        self.new(self.fill(template), "p" if several else "t")

    def backward(self) -> None:
        """Run backward through a result."""
        live = self.pick(lambda t: t.requires_grad)
        options = []
        if self.random.random() < 0.35:
            options.append("retain_graph=True")
        if self.random.random() < 0.12:
            options.append("create_graph=True")
        if self.random.random() < 0.08:
            inputs = [self.pick(lambda t: t.requires_grad) for _ in range(2)]
            options.append(f"inputs=[{', '.join(inputs)}]")
        chance = self.random.random()
        if chance < 0.7:
            root = self.random.choice(("{}.sum()", "{}.sum()", "({} * {}).sum()", "{}.mean()"))
            self.emit(f"{root.replace('{}', live)}.backward({', '.join(options)})")
        elif chance < 0.85:
            given = self.random.choice(("torch.ones_like({})", "torch.full_like({}, 2)", "{}",
                                        "{}.detach()", "torch.ones(())"))
            self.emit(f"{live}.backward({', '.join([given.replace('{}', live), *options])})")
        elif chance < 0.92:
            self.emit(f"{live}.backward({', '.join(options)})")
        else:
            other = self.pick(lambda t: t.requires_grad)
            self.emit(f"torch.autograd.backward([{live}.sum(), {other}.sum()]"
                      f"{''.join(', ' + o for o in options)})")
        for atom in list(self.atoms):
            if "." not in atom and atom + ".grad" not in self.atoms and self.random.random() < 0.2:
                tensor = self.value(atom)
                if isinstance(getattr(tensor, "_grad", None), Tensor):
                    self.atoms.append(atom + ".grad")

    def grad(self) -> None:
        """Ask for gradients, which further steps may use."""
        live = self.pick(lambda t: t.requires_grad)
        inputs = [self.pick(lambda t: t.requires_grad) for _ in range(self.random.choice((1, 2)))]
        options = "".join(f", {name}=True" for name, chance in (
            ("create_graph", 0.5), ("allow_unused", 0.8), ("retain_graph", 0.2),
            ("materialize_grads", 0.1)) if self.random.random() < chance)
        root = self.random.choice(("{}.sum()", "({} * {}).sum()", "{}"))
        self.new(f"torch.autograd.grad({root.replace('{}', live)}, [{', '.join(inputs)}]{options})",
                 "g")

    def look(self) -> None:
        self.emit(f"seen({self.pick()})")

    def threads(self) -> None:
        """Run something in another thread, which starts with grad mode on."""
        what = self.random.choice(("{}.sum().backward()", "{}.mul_(2)", "{} * {}", "{}[0]"))
        self.new(f"in_thread(lambda: {self.fill(what)})")

    def composed(self) -> None:
        """Differentiate something of which only the gradient is looked at."""
        for _ in range(4):  # most want shapes that few tensors have
            expression = self.fill(self.random.choice(COMPOSED))
            dtypes = {self.value(a).dtype for a in self.atoms if a in expression
                      and isinstance(attempt(lambda a=a: self.value(a)), Tensor)}
            if len(dtypes) == 1 and dtypes.pop().is_floating_point and attempt(
                    lambda e=expression: self.value(e)) is not None:
                break
        else:
            return
        live = [a for a in self.atoms if a in expression
                and isinstance(tensor := attempt(lambda a=a: self.value(a)), Tensor)
                and tensor.requires_grad]
        if not live or self.random.random() < 0.2:
            self.emit(f"seen(({expression}).detach())")
            return
        self.new(f"torch.autograd.grad(({expression}).sum(), [{self.random.choice(live)}], "
                 "allow_unused=True)", "g")

    def values(self) -> None:
        """Look at the value of something that has no gradient."""
        before, self.mode = self.mode, "with torch.no_grad(): "
        for _ in range(4):
            expression = self.fill(self.random.choice(VALUES))
            if attempt(lambda e=expression: self.value(e)) is not None:
                break
        self.emit(f"seen({expression})")
        self.mode = before

    def twice(self) -> None:
        """Differentiate a gradient."""
        live = self.pick(lambda t: t.requires_grad)
        leaf = self.pick(lambda t: t.requires_grad)
        name = f"g{self.count}"
        self.new(f"torch.autograd.grad(({live} * {live}).sum(), [{leaf}], create_graph=True, "
                 "allow_unused=True)", "g")
        if attempt(lambda: self.value(f"{name}[0]").requires_grad):
            power = self.random.choice((f"({name}[0] ** 2).sum()", f"{name}[0].exp().mean()"))
            if self.random.random() < 0.5:
                self.emit(f"{power}.backward()")
            else:
                self.new(f"torch.autograd.grad({power}, [{leaf}], allow_unused=True)", "g")

    def at_once(self) -> None:
        """Run backward passes in several threads, on graphs that they may share.

        What the hooks of several threads see comes in any order, so there may be none; nor may
        one pass write to what another reads, which `.grad` with a history would be.
        """
        if self.looked or any(".grad" in line or "create_graph" in line for line in self.lines):
            return
        passes = []
        for _ in range(self.random.choice((2, 2, 3))):
            root = self.random.choice(("{}.sum()", "({} * {}).sum()", "{}.exp().mean()"))
            atom = self.pick(lambda t: t.requires_grad)
            passes.append(f"lambda: {root.replace('{}', atom)}.backward(retain_graph=True)")
        self.emit(f"together({', '.join(passes)})")

    def forget(self) -> None:
        """Drop a name, so that nothing but the graph holds its tensor."""
        names = [a for a in self.atoms if a.isalnum()]
        if len(names) > 2:
            name = self.random.choice(names)
            self.emit(f"del {name}")
            if name not in self.machine.names:
                self.atoms = [a for a in self.atoms if a != name and not a.startswith(name + ".")]


def fits(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Tell whether a shape broadcasts to another one."""
    if len(shape) > len(other):
        return False
    return all(n in (1, m) for n, m in zip(reversed(shape), reversed(other)))


def literal(values: list[Any], shape: tuple[int, ...], kind: str, live: bool) -> str:
    """Return a tensor with these values as source."""
    options = f"dtype=torch.{kind}" + (", requires_grad=True" if live else "")
    if not values:
        return f"torch.zeros({shape}, {options})"
    return f"torch.tensor({nested(values, shape)}, {options})"


def nested(values: list[Any], shape: tuple[int, ...]) -> str:
    if not shape:
        return "float('nan')" if values[0] != values[0] else repr(values[0])
    step = len(values) // shape[0]
    return "[" + ", ".join(nested(values[i * step:(i + 1) * step], shape[1:])
                           for i in range(shape[0])) + "]"


def attempt(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception:
        return None


def generate(seed: int) -> tuple[list[str], Trace]:
    """Return the program of a seed and what minigrad did with it."""
    return Generator(seed).program()
