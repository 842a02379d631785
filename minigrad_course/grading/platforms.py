"""The names that learning platforms give to submissions, and whom they belong to.

NOTE [Names of files]
    Learning platforms put the person into the file name: Moodle `Ann Lee_12345_assign...`,
    Canvas `leeann_LATE_12345_678_engine.py`, Blackboard `Homework_alee_attempt_...`.  In such a
    name only that part counts, because the student chose the rest.  GitHub Classroom's folders end
    with the student's GitHub name, and Gradescope's are only numbered, so neither is in this list:
    see roster.py.
"""

from __future__ import annotations

import re

__all__ = ["CANVAS", "GRADESCOPE", "MOODLE", "about_the_person"]

#: Moodle's names; the groups are the whole name and the participant's number.
MOODLE = re.compile(r"([^/]+?)_(\d+)_assignsubmission(?:_[a-z]+)?(?=_|$)_?", re.IGNORECASE)
#: Canvas's names; the groups are the name without spaces, the user's and the attachment's number.
CANVAS = re.compile(r"([^_/]+)_(?:late_)?(\d+)_(\d+)_", re.IGNORECASE)
#: The folder of a submission in Gradescope's export.
GRADESCOPE = re.compile(r"submission_\d+")
#: Blackboard's names; the group is the person's user name.
BLACKBOARD = re.compile(r".+?_([^_]+)_attempt_\d", re.IGNORECASE)


def about_the_person(name: str) -> str | None:
    """Return the part of a platform's file name that a student could not choose, or `None`.

    >>> about_the_person("leeann_LATE_12_34_handin.py"), about_the_person("handin.py")
    ('leeann', None)
    """
    found = (pattern.match(name) for pattern in (CANVAS, MOODLE, BLACKBOARD))
    return next((match[1] for match in found if match), None)
