import MoultBasics
import MoultModel
import MoultSQLite
import MoultStore

extension MirroredStore {
    /// Copies the files that new rows refer to, durably, before the rows are written.
    func bringFiles(of step: MirrorStep, _ route: MirrorMapping) throws {
        let storage = ExternalStorage(store: route.replica)
        var isNew = false
        for name in try externalNames(of: step, route) where try storage.file(name, on: self.system) == nil {
            // A file that the followed store itself lacks is not the mirror's fault.
            guard let file = try step.external.lazy.compactMap({ try $0.file(name, on: self.system) }).first else {
                continue
            }
            try storage.makeFolder(on: self.system)
            let path = Path.join(storage.folder, name)
            let part = "\(path).\(system.uniqueName()).part"
            try system.copyExactly(file, to: part, storage.rights)
            try system.synchronise(part)
            try system.rename(part, to: path)
            isNew = true
        }
        guard isNew else { return }
        for folder in [storage.folder, storage.supportFolder, Path.folder(of: route.replica)] {
            try system.synchronise(folder)
        }
    }

    private func externalNames(of step: MirrorStep, _ route: MirrorMapping) throws -> Set<String> {
        let connection = try Connection(step.fresh, mode: .readWrite, isProven: true)
        defer { connection.close() }
        let layout = try replicaLayout(route)
        return try step.tables.reduce(into: []) { names, table in
            names.formUnion(
                try ExternalStorage.names(
                    in: connection, layout.externalColumns(of: table.name),
                    of: "main.\(table.name.quotedName) AS r WHERE 1"))
        }
    }

    /// Removes the files of deleted rows after the commit. A file that stays does no harm.
    func removeFiles(_ files: Set<String>, _ route: MirrorMapping, _ connection: Connection) {
        guard !files.isEmpty, let named = try? ExternalStorage.names(in: connection) else { return }
        let storage = ExternalStorage(store: route.replica)
        let gone = try? storage.droppable(files.subtracting(named), of: route.replica, on: system)
        for name in gone ?? [] { _ = try? system.remove(Path.join(storage.folder, name)) }
    }
}

extension StoreLayout {
    /// Returns the columns of an entity's table whose values may be in files; none for any other table.
    func externalColumns(of table: String) -> [String] {
        let columns = self.table(named: table)?.columns ?? []
        return columns.filter { column in
            guard case .attribute(let entity, let name) = column.role, let declaring = model.entity(entity) else {
                return false
            }
            return model.attribute(name, of: declaring)?.allowsExternalBinaryDataStorage == true
        }.map(\.name)
    }
}

// MARK: - Cells with the same value

extension ExternalStorage {
    /// Returns the SQL function `moult_kept(old, new)`: the cell `old`, if it names a file with the bytes that the cell
    /// `new` holds itself, and `new` otherwise.
    func keptCells(on system: any System) -> SQLiteFunction {
        SQLiteFunction("moult_kept", argumentCount: 2) { arguments in
            let (old, new) = (arguments[0], arguments[1])
            guard case .file(let name)? = old.blob.flatMap(Cell.init),
                case .inline(let bytes)? = new.blob.flatMap(Cell.init),
                try contents(of: name, on: system) == bytes
            else { return new }
            return old
        }
    }

    /// Returns the SQL function `name(cell)`: the digest of the value, in the row or in a file. Any other cell stays as
    /// it is, and so does the name of a file that none of the folders has.
    static func values(_ name: String, in folders: [ExternalStorage], on system: any System) -> SQLiteFunction {
        SQLiteFunction(name, argumentCount: 1) { arguments in
            let cell = arguments[0]
            switch cell.blob.flatMap(Cell.init) {
            case .inline(let bytes)?: return .blob(Digest.sha256(bytes))
            case .file(let name)?:
                for folder in folders {
                    if let bytes = try folder.contents(of: name, on: system) { return .blob(Digest.sha256(bytes)) }
                }
                return cell
            case nil: return cell
            }
        }
    }
}
