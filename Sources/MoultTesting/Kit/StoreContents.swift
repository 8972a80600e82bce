import MoultModel
import MoultSystem

/// Everything that a store says, as lines of text: its schema, each row, the bytes of external data.
///
/// Two stores with equal contents hold the same, whatever their pages, journals and free space look like. Contents are
/// read by plain SQL over a copy, without the engine that migrates, and the store is not touched.
public struct StoreContents: Sendable, Hashable {
    /// A line for each entry of the schema and each row, in byte order.
    public let lines: [String]

    /// - Parameters:
    ///   - path: a store that is not being written to.
    ///   - tables: left out, such as `Z_METADATA` if two stores are to differ in their UUID.
    /// - Throws: `fileNotFound` if there is none, `storeCorrupted` if SQLite finds it damaged.
    public init(ofStoreAt path: String, exceptTables tables: Set<String> = []) throws {
        let system = POSIXSystem()
        guard try system.exists(path) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(path).", place: path, remedy: "Check the path.")
        }
        let temporary = try TemporaryFolder("contents", system)
        defer { temporary.remove() }
        let rows = try LogicalState(of: path, scratch: Path.join(temporary.path, "look")).rows
        if let first = rows.first, first.hasPrefix("damaged: ") {
            throw MigrationError(
                .storeCorrupted, "The store at \(path) is damaged.", place: path,
                remedy: MigrationError.damagedStoreRemedy,
                cause: rows.dropFirst().first)
        }
        let prefixes = tables.map { "row \($0) " }
        lines = rows.filter { line in !prefixes.contains { line.hasPrefix($0) } }
    }

    /// SHA-256 of the lines, in hexadecimal.
    public var hash: String {
        var stream = SHA256Stream()
        for line in lines { Array("\(line)\n".utf8).withUnsafeBytes { stream.update($0) } }
        return stream.finish().hexadecimal
    }

    /// Returns the lines that only one of two stores has, for a person; nil if they hold the same.
    ///
    /// - Parameter limit: lines of each store that are shown; how many there are is always said.
    public func difference(from old: StoreContents, limit: Int = 10) -> String? {
        let (gone, come) = (Self.surplus(of: old, over: self), Self.surplus(of: self, over: old))
        if gone.isEmpty, come.isEmpty { return nil }
        let shown = gone.prefix(limit).map { "- \($0)" } + come.prefix(limit).map { "+ \($0)" }
        return (["\(gone.count) lines removed, \(come.count) added:"] + shown).joined(separator: "\n")
    }

    /// A line that is there twice and was there once is a line too many.
    private static func surplus(of contents: StoreContents, over other: StoreContents) -> [String] {
        var left = other.lines.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
        return contents.lines.filter { line in
            guard let count = left[line], count > 0 else { return true }
            left[line] = count - 1
            return false
        }
    }
}
