import MoultModel
import MoultSystem

/// What has to be true of a store's surroundings before anything is changed (DESIGN 5.3).
package enum Preflight {
    /// - Throws: `hardLinked`, `readOnly`.
    package static func checkFile(_ store: String, _ system: any System) throws {
        guard let status = try system.status(of: store) else {
            throw MigrationError(
                .fileNotFound, "Nothing is at \(store).", place: store, remedy: "Check the path of the store.")
        }
        guard status.links <= 1 else {
            throw MigrationError(
                .hardLinked, "The store has \(status.links) hard links: SQLite's journals lie beside one name only.",
                place: store, remedy: "Remove the other names, or copy the file and migrate the copy.")
        }
        let folder = Path.folder(of: store)
        for (path, what) in [(store, "store"), (folder, "store's folder")] where !system.isWritable(path) {
            throw MigrationError(
                .readOnly, "The \(what) cannot be written by this user.", place: path,
                remedy: "Make it writable, or copy the store to a folder that is.")
        }
    }
}

/// The room that a run needs, each number with its reason (K-04).
package struct SpaceRequirement: Sendable, Equatable {
    package struct Part: Sendable, Equatable {
        /// Such as "backup".
        package var reason: String
        /// The folder whose volume has to have the room.
        package var folder: String
        package var bytes: Int64
    }

    package var parts: [Part]

    package init(parts: [Part]) { self.parts = parts }

    /// - Parameters:
    ///   - size: the store's own bytes.
    ///   - newSize: about how many bytes it will have.
    ///   - external: the bytes of its external data.
    ///   - isFrugal: the copy that the script reads is gone before the commit, and none is kept.
    ///   - keptCopies: working copies that stay until the end, because steps may have to be undone on them.
    package init(
        sidecar: Sidecar, backups: String, temporary: String, size: Int64, newSize: Int64, external: Int64,
        isFrugal: Bool, isInPlace: Bool, keptCopies: Int = 0
    ) {
        let folder = Path.folder(of: sidecar.store)
        parts = [Part(reason: isFrugal ? "copy to read from" : "backup", folder: backups, bytes: size)]
        if external > 0, !isFrugal {
            parts.append(Part(reason: "backup of external data", folder: backups, bytes: external))
        }
        if !isInPlace {
            parts.append(Part(reason: "working copy", folder: folder, bytes: newSize))
            // An index is sorted in files of about its own size, a quarter of a large store's at most.
            parts.append(Part(reason: "sorting of indexes", folder: temporary, bytes: newSize / 4))
        }
        if keptCopies > 0 {
            let kept = newSize.multipliedReportingOverflow(by: Int64(keptCopies))
            parts.append(
                Part(
                    reason: "copies for undoing steps", folder: folder,
                    bytes: kept.overflow ? .max : kept.partialValue))
        }
        // Every page of the new store passes through the log, or every old one through the rollback journal.
        let log = max(size, newSize)
        parts.append(Part(reason: "commit log", folder: folder, bytes: isFrugal ? max(0, log - size) : log))
    }

    package var total: Int64 { parts.reduce(0) { $0 + $1.bytes } }

    /// - Throws: `insufficientStorage` that lists every number, for the first volume without the room.
    package func check(_ system: any System) throws {
        var needs: [(space: VolumeSpace, parts: [Part])] = []
        for part in parts {
            let space = try system.space(at: part.folder)
            if let known = needs.firstIndex(where: { $0.space.volume == space.volume }) {
                needs[known].parts.append(part)
            } else {
                needs.append((space, [part]))
            }
        }
        for (space, parts) in needs {
            let needed = parts.reduce(0) { $0 + $1.bytes }
            guard needed > space.available else { continue }
            let list = parts.map { "\($0.reason) \($0.bytes)" }.joined(separator: " + ")
            throw MigrationError(
                .insufficientStorage,
                "The migration needs \(needed) bytes (\(list)) and \(space.available) are free.",
                place: parts.first?.folder ?? "",
                remedy: "Free \(needed - space.available) bytes more, or use the frugal mode, which needs less.")
        }
    }
}
