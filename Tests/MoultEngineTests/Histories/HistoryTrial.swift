import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport

@testable import MoultEngine

/// One generated history, one store full of hostile data of one of its versions, and the three ways to a later one.
struct HistoryTrial {
    let history: ModelHistory
    let (from, to): (Int, Int)
    private let folder: ScratchFolder
    private let store: String
    private let world: HistoryWorld

    struct Difference: Error, CustomStringConvertible { let description: String }

    /// - Parameter objects: of each entity, at most.
    init(_ history: ModelHistory, from: Int, to: Int, objects: Int, seed: UInt64) throws {
        self.history = history
        (self.from, self.to) = (from, to)
        folder = try ScratchFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/start", withIntermediateDirectories: true)
        store = folder.path + "/start/World.sqlite"
        let maker = try StoreCreator(history.versions.versions[from])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        var random = HistoryRandom(seed: seed)
        world = try HistoryWorld(history.models[from], count: objects, writer: writer, using: &random)
        try writer.finish()
        try compare(store, with: world, at: from, "the store that was made")
    }

    /// What became of the three ways.
    struct Tally {
        var objects = 0
        var passes = 0
        var steps = 0
        /// Edges with code of an app.
        var stages = 0
        /// Edges with a mapping model, and what it computes: kinds of values, policies.
        var mappings = 0
        var computed: [String: Int] = [:]
        var returned = 0
        var outcomes: [String: Int] = [:]
    }

    /// Runs the three ways and throws the first difference.
    func run(seed: UInt64) throws -> Tally {
        var random = HistoryRandom(seed: seed)
        var tally = Tally(objects: world.objects.count, steps: to - from)
        let dropped = try history.path(from: from, to: to, keepsReturned: false)
        let kept = try history.path(from: from, to: to, keepsReturned: true)
        guard dropped.refusals.isEmpty, kept.refusals.isEmpty else {
            throw Difference(description: "step by step nothing was refused: \(dropped.refusals.map(\.refusals))")
        }
        tally.passes = dropped.passes.count
        tally.stages = ((from + 1)...to).count { history.stages[$0] != nil }
        for mapping in ((from + 1)...to).compactMap({ history.mappings[$0] }) {
            tally.mappings += 1
            for change in mapping.changes { tally.computed[change.means.rawValue, default: 0] += 1 }
            if mapping.policy != nil { tally.computed["policy", default: 0] += 1 }
        }
        let expected = world(at: to)
        let stepwise = try copy("stepwise")
        for position in (from + 1)...to {
            try way("step to V\(position + 1)") { try Self.migrate(stepwise, history, to: position, history.answers) }
        }
        try compare(stepwise, with: expected, at: to, "stepwise")
        let composed = try copy("composed")
        try way("composed") { try Self.migrate(composed, history, to: to, dropped.answers) }
        try compare(composed, with: expected, at: to, "composed")
        if !kept.kept.isEmpty {
            let returned = try copy("returned")
            try way("returned") { try Self.migrate(returned, history, to: to, kept.answers) }
            try compare(returned, with: world(at: to, after: kept.kept), at: to, "composed, with what returned")
            tally.returned = kept.kept.values.reduce(0) { $0 + $1.count }
        }
        let resumed = try copy("resumed")
        for outcome in try interrupted(resumed, dropped.answers, &random) { tally.outcomes[outcome, default: 0] += 1 }
        try way("resumed after \(tally.outcomes)") { try Self.migrate(resumed, history, to: to, dropped.answers) }
        try compare(resumed, with: expected, at: to, "resumed")
        try sameTables(resumed, composed, "resumed and composed")
        if to - from > 1 { try stop(&tally, &random) }
        return tally
    }

    // MARK: - Ways

