import MoultSQLite

/// The changes to be made to a store, as statements: a bound plan lowered to SQL. Running it is the engine's business.
///
/// The statements run in order, in one transaction, on a connection whose `main` is the working copy or the store
/// itself (``Place``) and whose schema `source` is the unchanged backup of the store.
package struct StoreScript: Sendable, Equatable {
    /// The way in which the tables get to the new version, where there is a choice.
    package enum Choice: Sendable, Hashable {
        /// Each in the cheapest safe way.
        case cheapest
        /// Every one whose text changes is made anew, with its columns in the order of a new store.
        case normalised
        /// By the catalogue alone, in a time that does not grow with the rows, or not at all. Indexes keep their names,
        /// as after Core Data's own in-place migration.
        case inPlace
    }

    package var statements: [Statement]
    /// The place where a script may run.
    package enum Place: String, Sendable, Hashable {
        /// On a working copy.
        case copy
        /// On the store itself, next to its backup, or on a working copy: every table stays.
        case store
        /// On the store itself: it touches the catalogue and the metadata only.
        case catalogue
    }

    package var place: Place
    /// Whether the script touches the catalogue and the metadata only, and runs on the store itself.
    package var isInPlace: Bool { place == .catalogue }
    /// Whether a statement writes rows, or may.
    package var writesRows: Bool {
        statements.contains { [.fill, .update, .delete, .dropColumn].contains($0.kind) && $0.rows != 0 }
    }
    /// Whether it leaves behind what takes long.
    package var isDeferred = false
    /// Whether anything is lost at once, as an object of an app that has no place in the new version.
    package var needsBackup = true
    /// The mappings that carry over persistent history's column sets, by source entity number.
    package var historyColumns: [Int: HistoryColumns]
    /// The app's own definitions and objects that stay: in Core Data's tables, by their names, and next to them.
    package struct Kept: Sendable, Equatable {
        package var definitions: [String: OwnDefinitions] = [:]
        package var objects = KeptObjects()

        package init() {}

        init(definitions: [String: OwnDefinitions], objects: KeptObjects) {
            (self.definitions, self.objects) = (definitions, objects)
        }
    }

    package internal(set) var kept = Kept()
    /// The closures that statements call.
    let transforms: [TransformFunction]

    package init(statements: [Statement], isInPlace: Bool = false, historyColumns: [Int: HistoryColumns] = [:]) {
        self.init(statements: statements, isInPlace: isInPlace, historyColumns: historyColumns, transforms: [])
    }

    init(
        statements: [Statement], isInPlace: Bool = false, historyColumns: [Int: HistoryColumns],
        transforms: [TransformFunction]
    ) {
        self.transforms = transforms
        self.statements = statements
        place = isInPlace ? .catalogue : .copy
        self.historyColumns = historyColumns
    }
}

extension StoreScript {
    /// The functions that the statements call, beside those of ``FormatFunctions``.
    ///
    /// - Parameter externalFile: the bytes of the external data file of that name.
    package func functions(externalFile: @escaping @Sendable (String) throws -> [UInt8]) -> [SQLiteFunction] {
        let columns = historyColumns
        return [
            SQLiteFunction("moult_history_columns", argumentCount: 2) { arguments in
                guard !arguments.isNull(1) else { return .null }
                guard let carry = columns[Int(clamping: arguments.integer(0))] else { return arguments[1] }
                return .blob(arguments.withBytes(1) { carry.carry(Array($0)) })
            },
            SQLiteFunction("moult_inline", argumentCount: 1) { arguments in
                try Self.inline(arguments[0], externalFile)
            },
        ] + transforms.map(\.function)
    }

    /// The bytes themselves of a value kept with external storage: after a leading 1, or in the file named after a
    /// leading 2. What is neither is kept as it is.
    private static func inline(_ value: SQLiteValue, _ externalFile: (String) throws -> [UInt8]) throws -> SQLiteValue {
        guard let bytes = value.blob, let mark = bytes.first else { return value }
        switch mark {
        case 1: return .blob(Array(bytes.dropFirst()))
        case 2:
            let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            return .blob(try externalFile(name))
        default: return value
        }
    }
}
