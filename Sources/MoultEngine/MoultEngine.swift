// MoultEngine. The only writer of schemas and files: lock, probe, preflight, backup, working copy, run, commit, journal, recovery, rollback.
