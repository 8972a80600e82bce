import Foundation
import Moult
import MoultBasics
import MoultCoreData
import MoultData
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultTesting
import TestSupport

/// Why a life failed.
struct LifeFailure: Error, CustomStringConvertible {
    /// The kind, which a smaller life has to share.
    let kind: String
    let words: String
    /// The step, from 0.
    var step = -1

    var description: String { "step \(step): \(kind): \(words)" }
}

/// The error of a save that says that nothing is saved.
struct NothingSaved: Error { let cause: any Error }

/// A life while it is lived: the store on the simulated disk, the programs that have it open, and the reference beside
/// it.
final class LifeRun {
    /// What the reference says that a store holds.
    struct Snapshot: Equatable {
        /// The position of its version.
        var version: Int
        var world = HistoryWorld()
        /// The transactions of its history; nil where there is none, or nobody knows.
        var transactions: Int?
        /// Whether a migration has put work off, and it has not been done.
        var isDeferred = false
        /// What values on the way to it make of a migration.
        var conflict = HistoryMapping.Conflict.none
    }

    let life: Life
    let history: ModelHistory
    /// The models and the versions as the store has them: the entities of its configuration.
    let models: [HistoryModel]
    let versions: [ModelVersion]
    let root: String
    let field: String
    let disk: FaultDisk
    let system = POSIXSystem()

    /// The store's path.
    var store: String
    var now = Snapshot(version: 0)
    /// The backups that are known, by their names.
    var backups: [String: Snapshot] = [:]
    /// The names of backups of a store that was known to be damaged when it was healed.
    private var damagedBackups: Set<String> = []
    /// The names of backups whose manifests were cut.
    var spoilt: Set<String> = []
    /// The highest key ever given in the table of a root entity, by the entity's number.
    var given: [Int: Int] = [:]
    /// The highest key by the store, of each root entity.
    var highest: [String: Int] = [:]
    /// The number of the last transaction of history that was given, by the store.
    private var lastTransaction: Int?
    /// The transactions of its history.
    private(set) var saves: [StoreWitness.Transaction] = []
    /// The files of external data that the store's rows name.
    private var namedFiles: Set<String> = []
    /// The digest of the store's file and its log, as the last step has left them.
    private var bytes = ""
    var app: (any Program)?
    /// The version and the path with which the app opened the store.
    var appVersion = 0
    var appStore = ""
    /// The second app.
    var rival: Rival?
    var reader: SQLiteFile?
    var moves = 0
    /// Where the store is being moved to.
    var destination: String?
    /// The second store that follows the store.
    var mirror: Mirror?
    /// The version that calls with a budget are on the way to.
    var paused: Int?
    /// What a rollback means that names no backup.
    var lastRun = LastRun.none
    /// What the step has damaged.
    private(set) var wound: Wound?
    /// What is in the quarantine, and may come back.
    var apart: Apart?
    private(set) var number = -1
    /// Whether the machine has lost power, after which the end of a log may be torn.
    private(set) var hasLostPower = false
    private var ahead: Int64 = 0
    private(set) var action = Life.Action.close
    /// Whether the command line does the step.
    private(set) var isTyped = false
    /// The command line, once it has been used.
    var commands: CommandFace?
    /// What befalls the disk in the step, and the memory.
    private(set) var armed: Set<Fault.Kind> = []
    /// Whether the store is damaged, and has no backup.
    private(set) var hasEnded = false

    private(set) var trace: [String] = []
    var tally: [String: Int] = [:]
    /// The calls, the reads and SQLite's allocations of the last step with these words that met no fault.
    private(set) var calls: [String: Int] = [:]
    private(set) var reads: [String: Int] = [:]
    private(set) var allocations: [String: Int] = [:]

    /// - Parameter folder: a folder without links that does not exist yet.
    init(_ life: Life, in folder: String) throws {
        self.life = life
        history = try ModelHistory(life.models, stages: life.stages, mappings: life.mappings)
        guard !history.models.isEmpty else { throw WitnessFailure("a life without a version") }
        models = history.models.map(\.held)
        versions = history.models.indices.map(history.held)
        root = folder
        field = root + "/field"
        store = field + "/Life.sqlite"
        WatchedVFS.seedRandomness(life.seed)
        try system.makeFolder(root)
        try system.makeFolder(field)
        try system.makeFolder(field + "/temporary")
        try LifeGround(life, history).make(at: store)
        disk = try FaultDisk(field, nil, lie: life.plant == .lyingDisk ? .everywhere : .none)
        try disk.attach()
        if history.isPlain { try checkClasses() }
        now.transactions = life.ground.hasHistory ? 0 : nil
        try settle([now], copied: [], isDone: false, isDamageAllowed: false)
    }

