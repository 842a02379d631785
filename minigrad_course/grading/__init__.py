"""Grade submissions: a sandbox, seeded probes, and results that no answer can alter."""
