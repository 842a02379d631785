"""Whole networks."""

from .resnet import SmallResNet

__all__ = ["SmallResNet"]
