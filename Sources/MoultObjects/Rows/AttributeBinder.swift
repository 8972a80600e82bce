import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

/// A binder of one attribute's values to a parameter, in the column's storage format.
final class AttributeBinder {
    let attribute: AttributeDescription
    let parameter: Int
    private let external: ExternalFiles
    private let place: String

    init(attribute: AttributeDescription, parameter: Int, external: ExternalFiles, place: String) {
        (self.attribute, self.parameter, self.external, self.place) = (attribute, parameter, external, place)
    }

    func bind(_ value: AttributeValue, to statement: Statement) throws {
        switch (attribute.type, value) {
        case (.integer16, .integer(let number)) where Int16(exactly: number) != nil,
            (.integer32, .integer(let number)) where Int32(exactly: number) != nil,
            (.integer64, .integer(let number)):
            try statement.bind(number, at: parameter)
        case (.boolean, .boolean(let flag)):
            try statement.bind(flag ? Int64(1) : 0, at: parameter)
        case (.double, .double(let number)), (.date, .date(let number)):
            try statement.bind(number, at: parameter)
        case (.float, .double(let number)):
            try statement.bind(Double(Float(number)), at: parameter)
        case (.string, .string(let text)), (.uri, .uri(let text)):
            try statement.bind(text, at: parameter)
        case (.decimal, .decimal(let digits)):
            try bind(decimal: digits, to: statement)
        case (.uuid, .uuid(let bytes)) where bytes.count == 16:
            try bind(bytes, to: statement)
        case (.binary, .binary(let bytes)), (.transformable, .transformable(let bytes)):
            try bind(attribute.allowsExternalBinaryDataStorage ? external.cell(for: bytes) : bytes, to: statement)
        default:
            throw MigrationError(
                .dataConflict, "\(place) is of type \(attribute.type.name) and cannot hold \(value.kindPhrase).",
                place: place, remedy: "Give a value of the attribute's type.")
        }
    }

    private func bind(decimal digits: String, to statement: Statement) throws {
        switch DecimalStorage.value(digits) {
        case .integer(let number)?: try statement.bind(number, at: parameter)
        case .real(let number)?: try statement.bind(number, at: parameter)
        case .text(let text)?: try statement.bind(text, at: parameter)
        case .blob?, .null?, nil:
            throw MigrationError(
                .dataConflict,
                "\(place) is of type Decimal and cannot hold what is no number, or is beyond what a REAL keeps.",
                place: place, remedy: "Give a number in digits, such as 12.50.")
        }
    }

    private func bind(_ bytes: [UInt8], to statement: Statement) throws {
        try bytes.withUnsafeBytes { try statement.bind($0, at: parameter) }
    }
}

/// A writer of large values to files next to the store, which also gives the contents of their columns.
///
/// The files follow the transaction. New files are on disk before it commits, and are removed if it does not commit.
/// Replaced files are removed after it commits.
final class ExternalFiles {
    private let storage: ExternalStorage?
    private let connection: Connection
    private let system: any System
    private var isFolderMade = false
    private var written: [String] = []
    private var replaced: [String] = []

    /// - Parameters:
    ///   - storage: the external storage; nil for a store in memory, where all values stay in their columns.
    ///   - connection: the store, in a write transaction whenever a value is kept.
    init(_ storage: ExternalStorage?, of connection: Connection, _ system: some System) {
        (self.storage, self.connection, self.system) = (storage, connection, system)
    }

    /// Removes the files of a writer that is released without committing.
    deinit { finish(committed: false) }

    func cell(for value: [UInt8]) throws -> [UInt8] {
        guard let storage, value.count >= ExternalStorage.threshold else {
            return ExternalStorage.Cell.inline(value).bytes
        }
        if !isFolderMade {
            try storage.makeFolder(on: self.system)
            isFolderMade = true
        }
        // Remove files left by a process that died.
        if written.isEmpty { try storage.removeUnsaved(in: connection, on: system) }
        let name = system.uniqueIdentifier()
        try storage.noteUnsaved(name, on: system)
        written.append(name)
        try system.writeExactly(value, to: Path.join(storage.folder, name), storage.rights)
        return ExternalStorage.Cell.file(name).bytes
    }

    /// Records that a column will no longer hold this cell.
    func replace(_ cell: [UInt8]) {
        if case .file(let name)? = ExternalStorage.Cell(cell) { replaced.append(name) }
    }

    /// Waits until the new files have reached the disk.
    func synchronise() throws {
        guard let storage, !written.isEmpty else { return }
        for name in written { try system.synchronise(Path.join(storage.folder, name)) }
        for folder in [storage.folder, storage.supportFolder, Path.folder(of: storage.supportFolder)] {
            try system.synchronise(folder)
        }
    }

    /// A point in the transaction to which part of it may be rolled back.
    struct Mark {
        fileprivate let written: Int
        fileprivate let replaced: Int
    }

    var mark: Mark { Mark(written: written.count, replaced: replaced.count) }

    /// Rolls back to an earlier point of the transaction, the rest of which may still commit: removes the files written
    /// since then, and keeps the files replaced since then.
    func undo(since mark: Mark) {
        for name in written.dropFirst(mark.written) {
            if let storage { _ = try? system.remove(Path.join(storage.folder, name)) }
        }
        written.removeLast(max(0, written.count - mark.written))
        replaced.removeLast(max(0, replaced.count - mark.replaced))
    }

    /// Removes files that nothing refers to any more. A file that cannot be removed does no harm to the store.
    ///
    /// - Parameter committed: nil if unknown. The store may then hold either version of the rows, so no file is
    ///   removed.
    func finish(committed: Bool?) {
        for name in committed.map({ $0 ? replaced : written }) ?? [] {
            if let storage { _ = try? system.remove(Path.join(storage.folder, name)) }
        }
        if !written.isEmpty { try? storage?.forgetUnsaved(on: system) }
        (written, replaced) = ([], [])
    }
}
