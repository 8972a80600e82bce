import Moult
import MoultBasics
import MoultSQLite
import MoultStore

/// The format of printed rows.
package enum RowFormat: String, CaseIterable, Sendable {
    case table, csv, json, jsonl
}

/// The output for a query's rows.
package struct RowOutput {
    let style: TextStyle
    /// Prints a line, given without its line break.
    let line: (String) -> Void
    /// Prints a text unchanged.
    let exactly: (String) -> Void

    package init(style: TextStyle, line: @escaping (String) -> Void, exactly: @escaping (String) -> Void) {
        (self.style, self.line, self.exactly) = (style, line, exactly)
    }
}

/// A printer for the rows of a query, one by one. The first rows determine the column widths of a table.
package struct RowPrinter {
    private let format: RowFormat
    private let columns: [String]
    private let output: RowOutput
    private var csv: CSVWriter
    private var waiting: [[String]] = []
    private var widths: [Int]?
    /// Whether each value has a line of its own, because a row does not fit in the terminal's width.
    private var isVertical = false
    private var count = 0

    /// The number of rows that determine a table's widths.
    private static let sample = 500
    private static let widest = 60

    init(_ format: RowFormat, columns: [String], isExact: Bool, _ output: RowOutput) {
        (self.format, self.columns, self.output) = (format, columns, output)
        csv = CSVWriter(isExact: isExact)
        switch format {
        case .csv: output.exactly(csv.line(columns.map { .text($0) }))
        case .json:
            output.exactly("{\"format\":1,\"columns\":\(JSONValue(columns).compact),\"rows\":[")
        case .table, .jsonl: break
        }
    }

    /// Prints the rows of a query on the views of a store.
    ///
    /// - Parameter continues: whether to continue; called after each row.
    /// - Returns: the number of texts that were given a leading apostrophe.
    /// - Throws: `usage` with SQLite's message if the text is not a query.
    package static func print(
        _ sql: String, of store: String, versions: ModelVersions?, _ format: RowFormat, isExact: Bool,
        _ output: RowOutput, while continues: () -> Bool
    ) throws -> Int {
        let probe = try ReadOnlyStore(store)
        defer { probe.close() }
        return try probe.undisturbed {
            try print(
                StoreQuery(sql, over: probe, versions: versions), format, isExact: isExact,
                output,
                while: continues)
        }
    }

    /// Prints the rows of a query.
    ///
    /// - Parameter continues: whether to continue; called after each row.
    /// - Returns: the number of texts that were given a leading apostrophe.
    static func print(
        _ query: StoreQuery, _ format: RowFormat, isExact: Bool, _ output: RowOutput, while continues: () -> Bool
    ) throws -> Int {
        var printer = RowPrinter(format, columns: query.columns, isExact: isExact, output)
        try query.forEachRow { row in
            printer.print(row)
            return continues()
        }
        printer.end()
        return printer.guarded
    }

    /// The number of texts that were given a leading apostrophe.
    var guarded: Int { csv.guarded }

    mutating func print(_ row: [SQLiteValue]) {
        switch format {
        case .csv: output.exactly(csv.line(row.map { $0.readable(usual: nil) }))
        case .json: output.exactly((count == 0 ? "" : ",") + JSONValue.array(row.map(\.readableDocument)).compact)
        case .jsonl:
            let members = zip(columns, row).map { JSONValue.Member($0, $1.readableDocument) }
            output.exactly(JSONValue.object(members).compact + "\n")
        case .table: printLine(row.map { shown($0.readable(usual: nil).shown) })
        }
        count += 1
    }

    mutating func end() {
        switch format {
        case .json: output.exactly("]}\n")
        case .table:
            flush()
            if count == 0 { output.line("There are no rows.") }
        case .csv, .jsonl: break
        }
    }

    /// Returns a value for a table, with line breaks on a terminal as one sign.
    private func shown(_ text: String) -> String {
        guard output.style.width != nil else { return text.printable }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).joined(separator: "↵")
            .printable
    }

    /// Returns a text that fits in a number of columns of a terminal; unchanged elsewhere.
    private func cut(_ text: String, to width: Int) -> String {
        guard output.style.width != nil, text.columns > width else { return text }
        var start = text.prefix(max(1, width))
        while start.count > 1, String(start).columns > width - 1 { start.removeLast() }
        return start + "…"
    }

    /// Prints a row with a line for each value.
    private func printLines(_ cells: [String], _ number: Int) {
        let names = columns.map(\.printable)
        let width = names.map(\.columns).max() ?? 0
        output.line(output.style.dim("row \(number)"))
        for (name, cell) in zip(names, cells) {
            let padding = String(repeating: " ", count: width - name.columns + 2)
            output.line(name + padding + cut(cell, to: max(20, (output.style.width ?? 0) - width - 2)))
        }
    }

    private mutating func printLine(_ cells: [String]) {
        guard widths == nil else {
            return isVertical ? printLines(cells, count + 1) : output.line(line(cells))
        }
        waiting.append(cells)
        if waiting.count == Self.sample { flush() }
    }

    private mutating func flush() {
        guard widths == nil, !waiting.isEmpty else { return }
        let heading = columns.map(\.printable)
        let widest = columns.count == 1 ? output.style.width ?? Self.widest : Self.widest
        widths = columns.indices.map { column in
            min(widest, ([heading] + waiting).map { $0[column].columns }.max() ?? 0)
        }
        let whole = (widths ?? []).reduce(0) { $0 + $1 + 2 } - 2
        isVertical = output.style.width.map { whole > $0 && columns.count > 1 } ?? false
        if isVertical {
            for (place, cells) in waiting.enumerated() { printLines(cells, place + 1) }
        } else {
            output.line(output.style.dim(line(heading)))
            for cells in waiting { output.line(line(cells)) }
        }
        waiting = []
    }

    private func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths ?? []).map { cell, width in
            let cell = cut(cell, to: width)
            return cell + String(repeating: " ", count: max(0, width - cell.columns))
        }
        var line = padded.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}

