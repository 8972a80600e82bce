import Moult
import MoultBasics
import MoultSQLite

extension Site {
    /// The most rows that the page of a query shows.
    private static let rowLimit = 1_000
    /// The time after which a query on the page is ended, and one for a file, in seconds.
    private static let (pageTime, fileTime) = (10.0, 300.0)

    /// Returns the page of an SQL query over the views of the store.
    func queryPage(_ request: Request) throws -> HTML {
        let sql = request.query["sql"] ?? ""
        return try read { reader in
            let result: HTML
            do {
                result = sql.trimmed.isEmpty ? "" : try rows(of: sql, reader)
            } catch let error as MigrationError where error.code == .usage {
                result = errorWords(error)
            }
            return page(
                "SQL", at: .sql,
                """
                <h1>SQL</h1>
                <form method="get" action="/sql" class="query">
                <label for="sql">One SELECT over the views below. Nothing is changed.</label>
                <textarea id="sql" name="sql" rows="5" spellcheck="false" autocomplete="off">\(sql)</textarea>
                <button>Run</button> <span class="hint">Ctrl+Enter</span></form>
                \(result)
                \(viewList(reader, isOpen: sql.isEmpty))
                """)
        }
    }

    private func rows(of sql: String, _ reader: ObjectReader) throws -> HTML {
        let query = try reader.query(sql)
        var rows: [HTML] = []
        var isCut = false
        let ended: Void? = try reader.limited(to: Self.pageTime) {
            try query.forEachRow { row in
                guard rows.count < Self.rowLimit else {
                    isCut = true
                    return false
                }
                let cells: [HTML] = row.map { value in
                    guard value != .null else { return "<td><span class=\"null\">NULL</span></td>" }
                    let text = value.readable(usual: nil).shown.cut(at: 500)
                    return value.isNumber
                        ? "<td class=\"number\">\(text)</td>" : "<td><bdi class=\"text\">\(text)</bdi></td>"
                }
                rows.append("\(cells)")
                return true
            }
        }
        guard ended != nil else { throw Self.tooLong(Self.pageTime) }
        let count: HTML =
            isCut
            ? "The first \(Quantity.count(rows.count, "row")) are shown. The files have all of them."
            : "\(Quantity.count(rows.count, "row"))"
        let heads: [HTML] = query.columns.map { "<bdi>\($0)</bdi>" }
        return """
            <p class="count"><span role="status" id="count">\(count)</span> · \
            <a href="\(address("/sql.csv", ["sql": sql]))" download>CSV</a> · \
            <a href="\(address("/sql.json", ["sql": sql]))" download>JSON</a></p>
            \(table("Result", heads, rows))
            """
    }

    private static func tooLong(_ seconds: Double) -> MigrationError {
        MigrationError(
            .usage, "The query took longer than \(Quantity.duration(seconds)) and was ended.",
            remedy: "Reduce it by a WHERE or a LIMIT, or run it in a terminal: \(.query).")
    }

    private func viewList(_ reader: ObjectReader, isOpen: Bool) -> HTML {
        let items: [HTML] = reader.views.map { view in
            let all = "SELECT * FROM \(view.name.quotedName) LIMIT 100"
            return """
                <li><a href="\(address("/sql", ["sql": all]))"><bdi>\(view.name)</bdi></a> \
                <small>\(view.columns.joined(separator: ", "))</small></li>
                """
        }
        return """
            <details\(isOpen ? " open" : "")><summary>Views</summary><ul class="views">\(items)</ul>
            <p class="hint">Dates are ISO 8601 in UTC, Booleans 0 and 1, to-one relationships the key of the destination. Bytes \
            that hold JSON are its text. The tables of the store can be queried, too.</p></details>
            """
    }

    // MARK: - Files

    /// Returns the rows of a query as a file, as `moult query` prints them.
    func queryDownload(_ request: Request, _ format: RowFormat) throws -> Response {
        let sql = request.query["sql"] ?? ""
        let file = try download { reader, write in
            let query = try reader.query(sql)
            var isWritten = true
            let output = RowOutput(style: .plain, line: { _ in }, exactly: { isWritten = write(Array($0.utf8)) })
            _ = try RowPrinter.print(query, format, isExact: false, output) { isWritten }
        }
        let type = format == .csv ? "text/csv; charset=utf-8" : "application/json"
        return Response(file, type: type, savedAs: ("query", format.rawValue))
    }

    /// Returns the objects of a list as a file, in the form of `moult export`: all that match, in the list's order.
    func download(_ request: Request, _ format: ExportFormat) throws -> Response {
        let query = try ListQuery(request)
        let file = try download { reader, write in
            let entity = try reader.entity(query.entity)
            let names = Set(query.columns + ["Z_PK"])
            if !query.columns.isEmpty { _ = try query.shown(of: entity) }
            let columns = query.columns.isEmpty ? entity.columns : entity.columns.filter { names.contains($0.name) }
            let part = try reader.part(
                of: entity, columns: columns, matching: try query.predicate(reader), in: query.order)
            var text = ExportText(part, format, isExact: false)
            _ = write(Array(text.heading.utf8))
            try reader.forEachRow(of: part) { row in
                var line: [UInt8] = []
                text.append(row, to: &line)
                return write(line)
            }
        }
        let type = format == .csv ? "text/csv; charset=utf-8" : "application/jsonl"
        return Response(file, type: type, savedAs: (query.entity, format.rawValue))
    }

    /// Writes a file while the store is read.
    ///
    /// - Parameter body: passes the bytes to `write`, which returns whether to continue.
    private func download(_ body: (ObjectReader, _ write: @escaping ([UInt8]) -> Bool) throws -> Void) throws
        -> Download
    {
        try read { reader in
            try Download { write in
                var failure: (any Error)?
                let ended: Void? = try withoutActuallyEscaping(write) { write in
                    try reader.limited(to: Self.fileTime) {
                        try body(reader) { bytes in
                            do {
                                try write(bytes)
                            } catch {
                                failure = error
                            }
                            return failure == nil
                        }
                    }
                }
                if let failure { throw failure }
                guard ended != nil else { throw Self.tooLong(Self.fileTime) }
            }
        }
    }
}

extension SQLiteValue {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real: true
        case .null, .text, .blob: false
        }
    }
}
