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
        /// The transactions of its history; nil where there is none, or it is unknown.
        var transactions: Int?
        /// Whether a migration has put work off, and it has not been done.
        var isDeferred = false
        /// What values on the way to it make of a migration.
        var conflict = HistoryMapping.Conflict.none
    }

    let life: Life
    /// The run of the other store, where the life has two: that of the first store has the second's, which knows it.
    private(set) var other: LifeRun?
    private weak var first: LifeRun?
    private(set) var history: ModelHistory
    /// The models and the versions as the store has them: the entities of its configuration.
    private(set) var models: [HistoryModel]
    private(set) var versions: [ModelVersion]
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
    var damagedBackups: Set<String> = []
    /// The names of backups whose manifests were cut.
    var spoilt: Set<String> = []
    /// The highest key ever given in the table of a root entity, by the entity's number.
    var given: [Int: Int] = [:]
    /// The highest key by the store, of each root entity.
    var highest: [String: Int] = [:]
    /// The number of the last transaction of history that was given, by the store.
    var lastTransaction: Int?
    /// The transactions of its history.
    var saves: [StoreWitness.Transaction] = []
    /// The files of external data that the store's rows name.
    var namedFiles: Set<String> = []
    /// The digest of the store's file and its log, as the last step has left them.
    var bytes = ""
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
    /// The migration that the last step has left unfinished.
    var stopped: Stopped?
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
    var hasEnded = false
    /// The number of times that a fault has met work of Moult's own.
    var faulted = 0

    private(set) var trace: [String] = []
    var tally: [String: Int] = [:]
    /// The calls, the reads and SQLite's allocations of the last step with these words that met no fault.
    private(set) var calls: [String: Int] = [:]
    private(set) var reads: [String: Int] = [:]
    private(set) var allocations: [String: Int] = [:]

    /// - Parameter folder: a folder without links that does not exist yet.
    convenience init(_ life: Life, in folder: String) throws {
        let history = try ModelHistory(life.models, stages: life.stages, mappings: life.mappings)
        guard !history.models.isEmpty else { throw WitnessFailure("a life without a version") }
        var rest = history
        rest.isOther = true
        let (system, field) = (POSIXSystem(), folder + "/field")
        WatchedVFS.seedRandomness(life.seed)
        try system.makeFolder(folder)
        try system.makeFolder(field)
        try system.makeFolder(field + "/temporary")
        // A store of a gigabyte is enough.
        let parts = history.isDivided && life.profile != .long ? [history, rest] : [history]
        for part in parts { try LifeGround(life, part).make(at: "\(field)/\(Self.title(part)).sqlite") }
        let disk = try FaultDisk(field, nil, lie: life.plant == .lyingDisk ? .everywhere : .none)
        try disk.attach()
        try self.init(life, history, in: folder, disk)
        if history.isPlain { try checkClasses() }
        try settle([now], copied: [], isDone: false, isDamageAllowed: false)
        guard parts.count > 1 else { return }
        let second = try LifeRun(life, rest, in: folder, disk)
        (other, second.first) = (second, self)
        try second.settle([second.now], copied: [], isDone: false, isDamageAllowed: false)
    }

    private init(_ life: Life, _ history: ModelHistory, in folder: String, _ disk: FaultDisk) throws {
        (self.life, self.history, self.disk) = (life, history, disk)
        models = history.parts
        versions = history.models.indices.map(history.held)
        root = folder
        field = root + "/field"
        store = "\(field)/\(Self.title(history)).sqlite"
        now.transactions = life.ground.hasHistory ? 0 : nil
    }

    /// The name of a store's file.
    private static func title(_ history: ModelHistory) -> String { history.isOther ? "Other" : "Life" }
    /// What the names begin with of whatever else the run makes in its folder.
    var prefix: String { history.isOther ? "other " : "" }
    /// The run of the store beside this one, where the life has two.
    var beside: LifeRun? { first ?? other }

    /// SwiftData's classes have to be the models of the life.
    private func checkClasses() throws {
        DynamicModels.describe(history.models)
        for (version, known) in history.versions.versions.enumerated() {
            let schema = Schema(versionedSchema: DynamicModels.schema(version))
            let made = ModelVersion(names: ["made"], model: try schema.managedObjectModel())
            guard made.hashes.entities == known.hashes.entities else {
                let names = Set(made.hashes.entities.keys).union(known.hashes.entities.keys).sorted()
                let differing = names.filter { made.hashes.entities[$0] != known.hashes.entities[$0] }
                throw WitnessFailure("the classes of version \(version + 1) have other hashes: \(differing)")
            }
        }
    }

    /// Changes what no hash sees of the store's version: nothing in the store tells the two models apart.
    func retune() throws {
        let hashes = versions.map(\.hashes.entities)
        var changed = history.models
        changed[now.version].retune()
        let retuned = try ModelHistory(
            changed, stages: Array(history.stages.values), mappings: Array(history.mappings.values))
        try take(retuned)
        try beside?.take(retuned)
        guard versions.map(\.hashes.entities) == hashes else {
            throw LifeFailure(kind: "hashes differ", words: "after a change that no hash sees")
        }
    }

    private func take(_ retuned: ModelHistory) throws {
        let isOther = history.isOther
        history = retuned
        history.isOther = isOther
        models = history.parts
        versions = history.models.indices.map(history.held)
        // The command line reads the models again.
        commands = nil
        try system.removeTree(commandFolder)
    }

    var commandFolder: String { "\(root)/\(prefix)command" }

    func end() {
        letGo()
        other?.letGo()
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
            if step.isOther == true, let other { try pass(step, to: other) } else { try live(step) }
        } catch var failure as LifeFailure {
            failure.step = number
            throw failure
        } catch {
            throw LifeFailure(kind: "the simulator", words: "\(step.action.word): \(error)", step: number)
        }
    }

    /// Lets the run of the other store do a step.
    private func pass(_ step: Life.Step, to other: LifeRun) throws {
        other.follow(self)
        defer { (ahead, hasLostPower) = (other.ahead, other.hasLostPower) }
        let lines = other.trace.count
        try other.live(step)
        trace += other.trace[lines...]
        tally.merge(other.tally) { $0 + $1 }
        other.tally = [:]
    }

    /// Takes over the machine, and what befalls it, from the run of the other store.
    func follow(_ run: LifeRun) {
        (number, ahead, hasLostPower) = (run.number, run.ahead, run.hasLostPower)
        (action, armed, isTyped) = (run.action, run.armed, false)
    }

    private func live(_ step: Life.Step) throws {
        guard !hasEnded else { return }
        if step.action.isOfBoth {
            letGo()
            beside?.letGo()
        }
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
        if hit, !step.action.isOfProgram { faulted += 1 }
        if let death = disk.deathFault {
            letGo()
            beside?.letGo()
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
        // What a program writes is not compared: a wrong bit in it is found later, and the newest backup is restored.
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
        try settleBeside(work, ending, hit: hit, isDamageAllowed: isNoticed)
        let kinds = step.faults.map { ", \($0.kind)" }.joined()
        let what = "\(step.word)\(kinds)\(hit ? " hit" : "")"
        tally["\(what): \(ending.word)", default: 0] += 1
        let second = work.beside == nil ? "" : beside.map { ", \($0.stateDigest), \($0.bytes)" } ?? ""
        trace.append(
            "\(number) \(what): \(ending.word), \(called) calls, \(read) reads, \(stateDigest), \(bytes)\(second)")
    }

    /// Makes the folder that a move leads to.
    private func makePlace() throws {
        // Records and backups stay at each place that a store has left: in a long series, people tidy up.
        if life.profile == .rare {
            let taken = Set([store, appStore].map(Path.folder))
            for place in (1..<max(moves, 1)).map({ "\(field)/\(prefix)place \($0)" }) where !taken.contains(place) {
                try system.removeTree(place)
            }
        }
        moves += 1
        let folder = "\(field)/\(prefix)place \(moves)"
        try system.makeFolder(folder)
        try system.setMode(0o700, of: folder)
        destination = "\(folder)/\(Path.name(of: store))"
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

    /// No program has the store open any more.
    func letGo() {
        leaveRival()
        app?.close()
        app = nil
        reader?.close()
        reader = nil
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