extension ObjectReader {
    /// Returns a query over the store's views.
    ///
    /// - Throws: `usage` with SQLite's message if the text is not a query.
    package func query(_ sql: String) throws -> StoreQuery { try StoreQuery(sql, over: probe) { contents } }

    /// The views that a query can name.
    package var views: [StoreViews.View] { StoreViews(contents).views }
}

extension SQLiteValue {
    /// The value as JSON. Bytes are shown as the document that they contain, otherwise in base64.
    fileprivate var readableDocument: JSONValue {
        guard case .blob(let bytes) = self else { return document }
        return ReadableData.document(of: bytes, usual: nil) ?? document
    }

    /// The value in readable form.
    package var shown: String {
        switch self {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): number.description
        case .text(let text): text
        case .blob(let bytes):
            bytes.count > 24 ? "x'\(Array(bytes.prefix(24)).hexadecimal)…'" : "x'\(bytes.hexadecimal)'"
        }
    }
}

/// A user's query on the views of a store. It cannot write.
package struct StoreQuery {
    private let probe: ReadOnlyStore
    private let statement: Statement
    /// The names of the result's columns, without duplicates.
    package let columns: [String]

    /// - Throws: `usage` with SQLite's message if the text is not a query.
    package init(_ sql: String, over probe: ReadOnlyStore, versions: ModelVersions?) throws {
        try self.init(sql, over: probe) { try StoreContents(probe, in: versions) }
    }

    /// - Parameter contents: returns the contents of the store for the views, which the first query of a probe makes.
    /// - Throws: `usage` with SQLite's message if the text is not a query.
    init(_ sql: String, over probe: ReadOnlyStore, contents: () throws -> StoreContents) throws {
        self.probe = probe
        if try probe.connection.integer("SELECT count(*) FROM sqlite_temp_master") == 0 {
            try probe.connection.register(StoreViews.dateFunction)
            try StoreViews(contents(), isForMoult: true).make(on: probe.connection, isTemporary: true)
            try probe.connection.execute("PRAGMA query_only = ON")
        }
        do {
            statement = try probe.connection.query(sql)
        } catch let error as MigrationError where error.code == .usage {
            throw try contents().explaining(error, in: sql)
        }
        guard statement.parameterCount == 0 else {
            throw MigrationError(
                .usage, "The query has parameters, such as ? or :name, which have no values here.",
                remedy: "Write the values into the query: numbers as they are, texts in apostrophes.")
        }
        var names = DistinctNames()
        columns = (0..<statement.columnCount).map { [statement] in names.next(statement.columnName($0)) }
    }

    /// Calls `body` for each row until it returns false.
    package func forEachRow(_ body: ([SQLiteValue]) throws -> Bool) throws {
        defer { statement.reset() }
        while try probe.connection.step(query: statement) {
            guard try body(statement.row) else { return }
        }
    }
}
