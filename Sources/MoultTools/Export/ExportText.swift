import Moult
import MoultBasics
import MoultModel
import MoultSQLite

/// The rows of an export part as lines of CSV or JSON.
package struct ExportText {
    private let part: ExportPart
    private let isJSON: Bool
    private var csv: CSVWriter
    private let forms: [Form]
    /// The bytes before each value of a JSON object: its key and a colon.
    private let keys: [[UInt8]]
    private var dates = DateFields()
    /// The first line, with its line feed; empty for JSON Lines.
    package let heading: String
    /// The number of rows written.
    package private(set) var rows = 0

    /// The conversion of a column's values to text.
    private enum Form {
        /// As stored.
        case plain, boolean
        case date, uuid
        /// The text of a JSON document.
        case json
        /// As the part converts them.
        case other
    }

    /// - Parameter format: `csv` or `jsonl`.
    package init(_ part: ExportPart, _ format: ExportWriter.Format, isExact: Bool) {
        self.part = part
        isJSON = format == .jsonl
        var csv = CSVWriter(isExact: isExact)
        heading = isJSON ? "" : csv.line(part.columns.map { .text($0.name) })
        self.csv = csv
        keys = part.columns.map { Array((JSONValue.string($0.name).compact + ":").utf8) }
        forms = part.columns.map { column in
            switch column.source {
            case _ where column.isList: .json
            case .attribute(_, .date, _): .date
            case .attribute(_, .uuid, _): .uuid
            case .attribute(_, .boolean, _): .boolean
            default: column.isPlain ? .plain : .other
            }
        }
    }

    /// The number of texts that were given a leading apostrophe.
    package var guarded: Int { csv.guarded }

    /// Appends a row as a line, with its line feed.
    package mutating func append(_ row: Statement, to bytes: inout [UInt8]) {
        rows += 1
        if isJSON { bytes.append(UInt8(ascii: "{")) }
        for place in forms.indices {
            if place > 0 { bytes.append(UInt8(ascii: ",")) }
            if isJSON {
                bytes += keys[place]
                appendJSON(row.cell(place), place, to: &bytes)
            } else {
                appendCSV(row.cell(place), place, to: &bytes)
            }
        }
        if isJSON { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Appends a value to a line of CSV. A value of another type than the column's is written as it is stored.
    private mutating func appendCSV(_ cell: SQLiteCell, _ place: Int, to bytes: inout [UInt8]) {
        switch forms[place] {
        case .date where cell.isNumber && dates.append(cell.real, to: &bytes): break
        case .uuid where cell.isUUID: bytes.append(uuid: cell.ownBytes)
        case .plain where cell.storageClass == .blob: csv.append(cell.copy.readable(usual: nil), to: &bytes)
        case .plain, .boolean, .date, .uuid, .json: csv.append(cell, to: &bytes)
        case .other: csv.append(part.value(of: cell, in: part.columns[place]), to: &bytes)
        }
    }

    /// Appends a value to a line of JSON. Bytes are written as the document that they contain, otherwise in base64. A
    /// value of another type than the column's is written as it is stored.
    private mutating func appendJSON(_ cell: SQLiteCell, _ place: Int, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes.append(UInt8(ascii: "\""))
        switch forms[place] {
        case .date where cell.isNumber && dates.append(cell.real, to: &bytes): break
        case .uuid where cell.isUUID: bytes.append(uuid: cell.ownBytes)
        case .plain, .boolean, .date, .uuid:
            guard cell.storageClass == .text, cell.ownText.allSatisfy(Self.isPlainInJSON) else {
                bytes.removeLast(bytes.count - start)
                return appendJSON(cell.copy, isBoolean: forms[place] == .boolean, to: &bytes)
            }
            bytes.append(contentsOf: cell.ownText)
        case .json:
            bytes.removeLast(bytes.count - start)
            bytes.append(contentsOf: cell.ownText)
            return
        case .other:
            bytes.removeLast(bytes.count - start)
            if let document = part.document(of: cell, in: part.columns[place]) {
                bytes += document.compact.utf8
                return
            }
            return appendJSON(part.value(of: cell, in: part.columns[place]), isBoolean: false, to: &bytes)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private func appendJSON(_ value: SQLiteValue, isBoolean: Bool, to bytes: inout [UInt8]) {
        switch value {
        case .integer(0) where isBoolean: bytes += "false".utf8
        case .integer(1) where isBoolean: bytes += "true".utf8
        case .integer(let number): bytes.append(decimal: number)
        case .blob(let blob):
            let document = ReadableData.document(of: blob, usual: nil)
            bytes += (document ?? value.document).compact.utf8
        default: bytes += value.document.compact.utf8
        }
    }

    private static func isPlainInJSON(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
}

extension SQLiteCell {
    fileprivate var isNumber: Bool { storageClass == .integer || storageClass == .real }
    fileprivate var isUUID: Bool { storageClass == .blob && ownBytes.count == 16 }
}
