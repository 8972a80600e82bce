// MoultVerify. Checks a migrated store with code that shares nothing with the writer.
