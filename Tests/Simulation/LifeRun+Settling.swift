import Foundation
import MoultBasics
import MoultEngine
import MoultModel
import MoultSession

/// What must hold after each step.
extension LifeRun {
    /// Finds which of the states that there may be the store has, and checks everything else that must hold.
    ///
    /// - Parameters:
    ///   - copied: other states that a backup may have.
    ///   - isDone: whether the step ended well, and met no fault.
    func settle(
        _ candidates: [Snapshot], copied: [Snapshot], isDone: Bool, isDamageAllowed: Bool
    ) throws {
        let (before, last, named, saved) = (now, lastTransaction, namedFiles, saves)
        do {
            now = try identify(store, among: candidates, "the store")
            if case .rollBack = action, let last, let given = lastTransaction, given < last {
                throw LifeFailure(kind: "law broken", words: "the transaction \(last) will be given again")
            }
            if isDone, let left = left(of: saved), saves != left {
                throw LifeFailure(kind: "history differs", words: "\(saves) are left of \(saved)")
            }
            // The states with and without deferred work have the same objects.
            if candidates.contains(where: \.isDeferred) { now.isDeferred = try Migrator().hasDeferredWork(store) }
        } catch let failure as LifeFailure where isDamageAllowed {
            try noteBackups(among: [before] + candidates + copied)
            try heal(failure)
            guard !hasEnded else { return }
            // What a program's damaged store gave since the backup is not known where it cannot be read.
            if action.isOfProgram { given = [:] }
        }
        try noteKeys(after: before)
        if isDone, !before.isDeferred, !now.isDeferred { try checkFiles(namedBefore: named) }
        try noteReach()
        if isQuiet { return }
        try noteBackups(among: [before, now] + candidates + copied, isDone: isDone)
        try checkRights()
    }

    /// Whether a step of a long series touches no record, so that they are looked at after the next that does.
    var isQuiet: Bool {
        let isAsking = if case .ask = action { true } else { action.isOfProgram }
        return isAsking && life.profile == .rare && armed.isEmpty && mirror == nil
    }

    /// Counts the bounds that a long life crosses.
    private func noteReach() throws {
        guard life.profile == .long else { return }
        if try system.status(of: store)?.size ?? 0 > 1 << 30 { tally["beyond 2^30 bytes"] = 1 }
        if highest.values.contains(where: { $0 > 1 << 31 }) { tally["beyond the key 2^31"] = 1 }
    }

    /// Which of the candidates a store is, by the witness.
    func identify(_ path: String, among candidates: [Snapshot], _ what: String) throws -> Snapshot {
        let copy = try copy(path)
        // Of a gigabyte, it would take longer than the step.
        if path == store, life.profile != .long { bytes = try digest(of: copy) }
        let hashes: [String: [UInt8]]
        do {
            hashes = try StoreWitness.hashes(copy)
        } catch {
            throw LifeFailure(kind: "unreadable", words: "\(what): \(error)")
        }
        let known = versions.filter { $0.hashes.entities == hashes }.map(\.name)
        let wanted = candidates.map { name($0.version) }
        var difference = "it is of \(known.first ?? "no version"), and may be of \(wanted.joined(separator: ", "))"
        var kind = "another version"
        for candidate in candidates {
            guard versions[candidate.version].hashes.entities == hashes else { continue }
            do {
                let model = model(candidate.version)
                let witness = try StoreWitness(copy, model, support: Self.support(of: path))
                if let found = Self.difference(candidate.world.witnessed(in: model), witness.objects) {
                    (kind, difference) = ("objects differ", found)
                    continue
                }
                if let complaint = witness.complaints.first {
                    (kind, difference) = ("law broken", complaint)
                    continue
                }
                if let wanted = candidate.transactions, let found = witness.history?.count, wanted != found {
                    (kind, difference) = ("history differs", "\(found) transactions instead of \(wanted)")
                    continue
                }
                var state = candidate
                state.transactions = witness.history?.count
                if path == store {
                    (highest, lastTransaction) = (witness.highest, witness.lastTransaction)
                    (namedFiles, saves) = (witness.namedFiles, witness.history ?? [])
                }
                return state
            } catch {
                (kind, difference) = ("unreadable", "\(error)")
            }
        }
        throw LifeFailure(kind: kind, words: "\(what): \(difference)")
    }

    /// The path of a copy that SQLite may recover, with what lies beside the store.
    func copy(_ path: String) throws -> String {
        let folder = root + "/copy"
        try system.removeTree(folder)
        try system.makeFolder(folder)
        for suffix in ["", "-wal", "-journal"] where try system.exists(path + suffix) {
            try system.copy(path + suffix, to: "\(folder)/\(Path.name(of: path))\(suffix)", .byUmask)
        }
        return "\(folder)/\(Path.name(of: path))"
    }

    private func digest(of path: String) throws -> String {
        let files = try ["", "-wal"].filter { try system.exists(path + $0) }
        let parts = try files.map { try $0 + system.digest(of: path + $0).hexadecimal }
        return String(Digest.sha256(parts.joined(separator: " ").utf8).hexadecimal.prefix(16))
    }

    static func support(of path: String) -> String {
        let stem = Path.name(of: path).split(separator: ".").dropLast().joined(separator: ".")
        return "\(Path.folder(of: path))/.\(stem)_SUPPORT"
    }

