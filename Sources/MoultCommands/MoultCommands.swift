// MoultCommands. All verbs of the command line as a library.
