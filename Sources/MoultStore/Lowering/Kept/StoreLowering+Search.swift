import MoultSQLite

extension StoreLowering {
    /// Makes the indexes of search tables again over text that they do not hold themselves, where it changes while
    /// triggers are away: https://sqlite.org/fts5.html, section 4.4.3, and https://sqlite.org/fts3.html, section 6.2.2.
    func rebuildSearch(_ changes: [TableChange]) -> [StoreScript.Statement] {
        let computed = !derivedUpdates().isEmpty
        let changed = changes.filter { computed || !keepsValues($0) }.map { $0.table.name.uppercased() }
        guard !changed.isEmpty else { return [] }
        let views = Set(catalogue.entries.filter { $0.kind == .view }.map { $0.name.uppercased() })
        return keptObjects.working(.table).compactMap { entry in
            guard let content = entry.searchedContent,
                changed.contains(content.uppercased()) || views.contains(content.uppercased())
            else { return nil }
            let name = entry.name.quotedName
            return .init(
                .fill, entry.name, reads: [content],
                "INSERT INTO main.\(name) (\(name)) VALUES ('rebuild')", "Index the text of \(entry.name) again.",
                rows: .unknown)
        }
    }

    /// Whether each row of a table keeps its key and its values.
    private func keepsValues(_ change: TableChange) -> Bool {
        switch change.kind {
        case .untouched: return true
        case .updated: return false
        case .rebuilt(let fills):
            guard let fill = fills.first, fills.count == 1, fill.isWhole,
                let old = source.table(named: fill.source)?.columns.map(\.name)
            else { return fills.isEmpty }
            return fill.columns.allSatisfy { !old.contains($0.column) || $0.keepsColumn }
        }
    }
}

extension Catalogue.Entry {
    /// The table or view that has the text of a search table; nil where the search table holds it itself, or nothing does.
    fileprivate var searchedContent: String? {
        guard isVirtual, let tokens = sql?.sqlTokens, let using = tokens.firstIndex(where: { $0.word == "USING" }),
            ["FTS4", "FTS5"].contains(tokens.dropFirst(using + 1).first?.name.uppercased()),
            let option = tokens.indices.first(where: { $0 > using && tokens[$0].word == "CONTENT" })
        else { return nil }
        let value = tokens.dropFirst(option + 1).prefix(2)
        guard value.count == 2, value.first?.text == "=", let name = value.last?.name, !name.isEmpty else { return nil }
        return name
    }
}
