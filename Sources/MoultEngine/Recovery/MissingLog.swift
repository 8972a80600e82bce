import MoultBasics
import MoultSQLite

/// A store in WAL mode with no WAL next to it.
///
/// The file alone does not say whether a WAL is missing: SQLite removes it when the last program closes the store.
/// Apple's SQLite leaves it there, empty.
///
/// Use it only for files that this process has no connection to.
package struct MissingLog {
    private let store: String
    private let system: any System
    /// The number of the SQLite that wrote the store's first page (the SQLite file format, section 1.3.18).
    private let writer: Int

    /// Returns nil for a file that is not in WAL mode, and for one with a WAL, which may be empty.
    package init?(of store: String, _ system: any System) throws {
        guard try !system.exists(store + "-wal"), try Self.usesWAL(store, system) else { return nil }
        (self.store, self.system) = (store, system)
        writer = try system.read(store, prefix: 100).dropFirst(96).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns whether the file at a path is a database in WAL mode.
    package static func usesWAL(_ path: String, _ system: any System) throws -> Bool {
        try system.read(path, prefix: 20).isInWALMode
    }

    /// Returns the evidence that the store had a WAL when it was last used, or was used on another machine; nil if there
    /// is none.
    private func evidence() throws -> String? {
        if try system.exists(store + "-shm") { return "its -shm is still there" }
        guard writer > 0, writer != Connection.versionNumber else { return nil }
        let number = "\(writer / 1_000_000).\(writer / 1_000 % 1_000).\(writer % 1_000)"
        return "it was last written by SQLite \(number), not by that of this program (\(Connection.version))"
    }

    /// Returns a note about a store that may have been copied without its WAL.
    ///
    /// - Parameter isReadable: whether the store can be read. Data that cannot be read may be in the missing WAL.
    package static func findings(
        of store: String, isReadable: Bool = true, _ system: any System
    ) throws -> [Finding] {
        guard let log = try MissingLog(of: store, system),
            let evidence = try log.evidence() ?? (isReadable ? nil : "the store cannot be read as it is")
        else { return [] }
        return [
            Finding(
                code: "wal-missing", severity: .note, place: store,
                message: """
                    The store is in WAL mode, and there is no -wal next to it; \(evidence). If it was copied while an \
                    app had it open, what the app wrote since the last checkpoint is missing. The file does not show \
                    whether it is.
                    """,
                remedy: """
                    Copy the -wal together with the store. If the app had closed the store before it was copied, \
                    nothing is missing.
                    """)
        ]
    }
}