    /// SwiftData's classes have to be the models of the life.
    private func checkClasses() throws {
        DynamicModels.describe(models)
        for (version, known) in versions.enumerated() {
            let schema = Schema(versionedSchema: DynamicModels.schema(version))
            let made = ModelVersion(names: ["made"], model: try schema.managedObjectModel())
            guard made.hashes.entities == known.hashes.entities else {
                let names = Set(made.hashes.entities.keys).union(known.hashes.entities.keys).sorted()
                let differing = names.filter { made.hashes.entities[$0] != known.hashes.entities[$0] }
                throw WitnessFailure("the classes of version \(version + 1) have other hashes: \(differing)")
            }
        }
    }

    func end() {
        letGo()
        disk.detach()
        WatchedVFS.seedRandomness(nil)
        _ = try? system.removeTree(root)
    }

    /// The digest of everything that happened.
    var digest: String { Digest.sha256(trace.joined(separator: "\n").utf8).hexadecimal }

    func model(_ version: Int? = nil) -> HistoryModel { models[version ?? now.version] }
    func name(_ version: Int) -> String { history.versions.versions[version].name }

    // MARK: - One step

    /// How a step ended.
    enum Ending {
        case done
        case refused(MigrationError)
        case failed(any Error)
        case died

        var word: String {
            switch self {
            case .done: "done"
            case .refused(let error): "\(error.code)"
            case .failed(let error):
                error is MigrationError ? "\((error as? MigrationError)?.code.description ?? "")" : "failed"
            case .died: "died"
            }
        }
    }

    func run(_ step: Life.Step) throws {
        number += 1
        do {
            try live(step)
        } catch var failure as LifeFailure {
            failure.step = number
            throw failure
        } catch {
            throw LifeFailure(kind: "the simulator", words: "\(step.action.word): \(error)", step: number)
        }
    }

    private func live(_ step: Life.Step) throws {
        guard !hasEnded else { return }
        ahead += step.ahead
        (action, isTyped) = (step.action, step.isTyped == true)
        let faults = faults(of: step)
        let jump = faults.first { $0.kind == .clock }.map { fault in
            (look: fault.number, seconds: fault.seed % 2 == 0 ? Int64(-31_536_000) : 315_360_000)
        }
        if case .move = step.action { try makePlace() }
        if !keepsRival(step.action) { leaveRival() }
        wound = if case .mend(let damage) = step.action { try wound(by: damage) } else { nil }
        armed = Set(faults.map(\.kind))
        WatchedVFS.seedRandomness(life.seed &+ UInt64(number + 1))
        try disk.arm(faults, clock: TrialClock(era: UInt64(number + 1), jump: jump, ahead: ahead))
        let work = try work(step.action)
        let memory = faults.first(where: \.kind.isOfMemory)
        AllocationFaults.begin(failing: memory?.number, staysOut: memory?.kind == .memoryOn)
        let result = Result { try work.body() }
        let hit = !step.faults.isEmpty && hasMet
        let allocated = AllocationFaults.end()
        let (called, read) = (disk.operations.count, disk.readCount)
        if !hit {
            let word = step.word
            (calls[word], reads[word], allocations[word]) = (max(called, 1), max(read, 1), max(allocated, 1))
        }
        ahead += Int64(disk.clock.waited / 1_000)
        let (ending, candidates) = try judge(result, work, hit)
        if let death = disk.deathFault {
            letGo()
            try disk.settle()
            if death.kind.losesWrites { hasLostPower = true }
        } else if candidates.count > 1 {
            // Who has the store open shares the index of its log, which leaves out a commit whose sync failed; a copy
            // of the log has it. Which of the two holds is known when everybody has closed the store.
            letGo()
        }
        if let destination, try system.exists(destination) {
            if try system.exists(store) { throw LifeFailure(kind: "two stores", words: "after a move") }
            store = destination
        }
        destination = nil
        try disk.arm([], clock: TrialClock(era: UInt64(number + 1), ahead: ahead + 1_800))
        try checkRights()
        let isWrong = hit && armed.contains(.wrongBit)
        var (isNoticed, isRestore) = (false, false)
        if isWrong, case .failed(let error) = ending {
            // What was restored and is not the backup has to be restored again, whatever is in its rows.
            (isNoticed, isRestore) = (true, (error as? MigrationError)?.message.contains("The restored store") == true)
        }
        // Nobody compares what a program writes: its user has to be told by somebody else, and goes back.
        let isGivenUp = isWrong && step.action.isOfProgram
        try work.settleOutput()
        let found = try work.settleStore()
        if mirror != nil || work.second != nil {
            try settleMirror(work, ending, isDamageAllowed: isNoticed || isGivenUp)
        }
        let isDone = if case .done = ending { !hit } else { false }
        let (before, known) = (now, Set(backups.keys))
        let copied = if case .exportAndImport = step.action { Array(backups.values) } else { [Snapshot]() }
        try settle(
            isRestore || isGivenUp ? [] : found.map { [$0] } ?? candidates,
            copied: candidates + (work.new.map { [$0] } ?? []) + work.between + copied,
            isDone: isDone, isDamageAllowed: isNoticed || isGivenUp)
        noteRun(after: before, ending, hit: hit, known: known)
        let kinds = step.faults.map { ", \($0.kind)" }.joined()
        let what = "\(step.word)\(kinds)\(hit ? " hit" : "")"
        tally["\(what): \(ending.word)", default: 0] += 1
        trace.append("\(number) \(what): \(ending.word), \(called) calls, \(read) reads, \(stateDigest), \(bytes)")
    }

