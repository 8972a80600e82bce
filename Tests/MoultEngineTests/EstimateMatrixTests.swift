import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// The time left, as it was told in real runs over uniform data, beside the time that was left.
///
/// It measures the machine as well, so it is no part of a bounded share: `Scripts/test --tier matrix`, or this suite
/// alone where nobody else is at work.
@Suite("The time left, measured", .enabled(if: Tier.matrix.isAsked && !Tier.matrix.isBounded), .serialized)
struct EstimateMatrixTests {
    /// A machine whose clock goes only while this thread works.
    private struct ThreadTimeSystem: ForwardingSystem {
        var monotonicNanoseconds: UInt64 {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }
    }

    /// One report, and when it came.
    private struct Told {
        let progress: MigrationProgress
        let time: Double
    }

    enum Kind: String, CaseIterable {
        case required, remade, renumbered, policy, chain
        /// Deferred work: a table made anew that has two indexes, one that has six, and tables and indexes of many kinds.
        case finishing, finishingIndexed, finishingMany
        var rows: Int { self == .policy ? 60_000 : 400_000 }
        var isDeferred: Bool { rawValue.hasPrefix("finishing") }
    }

    /// Makes each object by code of an app.
    private final class Copying: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let made = try manager.makeDestinationInstance(forSource: source)
            made["title"] = .string((source.string("title") ?? "").uppercased())
        }
    }

    @Test(arguments: Kind.allCases)
    func `is within 30 % of what remains, at the median and after a tenth, a quarter, a half, three quarters`(
        kind: Kind
    ) throws {
        var worst: [Double] = []
        // Others use the processor too: one of three undisturbed runs counts.
        for attempt in 1...3 {
            let told = try run(kind)
            let end = try #require(told.last).time
            let seconds = try end - #require(told.first).time
            let errors = told.compactMap { error($0, end) }
            let marks = [0.1, 0.25, 0.5, 0.75].map { mark in
                told.first { $0.progress.fraction >= mark }.flatMap { error($0, end) } ?? 0
            }
            let median = errors.map(abs).sorted()[errors.count / 2]
            let within = errors.count { abs($0) <= 0.3 }
            print(
                "\(kind.rawValue), run \(attempt): \(two(seconds)) s, \(told.count) reports; within 30 %: "
                    + "\(100 * within / errors.count) %; median \(two(median)); at 0.1, 0.25, 0.5, 0.75: "
                    + marks.map(two).joined(separator: ", "))
            print("    " + phases(told))
            worst.append(max(median, marks.map(abs).max() ?? 0))
            if (worst.last ?? 1) <= 0.3 { return }
        }
        #expect((worst.min() ?? 1) <= 0.3, "\(kind.rawValue): \(worst)")
    }

    /// How long each phase took, from its first report to that of the next.
    private func phases(_ told: [Told]) -> String {
        var begins: [(phase: String, time: Double)] = []
        for report in told where begins.last?.phase != report.progress.phase.rawValue {
            begins.append((report.progress.phase.rawValue, report.time))
        }
        return zip(begins, begins.dropFirst()).map { begin, next in
            "\(begin.phase) \(two(next.time - begin.time))"
        }.joined(separator: ", ")
    }

    private func two(_ number: Double) -> String { String(format: "%.2f", number) }

    /// By how much of what remained the report said too much, or too little; nil for one before the first tenth, and at
    /// the end.
    private func error(_ told: Told, _ end: Double) -> Double? {
        let left = end - told.time
        guard told.progress.fraction >= 0.1, left > 0.005 else { return nil }
        return ((told.progress.estimatedTimeRemaining ?? .infinity) - left) / left
    }

    // MARK: - Runs

    private static func item(_ change: (inout [AttributeDescription]) -> Void = { _ in }) -> EntityDescription {
        var attributes: [AttributeDescription] = [
            .init(name: "amount", type: .decimal), .init(name: "count", type: .integer32),
            .init(name: "createdAt", type: .date, isIndexed: true), .init(name: "note", type: .string),
            .init(name: "payload", type: .binary), .init(name: "price", type: .double),
            .init(name: "title", type: .string, isIndexed: true),
        ]
        change(&attributes)
        return EntityDescription(name: "Item", attributes: attributes)
    }

    private static func versions(_ models: [[EntityDescription]]) throws -> ModelVersions {
        try ModelVersions(of: models)
    }

    private static let score = AttributeDescription(
        name: "score", type: .integer32, isOptional: false, defaultValue: .integer(1))

    private func versions(of kind: Kind) throws -> ModelVersions {
        let first = [Self.item()]
        let scored = Self.item { $0.append(Self.score) }
        switch kind {
        case .required: return try Self.versions([first, [scored]])
        case .remade, .policy:
            return try Self.versions([first, [Self.item { $0.removeAll { $0.name == "note" } }]])
        case .renumbered:
            let aardvark = EntityDescription(name: "Aardvark", attributes: [.init(name: "word", type: .string)])
            return try Self.versions([first, first + [aardvark]])
        case .chain:
            let last = Self.item { attributes in
                attributes.append(Self.score)
                attributes.removeAll { $0.name == "payload" }
            }
            return try Self.versions([first, [scored], [last]])
        case .finishing: return try Self.versions([first, [Self.item { $0.removeAll { $0.name == "note" } }]])
        case .finishingIndexed:
            let indexed = Self.item { for index in $0.indices { $0[index].isIndexed = true } }
            var lean = indexed
            lean.attributes.removeAll { $0.name == "note" }
            return try Self.versions([[indexed], [lean]])
        case .finishingMany:
            var kept = Self.item { for index in $0.indices { $0[index].isIndexed = $0[index].name == "count" } }
            kept.name = "Zone"
            var indexed = kept
            for index in indexed.attributes.indices { indexed.attributes[index].isIndexed = true }
            var gone = Self.item()
            gone.name = "Zoo"
            return try Self.versions([
                first + [kept, gone], [Self.item { $0.removeAll { $0.name == "note" } }, indexed],
            ])
        }
    }

    private func run(_ kind: Kind) throws -> [Told] {
        let versions = try versions(of: kind)
        let folder = try ScratchFolder()
        let store = folder.path + "/Large.sqlite"
        try StoreCreator(versions.versions[0]).make(at: store)
        let names = versions.versions[0].model.entities.map(\.name)
        for (number, name) in names.enumerated() {
            _ = try SQLiteShell.run(
                store,
                """
                INSERT INTO Z\(name.uppercased())
                    (Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZCOUNT, ZCREATEDAT, ZNOTE, ZPAYLOAD, ZPRICE, ZTITLE)
                    SELECT value, \(number + 1), 1, value / 4.0, value % 1000, value * 7.5, 'note ' || value,
                    zeroblob(40), value / 3.0, 'title ' || (value * 7919 % 100003)
                    FROM generate_series(1, \(kind.rows / names.count));
                UPDATE Z_PRIMARYKEY SET Z_MAX = \(kind.rows)
                """)
        }
        // All of it is done on one thread, so that it is measured whatever else the machine does.
        let system: any System = kind.isDeferred ? ThreadTimeSystem() : POSIXSystem()
        let list = Mutex<[Told]>([])
        let observer = MigrationObserver(onProgress: { progress in
            let time = system.seconds(since: 0)
            list.withLock { $0.append(Told(progress: progress, time: time)) }
        })
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.stopsAtEachVersion = kind == .chain
        options.defersWork = kind.isDeferred
        if kind == .policy {
            options.registry.register(policy: { Copying() }, named: "Copying")
            options.registry.register(
                mapping: MappingModel([
                    EntityMapping(from: "Item", to: "Item", entityMigrationPolicyClassName: "Copying")
                ]), from: "1", to: "2")
        }
        let prepared = try PreparedMigration(store, versions: versions, options: options)
        if let migration = try prepared.migration() {
            let connection = try Connection(store, mode: .readOnly)
            let size = try StoreState(connection).size
            let estimate = try Estimate(migration, over: connection, size: size)
            connection.close()
            let seconds = MigrationProgress.Phase.allCases.compactMap { phase in
                estimate.seconds[phase].map { "\(phase.rawValue) \(two($0))" }
            }
            print("    \(size / 1_000_000) MB; expected: \(seconds.joined(separator: ", "))")
        }
        _ = try Migrator().run(prepared, kind.isDeferred ? .none : observer)
        if kind.isDeferred {
            for task in try Migrator().deferredTasks(of: store, versions: versions) {
                print("    \(two(task.seconds)) s: \(task.sentence)")
            }
            _ = try Migrator(system: system).finishDeferred(store, .all, observer)
        }
        return list.withLock { $0 }
    }
}
