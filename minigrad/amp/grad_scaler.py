"""`GradScaler` scales the loss up, so that gradients in half precision do not underflow.

The gradients are scaled down again before the optimizer sees them.  If one of them is infinite or
NaN, the step is skipped and the scale is halved; after a number of good steps the scale doubles.

Source: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..backend import backend_of
from ..cuda import is_available
from ..dtypes import float16, float32, int32
from ..frames import warn_user
from ..ops.creation.create import full
from ..tensor.tensor import Tensor

__all__ = ["GradScaler"]

READY, UNSCALED, STEPPED = range(3)


class GradScaler:
    """Scales losses and unscales gradients; see the module's docstring.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> scaler, optimizer = GradScaler("cpu", init_scale=4.0), optim.SGD([x], lr=0.5)
    >>> scaler.scale((x * 2).sum()).backward(); x.grad
    tensor([8.])
    >>> scaler.unscale_(optimizer); x.grad  # now it could be clipped
    tensor([2.])
    >>> scaler.step(optimizer); scaler.update(); x
    tensor([0.], requires_grad=True)
    >>> scaler.scale(x.sum() * float("inf")).backward(); x.grad
    tensor([inf])
    >>> scaler.step(optimizer); scaler.update(); x  # no step, and a smaller scale from now on
    tensor([0.], requires_grad=True)
    >>> scaler.get_scale()
    2.0
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16,
                 growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        if enabled and device == "cuda" and not is_available():
            warn_user("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  "
                      "Disabling.", UserWarning)
            enabled = False
        self._enabled = enabled
        self._device = device
        if enabled and not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = float(init_scale), 0
        #: on the device of the first scaled tensor; None before that
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._stages: dict[int, int] = {}  # the stage of each optimizer
        #: found_inf by optimizer and device: 1 if a gradient was infinite or NaN, else 0
        self._found: dict[int, list[Tensor]] = {}

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or each of several nested tensors, by the scale.

        >>> from minigrad import amp, tensor
        >>> amp.GradScaler("cpu", init_scale=8.0).scale(tensor(2.0))
        tensor(16.)
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = full((), self._init_scale, dtype=float32, device=outputs.device)
                self._growth_tracker = full((), self._init_growth_tracker, dtype=int32,
                                            device=outputs.device)
            return outputs * self._scale.to(outputs.device)
        if isinstance(outputs, (list, tuple)):
            scaled = [self.scale(output) for output in outputs]
            return type(outputs)(*scaled) if hasattr(outputs, "_fields") else type(outputs)(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide an optimizer's gradients by the scale, for instance to clip them next."""
        if not self._enabled:
            return
        scale, _ = self._state("unscale_")
        stage = self._stages.get(id(optimizer), READY)
        if stage == UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the "
                               "last update().")
        if stage == STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        devices: dict[Any, list[Tensor]] = {}
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                devices.setdefault(grad.device, []).append(grad)
        self._found[id(optimizer)] = [self._unscale_there(grads, scale.to(device))
                                      for device, grads in devices.items()]
        self._stages[id(optimizer)] = UNSCALED

    def _unscale_there(self, grads: list[Tensor], scale: Tensor) -> Tensor:
        """Divide gradients of one device; return a tensor there that is 1 if any is inf or NaN."""
        found_inf = full((), 0.0, dtype=float32, device=scale.device)
        xp = backend_of(scale._array)
        for grad in grads:
            grad._bump()
        with entered(xp, scale._array):
            xp.unscale([grad._array for grad in grads], scale._array, found_inf._array)
        return found_inf

    def _state(self, name: str) -> tuple[Tensor, Tensor]:
        """Return the scale, and the number of good steps since it last grew."""
        if self._scale is None or self._growth_tracker is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration.")
        return self._scale, self._growth_tracker

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Take the optimizer's step unless a gradient is infinite or NaN; return its result.

        If steps are counted on the device (`fused=True` or `capturable=True`), the step itself
        checks the gradients, and the host does not wait.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        scale, _ = self._state("step")
        stage = self._stages.get(id(optimizer), READY)
        if stage == STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == READY:
            self.unscale_(optimizer)
        found_infs = self._found[id(optimizer)]
        if not found_infs:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None
        if looks_itself(optimizer):
            optimizer.grad_scale, optimizer.found_inf = None, together(found_infs, scale)
            try:
                result = optimizer.step(*args, **kwargs)
            finally:
                del optimizer.grad_scale, optimizer.found_inf
        elif not any(one.item() for one in found_infs):
            result = optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Increase or decrease the scale after the steps of an iteration, or set it.

        This happens on the scale's device, so the host does not wait.
        """
        if not self._enabled:
            return
        scale, tracker = self._state("update")
        if isinstance(new_scale, Tensor):
            if (new_scale.device.type != self._device or new_scale.numel() != 1
                    or new_scale.requires_grad):
                raise AssertionError("new_scale should be a float or a 1-element "
                                     "torch.cuda.FloatTensor or torch.FloatTensor with "
                                     "requires_grad=False.")
            scale.copy_(new_scale)
        elif new_scale is not None:
            scale.fill_(new_scale)
        else:
            found_infs = [one for ones in self._found.values() for one in ones]
            if not found_infs:
                raise AssertionError("No inf checks were recorded prior to update.")
            xp = backend_of(scale._array)
            scale._bump()
            with entered(xp, scale._array):
                xp.update_scale(scale._array, tracker._array, together(found_infs, scale)._array,
                                self._growth_factor, self._backoff_factor, self._growth_interval)
        self._stages.clear()
        self._found.clear()

    def get_scale(self) -> float:
        """Return the scale, for which the host waits; it is 1 if the scaler is off.

        >>> from minigrad import amp
        >>> amp.GradScaler("cpu", init_scale=8.0).get_scale()
        8.0
        """
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def _good_steps(self) -> int:
        """Return the number of good steps since the scale last grew; the host waits for it."""
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else int(tracker.item())

    def get_growth_factor(self) -> float:
        """Return the growth factor.

        >>> from minigrad import amp
        >>> amp.GradScaler("cpu").get_growth_factor()
        2.0
        """
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the growth factor.

        >>> from minigrad import amp
        >>> scaler = amp.GradScaler("cpu")
        >>> scaler.set_growth_factor(4.0); scaler.get_growth_factor()
        4.0
        """
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the backoff factor.

        >>> from minigrad import amp
        >>> amp.GradScaler("cpu").get_backoff_factor()
        0.5
        """
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the backoff factor.

        >>> from minigrad import amp
        >>> scaler = amp.GradScaler("cpu")
        >>> scaler.set_backoff_factor(0.25); scaler.get_backoff_factor()
        0.25
        """
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return the number of good steps after which the scale grows.

        >>> from minigrad import amp
        >>> amp.GradScaler("cpu").get_growth_interval()
        2000
        """
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of good steps after which the scale grows.

        >>> from minigrad import amp
        >>> scaler = amp.GradScaler("cpu")
        >>> scaler.set_growth_interval(100); scaler.get_growth_interval()
        100
        """
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Return whether the scaler is on.

        >>> from minigrad import amp
        >>> amp.GradScaler(enabled=False).is_enabled()
        False
        """
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the state, including the scale; an empty dictionary if the scaler is off.

        >>> from minigrad import amp
        >>> amp.GradScaler("cpu", init_scale=8.0, growth_interval=100).state_dict()
        {'scale': 8.0, 'growth_factor': 2.0, 'backoff_factor': 0.5, 'growth_interval': 100,
        '_growth_tracker': 0}
        """
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._good_steps()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a `state_dict`.

        >>> from minigrad import amp
        >>> saved = amp.GradScaler("cpu", init_scale=8.0).state_dict()
        >>> scaler = amp.GradScaler("cpu")
        >>> scaler.load_state_dict(saved); scaler.get_scale()
        8.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved "
                               "from a disabled instance of GradScaler.")
        self._init_scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)


def looks_itself(optimizer: Any) -> bool:
    """Return whether the optimizer's step reads `found_inf`, by minigrad's or PyTorch's marker."""
    own = getattr(optimizer, "_skips_on_device", None)
    return bool(getattr(optimizer, "_step_supports_amp_scaling", False) or (own and own()))


def together(found_infs: list[Tensor], scale: Tensor) -> Tensor:
    """Return the sum of these flags on the scale's device."""
    first, *others = (one.to(scale.device) for one in found_infs)
    for other in others:
        first = first + other
    return first


def entered(xp: Any, array: Any) -> AbstractContextManager[Any]:
    """Return a context that makes an array's device the current one, if there are several."""
    return nullcontext() if xp.device_index(array) is None else xp.at(array)