    /// Makes the folder that a move leads to.
    private func makePlace() throws {
        // Records and backups stay at each place that a store has left: in a long series, people tidy up.
        if life.profile == .rare {
            let taken = Set([store, appStore].map(Path.folder))
            for place in (1..<max(moves, 1)).map({ "\(field)/place \($0)" }) where !taken.contains(place) {
                try system.removeTree(place)
            }
        }
        moves += 1
        let folder = "\(field)/place \(moves)"
        try system.makeFolder(folder)
        try system.setMode(0o700, of: folder)
        destination = folder + "/Life.sqlite"
    }

    private var stateDigest: String {
        let objects = now.world.witnessed(in: model())
        let lines = objects.keys.sorted().flatMap { entity in
            (objects[entity] ?? [:]).sorted { $0.key < $1.key }.map { key, object in
                "\(entity) \(key) \(object.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })"
            }
        }
        let text = lines.joined(separator: "\n") + backups.keys.sorted().joined(separator: " ")
        return String(Digest.sha256(text.utf8).hexadecimal.prefix(16)) + " \(name(now.version))"
    }

    /// What a step does, and what the reference says of it.
    struct Work {
        /// The state that the work leads to; nil if it changes nothing.
        var new: Snapshot?
        /// Other states that a fault may leave.
        var between: [Snapshot] = []
        /// The codes of the refusals that the state gives a reason for.
        var refusals: Set<String> = []
        /// Whether it has to be refused.
        var mustBeRefused = false
        /// States that a refusal may leave.
        var reached: [Snapshot] = []
        /// What the work leads the second store of a mirror to; nil if it leaves it as it is.
        var second: Mirror?
        /// Whether it ends the mirror.
        var endsMirror = false
        /// Examines and removes what it has made at a path of its own: all of it is there, or nothing.
        var settleOutput: () throws -> Void = {}
        /// Ends what a fault has left half done, and finds the state of the store; nil if it is one of those above.
        var settleStore: () throws -> Snapshot? = { nil }
        /// Does it.
        ///
        /// - Returns: the state that the store must have now; nil for ``new``.
        var body: () throws -> Snapshot?
    }

    /// No program has the store open any more.
    private func letGo() {
        leaveRival()
        app?.close()
        app = nil
        reader?.close()
        reader = nil
    }

    // MARK: - What must hold

    /// Finds which of the states that there may be the store has, and checks everything else that must hold.
    ///
    /// - Parameters:
    ///   - copied: other states that a backup may have.
    ///   - isDone: whether the step ended well, and met no fault.
    private func settle(
        _ candidates: [Snapshot], copied: [Snapshot], isDone: Bool, isDamageAllowed: Bool
    ) throws {
        let (before, last, named, saved) = (now, lastTransaction, namedFiles, saves)
        do {
            now = try identify(store, among: candidates, "the store")
            if case .rollBack = action, let last, let given = lastTransaction, given < last {
                throw LifeFailure(kind: "law broken", words: "the transaction \(last) will be given again")
            }
            if case .trimHistory(let trim) = action, isDone, saves != trim.left(of: saved) {
                throw LifeFailure(kind: "history differs", words: "\(saves) are left of \(saved)")
            }
            // The states with and without deferred work have the same objects.
            if candidates.contains(where: \.isDeferred) { now.isDeferred = Migrator().hasDeferredWork(store) }
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
        let isMigrated = if case .migrate = action { now.version >= before.version } else { false }
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
    /// be read is there. The last of a version goes only if someone asks for it.
    private func noteBackups(among states: [Snapshot], isDone: Bool = false) throws {
        let listed = try StoreKeeper(store).backups().backups
        for backup in listed
        where backups[backup.name] == nil && !damagedBackups.union(spoilt).contains(backup.name) {
            if wound != nil {
                // It holds the damage, to which nobody goes back.
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
        if now.isDeferred { now.isDeferred = Migrator().hasDeferredWork(store) }
        // What was kept of the damaged store is nothing that anyone goes back to.
        for kept in try StoreKeeper(store).backups().backups
        where backups[kept.name] == nil && !spoilt.contains(kept.name) {
            try system.removeTree(Path.folder(of: kept.store))
        }
    }

    /// The use cases of the store, on the simulated disk.
    func keeper(_ options: RunOptions = RunOptions()) -> StoreKeeper {
        var options = options
        options.patience = .zero
        options.configuration = history.configuration
        let versions = history.versions
        var keeper = StoreKeeper(store, options, on: disk.system) { versions }
        keeper.isSequential = true
        return keeper
    }
}
