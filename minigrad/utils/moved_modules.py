"""Modules that moved: an import by the old name gives the module under its new one.

Pickles name modules, and exported assignments name the course's, so files that were written
before a move keep working.  No module file remains at an old place: old names exist only in this
table and one import finder.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from types import CodeType, ModuleType
from typing import Any, cast

__all__ = ["MOVED", "AnotherName", "MovedModules"]

_PACKAGE = __name__.partition(".")[0]

#: Old names and new ones, within the package.
MOVED = {
    "accumulate": "graph.accumulate_grad",
    "apply": "op.apply",
    "apply_inplace": "op.inplace",
    "array_info": "tensor.attributes",
    "array_memory": "backend.memory_layout",
    "autograd.batched": "autograd.batched_grads",
    "autograd.delayed_error": "autograd.functions.once_differentiable",
    "autograd.engine": "engine.engine",
    "autograd.engine_fast": "fast.backward_loop",
    "autograd.fitting": "engine.validate",
    "autograd.forward_jacobian": "autograd.forward_mode.jacobian",
    "autograd.frames": "frames",
    "autograd.function_arguments": "autograd.functions.arguments",
    "autograd.function_batches": "autograd.functions.vmap",
    "autograd.function_context": "autograd.functions.context",
    "autograd.function_jvp": "autograd.functions.jvp",
    "autograd.function_outputs": "autograd.functions.outputs",
    "autograd.functional_checks": "autograd.functional_support.checks",
    "autograd.functional_passes": "autograd.functional_support.passes",
    "autograd.gradcheck_fast": "autograd.gradchecks.fast_mode",
    "autograd.gradcheck_parts": "autograd.gradchecks.checks",
    "autograd.gradient_views": "engine.gradient_views",
    "autograd.graph_task": "engine.graph_task",
    "autograd.jacobians": "autograd.gradchecks.numerical",
    "autograd.nested_io": "autograd.functions.nested_io",
    "autograd.nvtx": "autograd.profiling.nvtx",
    "autograd.profiler_html": "autograd.profiling.html",
    "autograd.profiler_table": "autograd.profiling.table",
    "autograd.profiler_trace": "autograd.profiling.trace",
    "autograd.pushforward": "autograd.forward_mode.pushforward",
    "autograd.recorder": "autograd.profiling.recorder",
    "autograd.recorder_device": "autograd.profiling.device",
    "autograd.replay": "fast.sorted_pass",
    "autograd.run_hooks": "engine.hooks",
    "autograd.sweep": "fast.sorted_pass",
    "autograd.tangents": "autograd.forward_mode.tangents",
    "autograd.tasks": "engine.tasks",
    "copy_slices": "graph.copy_slices",
    "detached_inference": "graph.special_versions",
    "detached_version": "graph.special_versions",
    "engine.frames": "frames",
    "gradient_hooks": "tensor.hooks",
    "history": "tensor.autograd_meta",
    "hooks": "graph.hooks",
    "nn.calling": "nn.module_call",
    "nn.functional_bag": "nn.functional_embedding_bag",
    "nn.members": "nn.module_tables",
    "nn.norm": "nn.batchnorm",
    "nn.norm_of_samples": "nn.normalization",
    "nn.shaping": "nn.shape_layers",
    "op_node": "op.node",
    "ops.activation": "ops.nn.activation",
    "ops.addmm": "ops.linalg.addmm",
    "ops.along": "ops.reduction.dims",
    "ops.attention": "ops.nn.attention",
    "ops.bilinear": "ops.linalg.bilinear",
    "ops.blocks": "ops.shape.unfold",
    "ops.compare": "ops.math.comparison",
    "ops.conv": "ops.nn.conv",
    "ops.conv_transpose": "ops.nn.conv_transpose",
    "ops.convert": "ops.shape.convert",
    "ops.covariance": "ops.reduction.covariance",
    "ops.create": "ops.creation.create",
    "ops.create_like": "ops.creation.create_like",
    "ops.distance": "ops.reduction.distance",
    "ops.division": "ops.math.division",
    "ops.dropout": "ops.nn.dropout",
    "ops.einsum": "ops.linalg.einsum",
    "ops.elementwise": "ops.math.arithmetic",
    "ops.extreme": "ops.reduction.minmax",
    "ops.factor": "ops.linalg.decompositions",
    "ops.gather": "ops.indexing.gather",
    "ops.generator": "ops.random.generator",
    "ops.group_norm": "ops.nn.group_norm",
    "ops.index": "ops.indexing.index",
    "ops.join": "ops.shape.concat",
    "ops.least_squares": "ops.linalg.least_squares",
    "ops.legacy": "ops.creation.legacy",
    "ops.linear": "ops.nn.linear",
    "ops.literals": "ops.creation.from_data",
    "ops.loss": "ops.nn.loss",
    "ops.loss_of_classes": "ops.nn.classification_loss",
    "ops.masked": "ops.indexing.masked",
    "ops.math.exp_log_trig": "ops.math.trigonometric",
    "ops.matmul": "ops.linalg.matmul",
    "ops.norm": "ops.nn.batch_norm",
    "ops.options": "ops.creation.tensor_options",
    "ops.order": "ops.reduction.sorting",
    "ops.pad": "ops.shape.pad",
    "ops.parts": "ops.shape.slicing",
    "ops.pool": "ops.nn.pool",
    "ops.powers": "ops.math.powers",
    "ops.random_counts": "ops.random.random_counts",
    "ops.recurrent": "ops.nn.rnn",
    "ops.recurrent_layers": "ops.nn.rnn_stacks",
    "ops.reduce": "ops.reduction.sum_mean",
    "ops.resample": "ops.nn.interpolate",
    "ops.rounding": "ops.math.rounding",
    "ops.rrelu": "ops.nn.rrelu",
    "ops.scan": "ops.reduction.cumulative",
    "ops.scatter": "ops.indexing.scatter",
    "ops.scatter_reduce": "ops.indexing.scatter_reduce",
    "ops.select": "ops.math.clamp_where_fill",
    "ops.special": "ops.math.exp_log",
    "ops.special_gamma": "ops.math.special_functions",
    "ops.spectral": "ops.linalg.svd_eigh",
    "ops.strided": "ops.shape.as_strided",
    "ops.triangular": "ops.linalg.triangular",
    "ops.truth": "ops.reduction.any_all",
    "ops.turn": "ops.shape.flip_roll",
    "ops.unpool": "ops.nn.unpool",
    "ops.vector_norm": "ops.reduction.vector_norm",
    "ops.view": "ops.shape.view",
    "optim.adam_kin": "optim.adam_variants",
    "optim.at_once": "optim.multi_tensor",
    "optim.pieces": "optim.cache_blocks",
    "printing": "tensor.formatting",
    "publish": "op.publish",
    "python_protocols": "tensor.protocols",
    "saved": "graph.saved_tensor",
    "specialise": "fast.unary_binary",
    "specialise_any": "fast.general",
    "specialise_devices": "fast.devices",
    "tensor_repr": "tensor.repr",
    "views": "tensor.views",
    "without_formula": "op.error_nodes",
}


#: The course stood within the package; what was exported from there calls it by that name.
_COURSE = ("course", "minigrad_course")


def new_name(name: str) -> str | None:
    """Return the full name that a module has today, if `name` is its old one.

    >>> new_name("minigrad.printing"), new_name("minigrad.course.cli"), new_name("minigrad.nn")
    ('minigrad.tensor.formatting', 'minigrad_course.cli', None)
    """
    package, _, rest = name.partition(".")
    if package != _PACKAGE:
        return None
    if rest in MOVED:
        return f"{_PACKAGE}.{MOVED[rest]}"
    first, dot, below = rest.partition(".")
    return f"{_COURSE[1]}{dot}{below}" if first == _COURSE[0] else None


class AnotherName:
    """Finds modules by another name than theirs: the import gives the module itself.

    A subclass says in `new_name` what a module's own name is.
    """

    def new_name(self, name: str) -> str | None:
        """Return the name of the module that `name` stands for; None for other names."""
        raise NotImplementedError

    def find_spec(self, name: str, path: Any = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        """Return a spec for `name` if it stands for a module that is there."""
        new = self.new_name(name)
        found = None if new is None else importlib.util.find_spec(new)
        if found is None:
            return None
        return importlib.machinery.ModuleSpec(
            name, cast(Any, self), origin=found.origin,
            is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """Let the import system make a module object; `exec_module` replaces it."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself into `sys.modules`, from where the import returns it."""
        name = module.__name__
        sys.modules[name] = importlib.import_module(self.new_name(name) or name)

    def get_code(self, name: str) -> CodeType | None:
        """Return the module's code, for `python -m` with the other name."""
        new = self.new_name(name) or name
        found = importlib.util.find_spec(new)
        return cast(Any, found.loader).get_code(new) if found else None


class MovedModules(AnotherName):
    """Finds modules by the names that they had in the first edition.

    >>> MovedModules().find_spec("minigrad.printing").name
    'minigrad.printing'
    """

    def new_name(self, name: str) -> str | None:
        """Return the full name that a module has today, if `name` is its old one."""
        return new_name(name)


#: Functions that moved alone, by the modules where they were.
MOVED_FUNCTIONS = {"_state": {"number": "graph.node.assign_sequence_nr",
                               "next_sequence": "graph.node.next_sequence"}}


def install() -> None:
    """Add the finder before all others, once: it knows old names alone; and functions that moved.

    Behind them, the submodules of a package that was imported by its old name would be found in
    its folder and made a second time.
    """
    if not any(type(finder) is MovedModules for finder in sys.meta_path):
        sys.meta_path.insert(0, MovedModules())
    for module, functions in MOVED_FUNCTIONS.items():
        old = sys.modules[f"{_PACKAGE}.{module}"]
        for name, new in functions.items():
            home, _, new_name = new.rpartition(".")
            vars(old)[name] = getattr(sys.modules[f"{_PACKAGE}.{home}"], new_name)
