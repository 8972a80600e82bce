// MoultSQLite. A small, strict SQLite: connection, statement, transaction, functions, backup, catalogue. Knows nothing of models.
