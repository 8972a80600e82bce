import MoultExport
import MoultModel
import MoultPropertyList
import MoultReport
import MoultSQLite

/// The format in which rows are printed.
enum RowFormat: String, CaseIterable {
    case table, csv, json, jsonl
}

/// Prints the rows of a query one after the other. A table is as wide as its first rows need.
struct RowPrinter {
    private let format: RowFormat
    private let columns: [String]
    private let console: Console
    private var csv: CSVWriter
    private var waiting: [[String]] = []
    private var widths: [Int]?
    private var count = 0

    /// The rows that a table's widths are taken from.
    private static let sample = 500
    private static let widest = 60

    init(_ format: RowFormat, columns: [String], isExact: Bool, _ console: Console) {
        self.format = format
        self.columns = columns
        self.console = console
        csv = CSVWriter(isExact: isExact)
        switch format {
        case .csv: console.exactly(csv.line(columns.map { .text($0) }))
        case .json:
            console.exactly("{\"format\":1,\"columns\":\(JSONValue(columns).compact),\"rows\":[")
        case .table, .jsonl: break
        }
    }

    /// The number of texts with an apostrophe in front.
    var guarded: Int { csv.guarded }

    mutating func print(_ row: [SQLiteValue]) {
        switch format {
        case .csv: console.exactly(csv.line(row.map { $0.readable(usual: nil) }))
        case .json: console.exactly((count == 0 ? "" : ",") + JSONValue.array(row.map(\.readableDocument)).compact)
        case .jsonl:
            let members = zip(columns, row).map { JSONValue.Member($0, $1.readableDocument) }
            console.exactly(JSONValue.object(members).compact + "\n")
        case .table: printLine(row.map { $0.readable(usual: nil).shown.printable })
        }
        count += 1
    }

    mutating func end() {
        switch format {
        case .json: console.exactly("]}\n")
        case .table:
            flush()
            if count == 0 { console.line("There are no rows.") }
        case .csv, .jsonl: break
        }
    }

    private mutating func printLine(_ cells: [String]) {
        guard widths == nil else { return console.line(line(cells)) }
        waiting.append(cells)
        if waiting.count == Self.sample { flush() }
    }

    private mutating func flush() {
        guard widths == nil, !waiting.isEmpty else { return }
        let heading = columns.map(\.printable)
        widths = columns.indices.map { column in
            min(Self.widest, ([heading] + waiting).map { $0[column].columns }.max() ?? 0)
        }
        console.line(console.output.style.dim(line(heading)))
        for cells in waiting { console.line(line(cells)) }
        waiting = []
    }

    private func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths ?? []).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.columns))
        }
        var line = padded.joined(separator: "  ")
        while line.last == " " { line.removeLast() }
        return line
    }
}

extension SQLiteValue {
    /// As JSON: bytes as the document that they hold, otherwise as base64.
    fileprivate var readableDocument: JSONValue {
        guard case .blob(let bytes) = self else { return document }
        return ReadableData.document(of: bytes, usual: nil) ?? document
    }

    /// For a person.
    fileprivate var shown: String {
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
