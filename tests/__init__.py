"""The tests stand where their subject does: `tests/engine` holds those of `minigrad/engine`.

Besides the folders that mirror the package there are

* `stages`       what the course grades learners with; `_oracle.py` is their helper
* `course`       the `minigrad` command: learning, grading, exporting
* `docs`         examples in docstrings, README, pages and source documents; the site
* `benchmarks`   the benchmarks run and report
* `conformance`  programs that run twice: with minigrad as `torch`, and with PyTorch
* `fuzz`, `mutation`, `hostile`, `browser`, `gpu`
* `support`      helpers that several files share
* `codegen`      the functions that are written out: delete it together with `minigrad/codegen`
"""
