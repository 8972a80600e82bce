import MoultBasics
import MoultSQLite

extension StoreLowering {
    /// Rebuilds the indexes of search tables whose text is stored elsewhere and changes while triggers are dropped:
    /// https://sqlite.org/fts5.html, section 4.4.3, and https://sqlite.org/fts3.html, section 6.2.2.
    func rebuildSearch(_ changes: [TableChange]) -> [StoreScript.Statement] {
        let computed = !derivedUpdates().isEmpty
        let changed = changes.filter { computed || !keepsValues($0) }.map { $0.table.name.uppercased() }
        guard !changed.isEmpty else { return [] }
        let views = Set(catalogue.entries.filter { $0.kind == .view }.map { $0.name.uppercased() })
        return keptObjects.working(.table).compactMap { entry in
            guard let content = entry.searchedContent, !content.isEmpty,
                changed.contains(content.uppercased()) || views.contains(content.uppercased())
            else { return nil }
            let name = entry.name.quotedName
            return .init(
                .fill, entry.name, reads: [content], "INSERT INTO main.\(name) (\(name)) VALUES ('rebuild')",
                "Index the text of \(entry.name) again.", rows: .unknown)
        }
    }

    /// Returns findings for contentless search tables whose rows change. Only the app, which has supplied their text,
    /// can index them again.
    func staleSearch() -> [Finding] {
        let tables = keptObjects.entries(.table).filter { $0.searchedContent?.isEmpty == true }
        guard !tables.isEmpty, changesText() else { return [] }
        return tables.map { entry in
            Finding(
                code: "search-not-rebuilt", severity: .warning, place: entry.name,
                message: "The search table \(entry.name) keeps no text of its own and stays as it was: it may point to "
                    + "rows that have changed.",
                remedy: "Let the app fill it again after the migration.")
        }
    }

    /// Returns whether an existing row is removed, or gets another key or another value, except for entity numbers.
    private func changesText() -> Bool {
        let changes = changes
        let filled = Set(
            changes.flatMap { change -> [String] in
                if case .rebuilt(let fills) = change.kind { fills.map(\.source) } else { [change.table.name] }
            })
        return !derivedUpdates().isEmpty || changes.contains { !keepsValues($0, but: $0.table.numberColumns) }
            || source.tables.contains { table in
                !filled.contains(table.name)
                    && rows(of: source.numbers(inTable: table.name).compactMap(source.entityName(number:))) > 0
            }
    }

    /// Returns whether each row of a table keeps its key and its values.
    ///
    /// - Parameter ignored: the columns whose values may change.
    func keepsValues(_ change: TableChange, but ignored: Set<String> = []) -> Bool {
        switch change.kind {
        case .untouched: return true
        case .updated(let columns, let leaving):
            // An added column had no text before.
            let added = change.alteration.added.map(\.name)
            return leaving.isEmpty && columns.allSatisfy { ignored.contains($0.column) || added.contains($0.column) }
        case .rebuilt(let fills):
            guard let fill = fills.first, fills.count == 1, fill.isWhole,
                let old = source.table(named: fill.source)?.types
            else { return fills.isEmpty }
            let new = change.table.types
            return fill.columns.allSatisfy { column in
                guard let type = old[column.column], !ignored.contains(column.column) else { return true }
                // With another type, the same value may have a different text.
                return column.keepsColumn && type == new[column.column]
            }
        }
    }
}

extension EntityTable {
    /// The columns that contain entity numbers.
    fileprivate var numberColumns: Set<String> {
        Set(
            columns.filter { column in
                switch column.role {
                case .entity, .toOneEntity: true
                default: false
                }
            }.map(\.name))
    }
}

extension Catalogue.Entry {
    /// The table or view that stores the text of a search table: empty for a contentless table; nil if the search table
    /// stores the text itself.
    fileprivate var searchedContent: String? {
        guard isVirtual, let tokens = sql?.sqlTokens, let using = tokens.firstIndex(where: { $0.word == "USING" }),
            ["FTS4", "FTS5"].contains(tokens.dropFirst(using + 1).first?.name.uppercased()),
            let option = tokens.indices.first(where: { $0 > using && tokens[$0].word == "CONTENT" })
        else { return nil }
        let value = tokens.dropFirst(option + 1).prefix(2)
        guard value.count == 2, value.first?.text == "=", let name = value.last?.name else { return nil }
        return name
    }
}
