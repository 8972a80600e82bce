import MoultEngine
import MoultModel
import MoultSQLite
import MoultStore
import MoultSystem

extension MirroredStore {
    /// The rows, the metadata and the mark in one transaction.
    func write(_ step: MirrorStep, _ route: MirrorRoute, _ mark: MirrorMark) throws -> MirrorChanges {
        let connection = try Connection(
            route.replica, mode: .readWrite, busyTimeout: Self.patience, isProven: true)
        defer { connection.close() }
        watch(connection)
        try connection.execute("PRAGMA synchronous = FULL; PRAGMA temp_store = FILE")
        try connection.registerCoreDataStubs()
        try MirrorContents.register(on: connection)
        try connection.attach(step.fresh, as: "fresh", mode: .readWrite)
        // Only the store that follows is to be written durably.
        try connection.execute("PRAGMA fresh.journal_mode = OFF; PRAGMA fresh.synchronous = OFF")
        do {
            let application = try connection.transaction(.immediate) { try write(step, route, mark, connection) }
            removeFiles(application.files, route, connection)
            return application.changes
        } catch let error as MigrationError where error.code == .sqlite && error.cause?.contains("constraint") == true {
            throw MigrationError(
                .dataConflict, "Two objects would have the same value, which must be unique in \(route.to.name).",
                place: route.primary, remedy: "Change one of them. Both stores are unchanged.", cause: error.cause)
        } catch {
            // A log whose synchronisation failed holds the transaction, and the next process would find it there.
            try? connection.run("PRAGMA main.wal_checkpoint(TRUNCATE)")
            throw error
        }
    }

    private func write(_ step: MirrorStep, _ route: MirrorRoute, _ mark: MirrorMark, _ connection: Connection) throws
        -> MirrorApplication
    {
        let present = try StoreMetadata(from: connection)
        let layout = try StoreLayout(actual: StoreSnapshot(connection), model: route.to.model)
        let all = MirroredTable.all(of: layout)
        let sums = step.means == .comparison ? try MirrorContents.sums(connection, all) : mark.contents
        var application = try MirrorApplication(connection, sums: sums)
        // Triggers that keep derived values would count twice; those of R-trees have their work to do.
        let triggers = try connection.catalogue().triggers.filter { $0.kind != .rTree }.map(\.entry)
        try connection.withoutTriggers(triggers) {
            for table in step.tables { try application.apply(table) }
            let names = Set(all.map(\.name))
            let contents = application.sums.filter { names.contains($0.key) }
            for (root, highest) in step.highestKeys {
                try connection.run(
                    "UPDATE Z_PRIMARYKEY SET Z_MAX = ?2 WHERE Z_ENT = ?1 AND (typeof(Z_MAX) <> 'integer' OR Z_MAX < ?2)",
                    [.integer(Int64(root)), .integer(highest)])
            }
            var metadata = merged(step.metadata, into: present, route)
            metadata.entries[MirrorMark.key] =
                MirrorMark(identifier: record.identifier, transaction: step.transaction, contents: contents).entry
            if metadata != present { try metadata.write(to: connection) }
        }
        try checkCancelled()
        return application
    }

    /// Removes the files of rows that are gone, once that is committed. What stays does no harm to the store.
    private func removeFiles(_ files: Set<String>, _ route: MirrorRoute, _ connection: Connection) {
        guard !files.isEmpty, let named = try? ExternalStorage.names(in: connection) else { return }
        let storage = ExternalStorage(store: route.replica)
        let gone = try? storage.droppable(files.subtracting(named), of: route.replica, on: system)
        for name in gone ?? [] { _ = try? system.remove(Path.join(storage.folder, name)) }
    }

    /// Returns the present metadata with the application's entries of the source. The entries that identify the version
    /// stay.
    private func merged(_ source: StoreMetadata, into present: StoreMetadata, _ route: MirrorRoute) -> StoreMetadata {
        var metadata = present
        for key in present.applicationEntries.keys where source.entries[key] == nil { metadata.entries[key] = nil }
        for (key, value) in source.applicationEntries { metadata.entries[key] = value }
        return metadata
    }

    /// Files that new rows refer to are there, and durable, before the rows are.
    func bringFiles(of step: MirrorStep, _ route: MirrorRoute) throws {
        let storage = ExternalStorage(store: route.replica)
        var isNew = false
        for name in try externalNames(of: step, route) where try storage.file(name, on: system) == nil {
            // What the store refers to and has not, is not the mirror's fault.
            guard let file = try step.external.lazy.compactMap({ try $0.file(name, on: system) }).first else {
                continue
            }
            try storage.makeFolder(on: system)
            let path = Path.join(storage.folder, name)
            let part = "\(path).\(system.uniqueName()).part"
            try system.copy(file, to: part, storage.rights)
            try system.synchronise(part)
            try system.rename(part, to: path)
            isNew = true
        }
        guard isNew else { return }
        for folder in [storage.folder, storage.supportFolder, Path.folder(of: route.replica)] {
            try system.synchronise(folder)
        }
    }

    private func externalNames(of step: MirrorStep, _ route: MirrorRoute) throws -> Set<String> {
        let connection = try Connection(step.fresh, mode: .readWrite)
        defer { connection.close() }
        let layout = try StoreLayout(actual: snapshot(of: route.replica), model: route.to.model)
        var names: Set<String> = []
        for table in layout.tables where step.tables.contains(where: { $0.name == table.name }) {
            for column in table.columns {
                guard case .attribute(let entity, let name) = column.role,
                    layout.model.entity(entity)?.attribute(name)?.allowsExternalBinaryDataStorage == true
                else { continue }
                let value = column.name.quotedName
                let cells = try connection.rows(
                    "SELECT \(value) FROM \(table.name.quotedName) WHERE substr(\(value), 1, 1) = x'02'"
                ) { $0.blob(0) ?? [] }
                for case .file(let name)? in cells.map(ExternalStorage.Cell.init) { names.insert(name) }
            }
        }
        return names
    }
}
