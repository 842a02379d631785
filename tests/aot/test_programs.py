"""Programs written for PyTorch that call `torch.compile`, unchanged, with and without it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

LANGUAGE_MODEL = '''
import torch, torch.nn as nn
from torch.nn import functional as F

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width), nn.Dropout(0.1))
        self.heads = heads

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.qkv(self.norms[0](x)).split(C, dim=2)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(B, T, C))
        return x + self.mlp(self.norms[1](x))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(11, 16), nn.Embedding(8, 16)
        self.blocks = nn.Sequential(Block(16, 2), Block(16, 2))
        self.head = nn.Linear(16, 11, bias=False)
        self.tokens.weight = self.head.weight

    def forward(self, idx, targets=None):
        pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
        logits = self.head(self.blocks(self.tokens(idx) + self.places(pos)))
        loss = None if targets is None else F.cross_entropy(
            logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss

torch.manual_seed(0)
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95))
unoptimized_model = model
model = COMPILE(model)
data = torch.randint(0, 11, (200,))
for step in range(6):
    ix = torch.randint(len(data) - 8, (4,))
    x = torch.stack([data[i:i + 8] for i in ix])
    y = torch.stack([data[i + 1:i + 9] for i in ix])
    if step == 3:
        model.eval()
        with torch.no_grad():
            print("val", round(model(x, y)[1].item(), 4))
        model.train()
    logits, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(step, round(loss.item(), 4))
state = {k.removeprefix("_orig_mod."): v for k, v in model.state_dict().items()}
fresh = Model()
fresh.load_state_dict(state)
fresh.eval(), model.eval()
print(torch.equal(fresh(x)[0], model(x)[0]))
'''

REGRESSION = '''
import torch

torch.manual_seed(1)
W = torch.randn(5, 3)
b = torch.zeros(3, requires_grad=True)
w = torch.zeros(5, 3, requires_grad=True)

@(COMPILE)
def loss_fn(x, y, l2=0.01):
    prediction = x @ w + b
    return ((prediction - y) ** 2).mean() + l2 * (w ** 2).sum()

optimizer = torch.optim.SGD([w, b], lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10, 0.5)
for step in range(30):
    x = torch.randn(32 if step < 20 else 16, 5)
    loss = loss_fn(x, x @ W, l2=0.01 if step % 2 else 0.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
print(round(loss.item(), 5), [round(v, 4) for v in w[0].tolist()])
'''

IMAGES = '''
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True),
            nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8),
            nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1))
        self.classifier = nn.Linear(8, 3)

    def forward(self, x):
        return self.classifier(torch.flatten(self.features(x), 1))

torch.manual_seed(2)
net = Net()
net = COMPILE(net)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(4):
    net.train()
    images, labels = torch.randn(6, 1, 8, 8), torch.randint(0, 3, (6,))
    optimizer.zero_grad()
    loss = criterion(net(images), labels)
    loss.backward()
    optimizer.step()
    net.eval()
    with torch.inference_mode():
        right = (net(images).argmax(1) == labels).float().mean()
    print(epoch, round(loss.item(), 4), round(right.item(), 3))
print([round(v, 4) for v in net.state_dict()[KEY].tolist()])
'''


def output(text: str, folder: Path) -> str:
    """Run a program on minigrad in a separate process, and return its output."""
    file = folder / "program.py"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([sys.executable, "-W", "error", "-m", "minigrad", str(file)], cwd=ROOT,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("program", "key"), [
    (LANGUAGE_MODEL, ""), (REGRESSION, ""), (IMAGES, "features.1.running_mean"),
], ids=["language model", "regression", "images"])
def test_programs_print_the_same_with_and_without_compile(program, key, tmp_path):
    plain = output(program.replace("COMPILE", "lambda f: f" if "@(COMPILE)" in program
                                   else "(lambda m: m)").replace("KEY", repr(key)), tmp_path)
    compiled = output(program.replace("COMPILE", "torch.compile").replace(
        "KEY", repr(f"_orig_mod.{key}")), tmp_path)
    assert plain == compiled
