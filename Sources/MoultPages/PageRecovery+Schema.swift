import MoultSQLite

extension PageRecovery {
    /// Walks the tree of `sqlite_schema`; where it is damaged, finds its leaves elsewhere, then takes the tables of the model.
    func readSchema() throws {
        var walk = TreeWalk(
            ledger, accepts: { $0.contains(where: SchemaRows.isRow) },
            onRow: { _, record, _ in try self.schema.add(record) })
        try walk.read(1)
        isSchemaWhole = walk.gaps.isEmpty
        guard !isSchemaWhole else { return }
        // The header's page is read, whatever the tree on it is.
        for number in ledger.unknown {
            guard let page = try leaf(number) else { continue }
            let rows = try records(page)
            guard !rows.isEmpty, rows.allSatisfy({ SchemaRows.isRow($0.record) }) else { continue }
            for row in rows { try schema.add(row.record) }
            ledger[number] = .read
        }
        guard let hints = try anyHints() else { return }
        for statement in hints.statements {
            if let name = SchemaRows.name(in: statement) { try schema.addTable(name, nil, statement) }
        }
    }

    /// Returns the hints of the model that was named; else of the model that the store carries, wherever it lies.
    private func anyHints() throws -> Hints? {
        if let hints = try hints(nil) { return hints }
        for number in ledger.unknown {
            guard let page = try leaf(number), page.cells.count == 1, let row = try records(page).first,
                row.record.values.count == 1, case .blob(let bytes)?? = row.record.values.first,
                let hints = try hints(bytes)
            else { continue }
            return hints
        }
        return nil
    }
}
