import MoultModel
import MoultSQLite
import MoultSystem

extension StoreProbe {
    /// The error for a store that is sound by itself and damaged with the log or the journal next to it: such a file
    /// belongs to another store, or to another state of this one.
    ///
    /// - Returns: nil if no such file is there, or if the store is damaged without it too.
    package var foreignSideFile: MigrationError? {
        guard way != .immutable else { return nil }
        return Self.foreignSideFile(of: path, system) { true }
    }

    /// The same for a store that is not open.
    package static func foreignSideFile(of store: String, _ system: any System) -> MigrationError? {
        foreignSideFile(of: store, system) {
            do {
                return try !StoreProbe.read(store, system: system) { try isSound($0.connection) }
            } catch {
                return (error as? MigrationError)?.code == .sideFileForeign
            }
        }
    }

    /// - Parameter isDamaged: whether the store is damaged with its side files.
    private static func foreignSideFile(
        of store: String, _ system: any System, _ isDamaged: () -> Bool
    ) -> MigrationError? {
        let present = ["-wal", "-journal"].filter { suffix in
            (try? system.status(of: store + suffix)).flatMap { $0 }.map { $0.size > 0 } ?? false
        }
        guard !present.isEmpty, let alone = try? Connection(store, mode: .immutable) else { return nil }
        let isSoundAlone = (try? isSound(alone)) ?? false
        alone.close()
        guard isSoundAlone, isDamaged() else { return nil }
        let (names, isOne) = (present.joined(separator: " and the "), present.count == 1)
        let moves = present.map { suffix in
            "mv \((store + suffix).shellQuoted) \((store + suffix + ".old").shellQuoted)"
        }
        return MigrationError(
            .sideFileForeign,
            "The store is sound without the \(names) next to it, and damaged with \(isOne ? "it" : "them"), which "
                + "probably \(isOne ? "belongs" : "belong") to another file, or to another state of the store.",
            place: store + present[0],
            remedy:
                "If the store was copied, copy it again together with its \(names). Otherwise move the \(names) away "
                + "(\(moves.joined(separator: "; "))): the store is then as it was when it was last written back.")
    }

    private static func isSound(_ connection: Connection) throws -> Bool {
        let tables = try connection.catalogue().tables.map(\.name)
        return try tables.contains("Z_METADATA") && tables.contains("Z_PRIMARYKEY")
            && connection.text("PRAGMA quick_check(1)") == "ok"
    }
}
