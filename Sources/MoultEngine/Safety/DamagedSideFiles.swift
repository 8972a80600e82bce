import MoultModel
import MoultPages
import MoultSystem

/// A log or a rollback journal that SQLite applies in part, or not at all, and then removes without a word.
///
/// What a dead run of Moult left is not looked at: its journal says what becomes of it.
package struct DamagedSideFiles {
    private let sidecar: Sidecar
    private let system: any System

    init(_ sidecar: Sidecar, _ system: any System) { (self.sidecar, self.system) = (sidecar, system) }

    /// Copies what SQLite would leave out, before a connection is opened; once, as long as it stays there.
    ///
    /// - Parameter isAlone: whether no other process writes now: a living writer's log or journal ends anywhere.
    /// - Returns: the folder of the copies, and whether it is new; nil if nothing is damaged.
    /// - Throws: what the disk says.
    func keep(isAlone: Bool) throws -> (folder: String, isNew: Bool)? {
        for _ in 0..<3 {
            let damaged = try damaged(isAlone: isAlone)
            guard !damaged.isEmpty else { return nil }
            do {
                return try keep(damaged)
            } catch {
                // A living process has removed it: nothing of it was lost, and another one may be there still.
                let hasGone = try damaged.contains { try !system.exists(sidecar.store + $0.suffix) }
                guard hasGone else { throw error }
            }
        }
        return nil
    }

    private func damaged(isAlone: Bool) throws -> [(suffix: String, reason: String)] {
        guard try !system.exists(sidecar.journal) else { return [] }
        var damaged: [(suffix: String, reason: String)] = []
        if isAlone, let reason = try present("-wal", { try LogFrames($0, system).fault }) {
            damaged.append(("-wal", reason))
        }
        let journal = try present("-journal") { path in
            let journal = try RollbackJournal(path, system)
            return isAlone ? journal.playbackFault : journal.headerFault
        }
        if let journal { damaged.append(("-journal", journal)) }
        return damaged
    }

    private func keep(_ damaged: [(suffix: String, reason: String)]) throws -> (folder: String, isNew: Bool) {
        if let known = try copies(of: damaged.map(\.suffix)) { return (known, false) }
        let folder = Path.join(sidecar.damaged, "\(system.now.iso8601Basic)-\(system.uniqueName().prefix(8))")
        do {
            try system.makeFolder(sidecar.damaged)
            try system.makeFolder(folder)
            for (suffix, _) in damaged {
                let copy = Path.join(folder, Path.name(of: sidecar.store) + suffix)
                try system.copy(sidecar.store + suffix, to: copy)
                try system.synchronise(copy)
            }
            for path in [folder, sidecar.damaged, sidecar.folder] { try system.synchronise(path) }
        } catch {
            discard(folder)
            throw error
        }
        for (suffix, reason) in damaged {
            MigrationLog(sidecar, system).append("A copy of the \(suffix) is in \(folder): \(reason)")
        }
        return (folder, true)
    }

    /// Removes a folder of copies that are not needed, and the one that it is in if nothing else is there.
    func discard(_ folder: String) {
        _ = try? system.removeTree(folder)
        // Fails as long as there are copies of others.
        _ = try? system.remove(sidecar.damaged)
    }

    /// The folder that has copies of the files as they are.
    private func copies(of suffixes: [String]) throws -> String? {
        guard try system.exists(sidecar.damaged) else { return nil }
        let name = Path.name(of: sidecar.store)
        return try system.list(sidecar.damaged).map { Path.join(sidecar.damaged, $0) }.first { folder in
            try suffixes.allSatisfy { suffix in
                let copy = Path.join(folder, name + suffix)
                return try system.exists(copy) && system.digest(of: copy) == system.digest(of: sidecar.store + suffix)
            }
        }
    }

    /// - Parameter find: what is wrong with the file of that path.
    /// - Returns: nil for a file that is not there, or went away while it was read.
    private func present(_ suffix: String, _ find: (String) throws -> String?) throws -> String? {
        let path = sidecar.store + suffix
        guard let size = try system.status(of: path)?.size, size > 0 else { return nil }
        do {
            return try find(path)
        } catch {
            guard try system.exists(path) else { return nil }
            throw error
        }
    }
}

extension DamagedSideFiles {
    /// Returns the findings about parts of a store's log and rollback journal that SQLite would leave out, without
    /// changing anything.
    ///
    /// - Parameter remedy: what to do about it.
    package static func findings(
        beside store: String, _ system: any System, remedy: Remedy = "\(.salvage) reads what is left of it."
    ) throws -> [Finding] {
        try ["-wal", "-journal"].compactMap { suffix in
            let path = store + suffix
            let before = try system.status(of: path)
            guard before?.kind == .file else { return nil }
            let log = suffix == "-wal" ? try LogFrames(path, system) : nil
            let fault = try log == nil ? RollbackJournal(path, system).playbackFault : log?.fault
            // A living writer's ends anywhere.
            guard try system.status(of: path) == before else { return nil }
            guard let fault else {
                return log?.isTorn == true ? LogFrames.tornFinding(path) : nil
            }
            return Finding(
                code: code, severity: .warning, place: path,
                message: "The \(suffix) next to the store is damaged, and what it held may be lost. \(fault)",
                remedy: remedy)
        }
    }

    package static let code = "side-file-damaged"
}

extension LogFrames {
    /// A sentence about the part of the log that SQLite leaves out; nil if there is none.
    var fault: String? {
        if isHeaderDamaged { return "It does not begin like a log; SQLite ignores it." }
        guard unreadable > 0 else { return nil }
        return "SQLite leaves out the last \(unreadable) of its \(Quantity.count(count, "frame"))."
    }

    /// The possible meanings of a log that ends inside a frame.
    package static let tornTail =
        "if a copy of it was cut off, the last commits are missing. After a power cut only an unfinished one is."

    /// No fault of the store: what SQLite leaves out may never have been committed.
    static func tornFinding(_ path: String) -> Finding {
        Finding(
            code: "side-file-torn", severity: .note, place: path,
            message: "The -wal next to the store ends inside a frame, which SQLite ignores: \(tornTail)",
            remedy: "If the store was copied, copy it and its -wal again.")
    }
}
