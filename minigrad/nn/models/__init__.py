"""Complete networks."""

from .gpt import GPT, GPTConfig
from .resnet import BasicBlock, Bottleneck, ResNet, resnet18, resnet34, resnet50, resnet101
from .small_resnet import SmallResNet

__all__ = [
           "GPT",
           "BasicBlock",
           "Bottleneck",
           "GPTConfig",
           "ResNet",
           "SmallResNet",
           "resnet18",
           "resnet34",
           "resnet50",
           "resnet101",
]