    /// The first difference; nil if there is none.
    static func difference(_ expected: WitnessedObjects, _ found: WitnessedObjects) -> String? {
        func nonEmpty(_ objects: WitnessedObjects) -> WitnessedObjects { objects.filter { !$0.value.isEmpty } }
        let (expected, found) = (nonEmpty(expected), nonEmpty(found))
        guard expected != found else { return nil }
        let entity = Set(expected.keys).union(found.keys).sorted().first { found[$0] != expected[$0] } ?? ""
        let (theirs, ours) = (expected[entity] ?? [:], found[entity] ?? [:])
        let key = Set(theirs.keys).union(ours.keys).sorted().first { theirs[$0] != ours[$0] } ?? 0
        guard let right = theirs[key] else { return "\(entity) \(key) should not be there" }
        guard let wrong = ours[key] else { return "\(entity) \(key) is missing" }
        let names = Set(right.keys).union(wrong.keys).sorted().filter { right[$0] != wrong[$0] }
        return "\(entity) \(key): "
            + names.map {
                "\($0) is \(wrong[$0]?.prefix(90) ?? "missing") instead of \(right[$0]?.prefix(90) ?? "missing")"
            }.joined(separator: ", ")
    }

    /// A key is given once, whatever was restored since.
    private func noteKeys(after before: Snapshot) throws {
        let model = model()
        // The keys of an entity that goes into another table, or comes back from one, are keys of that table.
        for (old, key) in given where model.entity(old) != nil && model.root(of: old) != old {
            given[old] = nil
            given[model.root(of: old), default: 0] = max(given[model.root(of: old)] ?? 0, key)
        }
        let isDowngrade = if case .downgrade = action { true } else { false }
        let isMigrated =
            switch action {
            case .migrate, .migrateBoth: now.version >= before.version
            default: false
            }
        given = given.filter { number, _ in
            // Only backups, which a downgrade does not read, have the counter of an entity that the newer version lacks.
            if isDowngrade { return self.model(before.version).entity(number) != nil }
            // A name that two entities have had does not tell which of them another state of the store means.
            return isMigrated || now.version == before.version || !sharesName(number)
        }
        for (_, object) in now.world.objects {
            let root = model.root(of: object.entity)
            given[root] = max(given[root] ?? 0, object.key)
        }
        for root in model.entities where root.parent == nil {
            if let highest = highest[root.name], highest < given[root.id] ?? 0 {
                throw LifeFailure(kind: "law broken", words: "Z_MAX of \(root.name) is below a key that was given")
            }
        }
    }

    /// Whether another entity has had one of the names of an entity.
    private func sharesName(_ number: Int) -> Bool {
        let entities = history.models.flatMap(\.entities)
        let names = Set(entities.filter { $0.id == number }.map(\.name))
        return entities.contains { $0.id != number && names.contains($0.name) }
    }

    /// Every backup has a name only when it is whole, and holds a state that the store had. One whose manifest cannot
    /// be read is there. The last of a version is removed only on request.
    private func noteBackups(among states: [Snapshot], isDone: Bool = false) throws {
        let listed = try StoreKeeper(store).backups().backups
        for backup in listed
        where backups[backup.name] == nil && !damagedBackups.union(spoilt).contains(backup.name) {
            if wound != nil {
                // It holds the damage, and is not restored.
                try system.removeTree(backup.folder)
                continue
            }
            if let error = backup.error { throw LifeFailure(kind: "backup broken", words: "\(error)") }
            backups[backup.name] = try identify(backup.store, among: states, "the backup \(backup.name)")
        }
        let names = Set(listed.map(\.name))
        let isMoved = if case .move = action { true } else { false }
        let isKeeping = isDone && !isMoved && wound == nil && life.profile != .long
        if isKeeping, let lost = spoilt.subtracting(names).min() {
            throw LifeFailure(kind: "backup lost", words: "\(lost), whose manifest cannot be read")
        }
        let isAsked = if case .prune = action { true } else { false }
        for version in Set(backups.values.map(\.version)).sorted() where isKeeping && !isAsked {
            guard !backups.contains(where: { $0.value.version == version && names.contains($0.key) }) else { continue }
            throw LifeFailure(kind: "backup lost", words: "the last one of \(name(version))")
        }
        backups = backups.filter { names.contains($0.key) }
        spoilt.formIntersection(names)
    }

    /// A verb that drops rows, or puts others in their place, accounts for their files of external data.
    private func checkFiles(namedBefore: Set<String>) throws {
        switch action {
        case .rollBack, .downgrade: break
        case .migrateBoth(_, .coreData): break
        case .migrate(_, let way, _): guard [.plain, .normalised, .container].contains(way) else { return }
        default: return
        }
        let folder = Self.support(of: store) + "/_EXTERNAL_DATA"
        guard
            let left = try namedBefore.subtracting(namedFiles).sorted().first(where: { name in
                try system.exists("\(folder)/\(name)")
            })
        else { return }
        throw LifeFailure(kind: "file left", words: "no row names \(left) any more")
    }

    /// Restores the newest backup, as a person does whose store was damaged by the disk and who was told.
    private func heal(_ failure: LifeFailure) throws {
        letGo()
        (paused, lastRun) = (nil, .unknown)
        guard let name = backups.keys.max() else {
            hasEnded = true
            if action.isOfProgram { return }
            throw LifeFailure(kind: failure.kind, words: "noticed, and without a backup: \(failure.words)")
        }
        tally["healed", default: 0] += 1
        try endMirror()
        let expected = backups[name]
        do {
            let report = try keeper().rollback(to: name)
            if let saved = report.saved { damagedBackups.insert(saved.name) }
        } catch {
            throw LifeFailure(kind: "not healed", words: "\(failure.words); then \(error)")
        }
        now = try identify(store, among: expected.map { [$0] } ?? [], "the store that was healed")
        if now.isDeferred { now.isDeferred = try Migrator().hasDeferredWork(store) }
        // What was kept of the damaged store is nothing that anyone goes back to.
        for kept in try StoreKeeper(store).backups().backups
        where backups[kept.name] == nil && !spoilt.contains(kept.name) {
            try system.removeTree(Path.folder(of: kept.store))
        }
    }
}