    func way<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw Difference(description: "\(name): \(error)") }
    }

    /// The objects as they must be at a version.
    func world(at end: Int, after kept: [Int: Set<HistoryWorld.Return>] = [:]) -> HistoryWorld {
        (from...end).dropFirst().reduce(world) { world, position in
            let (old, new) = (history.models[position - 1], history.models[position])
            let (stage, mapping) = (history.stages[position], history.mappings[position])
            // An expression reads the old store, where an object that a policy drops still stands.
            let begun = world.changed(by: stage?.before, in: old)
            let next = begun.dropping(by: mapping).advanced(from: old, to: new, kept: kept[position] ?? [])
            return begun.changed(by: mapping, into: next).changed(by: stage?.after, in: new)
        }
    }

    /// A copy of the store in a folder of its own, external data included.
    func copy(_ name: String) throws -> String {
        try FileManager.default.copyItem(atPath: folder.path + "/start", toPath: "\(folder.path)/\(name)")
        return "\(folder.path)/\(name)/World.sqlite"
    }

    static func migrate(
        _ store: String, _ history: ModelHistory, to position: Int, _ answers: [Answer],
        _ system: any System = POSIXSystem(),
        _ observer: MigrationObserver = .none
    ) throws {
        let prepared = try PreparedMigration(
            store, versions: history.versions, to: history.versions.versions[position].name,
            options: .init(answers: Answers(answers), registry: history.registry), system: system)
        guard let migration = try prepared.migration() else { return }
        _ = try Migrator(options: MigrationOptions(isFrugal: position % 3 == 0), system: system)
            .run(migration, on: store, observer)
    }

    /// Ends a run at a random moment, by a machine that dies or by a person who cancels; each leaves the old store or
    /// the new one.
    private func interrupted(_ store: String, _ answers: [Answer], _ random: inout HistoryRandom) throws -> [String] {
        let old = try tables(store)
        var outcomes: [String] = []
        for _ in 0..<2 {
            let calls = Int.random(in: 0..<30, using: &random)
            let machine = FaultySystem { $0 < calls ? nil : EIO }
            let person = Int.random(in: 0..<12, using: &random)
            let isCancelled = Bool.random(using: &random)
            let reports = Counter()
            let observer = MigrationObserver(
                onProgress: { _ in reports.count() }, isCancelled: { isCancelled && reports.value > person })
            do {
                try Self.migrate(store, history, to: to, answers, isCancelled ? POSIXSystem() : machine, observer)
                outcomes.append("finished")
                return outcomes
            } catch let error as MigrationError where isCancelled && error.code == .cancelled {
                outcomes.append("cancelled")
                guard try tables(store) == old else { throw Difference(description: "cancelled, and not as it was") }
            } catch  where machine.hasFailed {
                outcomes.append("died")
            }
        }
        return outcomes
    }

    // MARK: - Comparing

    func compare(_ store: String, with world: HistoryWorld, at position: Int, _ name: String) throws {
        let expected = world.witnessed(in: history.models[position])
        let found = try WitnessStore(store).objects
        guard found != expected else { return }
        let entity = Set(expected.keys).union(found.keys).sorted().first { found[$0] != expected[$0] } ?? ""
        let (theirs, ours) = (expected[entity] ?? [:], found[entity] ?? [:])
        let key = Set(theirs.keys).union(ours.keys).sorted().first { theirs[$0] != ours[$0] } ?? 0
        let (right, wrong) = (theirs[key] ?? [:], ours[key] ?? [:])
        let names = Set(right.keys).union(wrong.keys).sorted().filter { right[$0] != wrong[$0] }
        throw Difference(
            description: "\(name): \(entity) \(key): "
                + names.map {
                    "\($0) is \(wrong[$0]?.prefix(80) ?? "missing") instead of \(right[$0]?.prefix(80) ?? "missing")"
                }.joined(separator: ", "))
    }

    /// A hash of all that the store's tables hold, in the words of the sqlite3 shell.
    func tables(_ store: String) throws -> String { try SharedSQLiteShell.run(store, ".sha3sum --schema") }

    /// But for the names of new files of external data, which are random: the witness has read what is in them.
    func sameTables(_ one: String, _ other: String, _ name: String) throws {
        if try tables(one) == tables(other) { return }
        let (ours, theirs) = try (rows(one), rows(other))
        guard ours != theirs else { return }
        let first = zip(ours, theirs).first { $0 != $1 }
        throw Difference(description: "\(name): other tables: \(first.map { "\($0) instead of \($1)" } ?? "more rows")")
    }

    private func rows(_ store: String) throws -> [Substring] {
        try SharedSQLiteShell.run(store, ".dump").replacing(/X'02[0-9a-fA-F]{72}00'/, with: "X'02'").split(
            separator: "\n")
    }
}

/// Counts from any thread.
final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var number = 0
    var value: Int { lock.withLock { number } }
    func count() { lock.withLock { number += 1 } }
}
