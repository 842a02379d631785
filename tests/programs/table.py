"""Programs of other people that are run beside PyTorch: repository, commit, folder, script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Repository(NamedTuple):
    """A public repository on a code host, at one commit."""

    name: str
    commit: str


@dataclass(frozen=True)
class Program:
    """A script, as it stands; `edits` make its loops shorter: patterns and what takes their place.

    `path` is put on Python's path, relative to `folder`.
    """

    name: str
    repository: Repository
    folder: str
    script: str
    arguments: tuple[str, ...] = ()
    edits: tuple[tuple[str, str], ...] = ()
    path: str = "."


TEXTS = Repository("graykode/nlp-tutorial", "d05e31ec81d56d70c1db89b99ab07e948f7ebc11")
BASICS = Repository("MorvanZhou/PyTorch-Tutorial", "dbe154a9e56635e51c6b0c2ccea8ae36cfb585a7")
FLOWS = Repository("tonyduan/normalizing-flows", "3ee9127e3753be3878a0a4fd3ea435ff2d31d143")
ODES = Repository("rtqichen/torchdiffeq", "657943acefa826ef04c025ebeb1ff5e9d60dc268")
LETTERS = Repository("karpathy/makemore", "988aa59e4d8fefa526d06f3b453ad116258398d4")
GPT = Repository("karpathy/minGPT", "37baab71b9abea1b76ab957409a1cc2fbfba8a26")

SHORTER = ((r"range\(5000\)", "range(1000)"),)
#: Only its writer is left out; PyTorch's needs the package tensorboard.
WITHOUT_BOARD = (("from torch.utils.tensorboard import SummaryWriter",
                  "from unittest.mock import MagicMock as SummaryWriter"),)

PROGRAMS = [
    Program("nnlm", TEXTS, "1-1.NNLM", "NNLM.py", edits=SHORTER),
    Program("skipgram", TEXTS, "1-2.Word2Vec", "Word2Vec-Skipgram(Softmax).py", edits=SHORTER),
    Program("textcnn", TEXTS, "2-1.TextCNN", "TextCNN.py", edits=SHORTER),
    Program("textrnn", TEXTS, "3-1.TextRNN", "TextRNN.py", edits=SHORTER),
    Program("textlstm", TEXTS, "3-2.TextLSTM", "TextLSTM.py"),
    Program("bilstm", TEXTS, "3-3.Bi-LSTM", "Bi-LSTM.py",
            edits=((r"range\(10000\)", "range(300)"), ("1000 ==", "100 =="))),
    Program("seq2seq", TEXTS, "4-1.Seq2Seq", "Seq2Seq.py", edits=SHORTER),
    Program("seq2seq-attention", TEXTS, "4-2.Seq2Seq(Attention)", "Seq2Seq(Attention).py",
            edits=((r"range\(2000\)", "range(400)"),)),
    Program("bilstm-attention", TEXTS, "4-3.Bi-LSTM(Attention)", "Bi-LSTM(Attention).py",
            edits=SHORTER),
    Program("transformer-greedy", TEXTS, "5-1.Transformer", "Transformer(Greedy_decoder).py"),
    Program("transformer", TEXTS, "5-1.Transformer", "Transformer.py"),
    Program("bert", TEXTS, "5-2.BERT", "BERT.py",
            edits=((r"range\(100\)", "range(20)"), ("% 10 ==", "% 2 =="))),
    *(Program(name, BASICS, "tutorial-contents", f"{name}.py") for name in (
        "202_variable", "203_activation", "301_regression", "302_classification",
        "303_build_nn_quickly", "305_batch_train", "306_optimizer", "403_RNN_regressor",
        "406_GAN", "501_why_torch_dynamic_graph", "503_dropout", "504_batch_normalization")),
    Program("flow-1d", FLOWS, ".", "examples/ex_1d.py", ("--iterations", "60")),
    Program("flow-2d", FLOWS, ".", "examples/ex_2d.py", ("--iterations", "30")),
    Program("ode", ODES, "examples", "ode_demo.py",
            ("--niters", "40", "--test_freq", "10", "--data_size", "200"), path=".."),
    *(Program(f"letters-{kind}", LETTERS, ".", "makemore.py",
              ("--type", kind, "--max-steps", "20", "--num-workers", "0"), WITHOUT_BOARD)
      for kind in ("transformer", "bow", "gru", "rnn", "mlp", "bigram")),
    Program("adder", GPT, ".", "projects/adder/adder.py", (
        "--trainer.max_iters=30", "--trainer.num_workers=0", '--model.model_type="gpt-nano"')),
]
