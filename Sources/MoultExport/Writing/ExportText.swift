import MoultModel
import MoultSQLite

/// The rows of a part as lines of CSV or JSON.
package struct ExportText {
    private let part: ExportPart
    private let isJSON: Bool
    private var csv: CSVWriter
    /// The first line, with its line feed; empty for JSON Lines.
    package let heading: String
    /// How many rows were written.
    package private(set) var rows = 0

    /// - Parameter format: `csv` or `jsonl`.
    package init(_ part: ExportPart, _ format: ExportWriter.Format, isExact: Bool) {
        self.part = part
        isJSON = format == .jsonl
        var csv = CSVWriter(isExact: isExact)
        heading = isJSON ? "" : csv.line(part.columns.map { .text($0.name) })
        self.csv = csv
    }

    /// How many texts have an apostrophe in front.
    package var guarded: Int { csv.guarded }

    /// Appends a row as a line, with its line feed.
    package mutating func append(_ row: Statement, to bytes: inout [UInt8]) {
        rows += 1
        if isJSON {
            bytes += part.document(part.row(of: row)).compact.utf8
        } else {
            for (place, column) in part.columns.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                if column.isPlain {
                    csv.append(row.cell(place), to: &bytes)
                } else {
                    csv.append(part.value(of: row.cell(place), in: column), to: &bytes)
                }
            }
        }
        bytes.append(UInt8(ascii: "\n"))
    }
}
