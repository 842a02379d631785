"""`GradScaler`: a loss scaled up, so that gradients in half precision do not vanish.

The gradients are scaled down again before the optimizer sees them.  Where one of them is infinite
or NaN the step is left out and the scale halved; after some steps without, it doubles.

Source: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
"""

from __future__ import annotations

import warnings
from typing import Any

from ..backend import backend_of
from ..cuda import is_available
from ..dtypes import float16
from ..tensor import Tensor

__all__ = ["GradScaler"]

READY, UNSCALED, STEPPED = range(3)


class GradScaler:
    """Scales losses and unscales gradients; see the module.

    >>> from minigrad import optim, tensor
    >>> x = tensor([1.0], requires_grad=True)
    >>> scaler, optimizer = GradScaler("cpu", init_scale=4.0), optim.SGD([x], lr=0.5)
    >>> scaler.scale((x * 2).sum()).backward(); x.grad
    tensor([8.])
    >>> scaler.step(optimizer); scaler.update(); x
    tensor([0.], requires_grad=True)
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16,
                 growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        if enabled and device == "cuda" and not is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  "
                          "Disabling.", UserWarning, stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._device = device
        if enabled and not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._scale = float(init_scale)
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._stages: dict[int, int] = {}  # of each optimizer
        self._found: dict[int, bool] = {}  # whether its gradients held an infinity or NaN

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or each of a nest of tensors, by the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, (list, tuple)):
            scaled = [self.scale(output) for output in outputs]
            return type(outputs)(*scaled) if hasattr(outputs, "_fields") else type(outputs)(scaled)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide an optimizer's gradients by the scale, say to clip them before the step."""
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), READY)
        if stage == UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the "
                               "last update().")
        if stage == STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._found[id(optimizer)] = self._unscale(optimizer, allow_fp16=False)
        self._stages[id(optimizer)] = UNSCALED

    def _unscale(self, optimizer: Any, allow_fp16: bool) -> bool:
        """Divide the gradients; tell whether one is infinite or NaN.

        The answers of all gradients of a device are put together there and read at once.
        """
        devices: dict[Any, list[Any]] = {}
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is float16 and not allow_fp16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                devices.setdefault(grad.device, []).append(grad)
        if not devices:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        found = [self._unscale_there(grads) for grads in devices.values()]
        return any(map(bool, found))

    def _unscale_there(self, grads: list[Tensor]) -> Any:
        """Divide gradients of one device; return whether one is infinite or NaN, as its array."""
        arrays, factor, bad = [grad._array for grad in grads], 1.0 / self._scale, False
        for grad in grads:
            grad._bump()
        xp = backend_of(arrays[0])
        if xp.unscale is not None:
            with xp.at(arrays[0]):
                return xp.unscale(arrays, factor)
        for array in arrays:
            bad = bad | ~xp.isfinite(array).all()
            array *= array.dtype.type(factor)
        return bad

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Take the optimizer's step, unless a gradient is infinite or NaN; return its result."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        stage = self._stages.get(id(optimizer), READY)
        if stage == STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == READY:
            self.unscale_(optimizer)
        result = None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Let the scale grow or shrink after the steps of an iteration, or set it."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._found:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale *= self._growth_factor
                self._growth_tracker = 0
        self._stages.clear()
        self._found.clear()

    def get_scale(self) -> float:
        """Return the scale; 1 where the scaler is off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return what the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return what the scale shrinks by."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale shrinks by."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return after how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Tell whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the scale and the rest; nothing where the scaler is off."""
        if not self._enabled:
            return {}
        return {"scale": self._scale, "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict`."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved "
                               "from a disabled instance of GradScaler.")
        self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
