import MoultModel

/// Reads CSV (RFC 4180): a header line, fields in quotation marks or without, line feeds with or without a carriage
/// return.
struct CSVReader {
    /// A field; one without quotation marks that is empty is NULL.
    struct Field: Equatable {
        var text: String
        var isQuoted: Bool
    }

    let columns: [String]
    /// The rows, each with the number of its first line.
    let rows: [(line: Int, fields: [Field])]

    /// - Throws: `usage` with the line for a field that does not end, a row with more or fewer fields than the header,
    ///   and text that is not UTF-8.
    init(_ bytes: [UInt8], place: String) throws {
        var records = Records(bytes: bytes, place: place)
        guard let header = try records.next() else { throw Records.wrong("The file has no header line.", place, 1) }
        columns = header.fields.map(\.text)
        var rows: [(line: Int, fields: [Field])] = []
        while let row = try records.next() {
            guard row.fields.count == columns.count else {
                throw Records.wrong(
                    "The row has \(Quantity.count(row.fields.count, "field")), but the header has \(columns.count).",
                    place,
                    row.line)
            }
            rows.append(row)
        }
        self.rows = rows
    }

    private struct Records {
        let bytes: [UInt8]
        let place: String
        private var position: Int
        private var line = 1

        init(bytes: [UInt8], place: String) {
            self.bytes = bytes
            self.place = place
            // Some programs put a byte order mark in front.
            position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        }

        static func wrong(_ message: String, _ place: String, _ line: Int) -> MigrationError {
            MigrationError(
                .usage, message, place: "\(place):\(line)", remedy: "Correct the file. Nothing was imported.")
        }

        /// Nil at the end.
        mutating func next() throws -> (line: Int, fields: [Field])? {
            guard position < bytes.count else { return nil }
            let start = line
            var fields = [try field()]
            while position < bytes.count, bytes[position] == UInt8(ascii: ",") {
                position += 1
                fields.append(try field())
            }
            if position < bytes.count, bytes[position] == UInt8(ascii: "\r") { position += 1 }
            if position < bytes.count {
                guard bytes[position] == UInt8(ascii: "\n") else {
                    throw Self.wrong("Something follows the closing quotation mark of a field.", place, line)
                }
                position += 1
                line += 1
            }
            return (start, fields)
        }

        private mutating func field() throws -> Field {
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                let start = position
                while position < bytes.count, !",\n".utf8.contains(bytes[position]) { position += 1 }
                var end = position
                if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
                position = end
                return Field(text: try text(bytes[start..<end]), isQuoted: false)
            }
            let start = line
            position += 1
            var value: [UInt8] = []
            while position < bytes.count {
                let byte = bytes[position]
                position += 1
                if byte == UInt8(ascii: "\"") {
                    guard position < bytes.count, bytes[position] == byte else {
                        return Field(text: try text(value[...]), isQuoted: true)
                    }
                    position += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                value.append(byte)
            }
            throw Self.wrong("A field in quotation marks does not end.", place, start)
        }

        private func text(_ bytes: ArraySlice<UInt8>) throws -> String {
            let text = String(decoding: bytes, as: UTF8.self)
            guard text.utf8.elementsEqual(bytes) else { throw Self.wrong("The text is not UTF-8.", place, line) }
            return text
        }
    }
}
