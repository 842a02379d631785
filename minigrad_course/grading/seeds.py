"""The seed of a submission's probes."""

from __future__ import annotations

import hmac
import json

from ..content.stages import Stage
from .intake import Submission

__all__ = ["seed_for"]


def seed_for(secret: int, stage: Stage, submission: Submission) -> int:
    """Return the seed of a submission's probes: a keyed hash of its text.

    Another text gets another seed, and the seed is unpredictable without the secret.
    """
    about = json.dumps([stage.key, sorted(submission.texts.items())])
    return int.from_bytes(hmac.digest(str(secret).encode(), about.encode(), "sha256")[:6])
