import Foundation
import MoultBasics
import MoultModel

/// The pragmas that may be set for a store: those that change how SQLite works and never what the store holds.
enum StorePragma {
    static let all = [
        "cache_size", "journal_mode", "journal_size_limit", "mmap_size", "secure_delete", "synchronous", "temp_store",
        "wal_autocheckpoint",
    ]

    /// - Throws: `usage` for another pragma, naming these, and for a value that is no word or number.
    static func check(_ name: String, _ value: any Sendable) throws -> (name: String, value: String) {
        let name = name.lowercased()
        guard all.contains(name) else {
            throw MigrationError(
                .usage, "The pragma \(name) cannot be set for a store.", place: name,
                remedy: "The pragmas are: \(all.joined(separator: ", ")).")
        }
        let text = (value as? String) ?? "\(value)"
        let isPlain = text.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
        }
        guard !text.isEmpty, isPlain else {
            throw MigrationError(
                .usage, "The pragma \(name) cannot be \"\(text)\".", place: name,
                remedy: "Give a word or a whole number, such as WAL or -2000.")
        }
        return (name, text)
    }
}
