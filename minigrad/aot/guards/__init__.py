"""Guards: everything that a later call must have in common with the recorded one."""
