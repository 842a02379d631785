"""The page of `Tensor` has all that a tensor has."""

from __future__ import annotations

import re

import api_pages

from minigrad import Tensor


def test_the_page_of_tensor_has_each_public_name_once():
    page = api_pages.api_page("tensor")
    told = re.findall(r"\{ #minigrad\.Tensor\.(\w+) ", page)
    linked = re.findall(r"^\| \[`(\w+)`\]\(\.\./ops/", page, re.MULTILINE)
    as_functions = re.findall(r"^\| `(\w+)` ", page.partition("{ #as-functions }")[2].partition(
        "## Other")[0], re.MULTILINE)
    refused = re.findall(r"`(\w+)`", page.partition("{ #left-out }")[2].partition("| --- |")[2])
    there = [name for name in dir(Tensor) if not name.startswith("_")]
    assert sorted(told + linked + as_functions + refused) == there


def test_what_autograd_adds_to_a_tensor_stands_first_with_its_arguments():
    page = api_pages.api_page("tensor")
    for name in ("backward", "register_hook", "retain_grad", "is_leaf", "detach",
                 "register_post_accumulate_grad_hook"):
        assert page.index(f"#minigrad.Tensor.{name} ") < page.index("#methods")
    assert "### `Tensor.backward(gradient=None, retain_graph=None, create_graph=False" in page
    assert "`Tensor.register_hook(hook)`" in page


def test_each_entry_of_tensor_says_something():
    entries = re.split(r"^### ", api_pages.api_page("tensor"), flags=re.MULTILINE)[1:]
    for entry in entries:
        assert len(entry.partition("\n")[2].split()) > 1, entry
