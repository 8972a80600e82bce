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
    /// The forms of the columns in JSON; nil for values as they are.
    private let forms: [QueryForm?]
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

    private init(_ format: RowFormat, of query: StoreQuery, isExact: Bool, _ output: RowOutput) throws {
        (self.format, columns, self.output) = (format, query.columns, output)
        forms = format == .json || format == .jsonl ? try query.forms() : []
        csv = CSVWriter(isExact: isExact)
        if format == .csv { output.exactly(csv.line(columns.map { .text($0) })) }
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
        var printer = try RowPrinter(format, of: query, isExact: isExact, output)
        do {
            try query.forEachRow { row in
                printer.print(row)
                return continues()
            }
        } catch {
            // The document of the error follows. Without a row, it is the only one.
            if format == .json, printer.count > 0 { printer.end() }
            throw error
        }
        printer.end()
        return printer.guarded
    }

    /// The number of texts that were given a leading apostrophe.
    private var guarded: Int { csv.guarded }

    /// The beginning of a JSON document.
    private var head: String { "{\"format\":1,\"columns\":\(JSONValue(columns).compact),\"rows\":[" }

    private mutating func print(_ row: [SQLiteValue]) {
        switch format {
        case .csv: output.exactly(csv.line(row.map { $0.readable(usual: nil) }))
        case .json:
            let values = zip(row, forms).map { $0.document(in: $1) }
            output.exactly((count == 0 ? head : ",") + JSONValue.array(values).compact)
        case .jsonl:
            let values = zip(row, forms).map { $0.document(in: $1) }
            let members = zip(columns, values).map { JSONValue.Member($0, $1) }
            output.exactly(JSONValue.object(members).compact + "\n")
        case .table: printLine(row.map { shown($0.readable(usual: nil).shown) })
        }
        count += 1
    }

    private mutating func end() {
        switch format {
        case .json: output.exactly((count == 0 ? head : "") + "]}\n")
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

extension SQLiteValue {
    /// Returns the value as JSON, in the form of its column. Bytes are shown as the document that they contain, otherwise
    /// in base64.
    fileprivate func document(in form: QueryForm?) -> JSONValue {
        switch (self, form) {
        case (.integer(0), .boolean): .bool(false)
        case (.integer(1), .boolean): .bool(true)
        case (.text(let text), .json): ReadableData.json(Array(text.utf8)) ?? document
        case (.blob(let bytes), _): ReadableData.document(of: bytes, usual: nil) ?? document
        default: document
        }
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
