import CSQLite
import MoultBasics

extension Connection {
    /// Runs `quick_check` or `integrity_check`, and returns its rows: `ok`, or what is damaged.
    ///
    /// For a page that it cannot read, SQLite writes a row, as for a damaged one, and continues. The check is then
    /// run again, in case the disk failed only once.
    ///
    /// - Parameters:
    ///   - scope: the quoted name of a table, or a number of messages.
    ///   - isKept: returns whether to return a row, given those before it that are returned.
    /// - Throws: the error of a page that cannot be read, which says nothing of its contents.
    package func checkMessages(
        _ check: String, schema: String = "main", of scope: String,
        keeping isKept: (String, [String]) -> Bool = { _, _ in true }
    ) throws -> [String] {
        func run() throws -> (messages: [String], unread: [UnreadPage]) {
            var (messages, unread): ([String], [UnreadPage]) = ([], [])
            try forEachRow("PRAGMA \(schema.quotedName).\(check)(\(scope))") { row in
                let message = row.text(0) ?? ""
                unread += message.split(separator: "\n").compactMap(UnreadPage.init)
                if isKept(message, messages) { messages.append(message) }
            }
            return (messages, unread)
        }
        let first = try run()
        if first.unread.isEmpty { return first.messages }
        let (messages, unread) = try run()
        if unread.isEmpty { return messages }
        // The read that fails has the error in full, unless the page is in the WAL.
        try readThrough(schema)
        let pageSize = try integer("PRAGMA \(schema.quotedName).page_size") ?? 4096
        if let result = unread.lazy.compactMap({ $0.result(pageSize: pageSize) }).first { throw error(result) }
        return messages
    }

    /// Reads the whole file of a database.
    private func readThrough(_ schema: String) throws {
        guard let file = DatabaseFile(self, schema: schema) else { return }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        for offset in stride(from: 0, to: try file.size, by: buffer.count) {
            try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: offset) }
        }
    }
}

/// A row of SQLite's check about a page that it did not get.
private enum UnreadPage {
    /// A page of a tree, with SQLite's result code.
    case tree(Int32)
    /// A page of a list, with its number.
    case list(Int64)
    /// A page of the pointer map, or a wrong entry in it.
    case map

    init?(_ line: Substring) {
        func number<Number: FixedWidthInteger>(after words: String) -> Number? {
            guard let end = line.firstRange(of: words)?.upperBound else { return nil }
            return Number(line[end...].prefix { $0.isASCII && $0.isNumber })
        }
        if let result: Int32 = number(after: "unable to get the page. error code=") {
            self = .tree(result)
        } else if let page: Int64 = number(after: "failed to get page ") {
            self = .list(page)
        } else if line.contains("Failed to read ptrmap key=") {
            self = .map
        } else {
            return nil
        }
    }

    /// The result code of the read; nil if the file itself is wrong. SQLite does not read the page with the bytes of
    /// the locks, which no list may name (the SQLite file format, section 1.4).
    func result(pageSize: Int64) -> Int32? {
        switch self {
        case .tree(let result): result & 0xff == SQLITE_CORRUPT ? nil : result
        case .list(let page): page == 1 << 30 / pageSize + 1 ? nil : IOError.read
        case .map: nil
        }
    }
}
