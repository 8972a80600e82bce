import Foundation
import MoultBasics
import MoultModel
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import MoultEngine

/// What a run tells of itself while it goes on.
@Suite("The progress of a run")
struct RunProgressTests {  // tier: long
    private final class Told: Sendable {
        private let list = Mutex<[MigrationProgress]>([])

        var all: [MigrationProgress] { list.withLock { $0 } }
        var observer: MigrationObserver {
            MigrationObserver(onProgress: { progress in self.list.withLock { $0.append(progress) } })
        }
    }

    /// A store with so many items that the statement over them takes its time.
    private func largeStore(_ versions: ModelVersions) throws -> DeferredStore {
        let store = try DeferredStore(versions.versions[0], rows: 2)
        _ = try store.shell(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT value, 2, 1, 'Item ' || value
                FROM generate_series(3, 60000);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 60000 WHERE Z_NAME = 'Item'
            """)
        return store
    }

    private func check(_ all: [MigrationProgress], _ observed: String) {
        let fractions = all.map(\.fraction)
        #expect(fractions == fractions.sorted(), "\(observed)")
        #expect(fractions.last == 1 && fractions.allSatisfy { (0...1).contains($0) }, "\(observed)")
        // Inside of the one statement that takes longest, too.
        let rows = Set(all.filter { $0.phase == .change }.map(\.rows)).filter { $0 > 1_000 && $0 < 58_000 }
        #expect(!rows.isEmpty, "\(observed)")
    }

    @Test func `it goes forward, also inside of a long statement, and ends at one`() throws {
        let versions = try DeferrableVersions.make()
        let store = try largeStore(versions)
        let (told, finishing) = (Told(), Told())
        let other = try store.copy()
        let prepared = try other.prepared(versions, defers: false)
        _ = try Migrator(system: HurriedSystem()).run(
            #require(try prepared.migration()), on: other.path, told.observer)
        check(told.all, "migrating")
        try store.migrate(versions)
        _ = try Migrator(options: MigrationOptions(isFrugal: true), system: HurriedSystem()).finishDeferred(
            store.path, .all, finishing.observer)
        check(finishing.all, "finishing")
        // Evenly: the rows that are copied go on to the last report, however many steps each takes.
        let all = finishing.all
        let start = try #require(all.firstIndex { $0.message == "Create the table ZITEM." })
        let end = try #require(all.firstIndex { $0.message == "Copy the rows of ZITEM." })
        let rows = all[start..<end].dropFirst().map(\.rows)
        #expect(rows.count > 10 && Set(rows).count == rows.count, "\(rows)")
    }

    @Test func `a call for one deferred task reports that task alone; one with a budget no time beyond it`() throws {
        let versions = try DeferrableVersions.make()
        let store = try largeStore(versions)
        try store.migrate(versions)
        let migrator = Migrator(options: MigrationOptions(isFrugal: true), system: HurriedSystem())
        let tasks = try migrator.deferredTasks(of: store.path)
        let counts = try tasks.map { try store.shell("SELECT count(*) FROM \($0.table)") }
        for (task, count) in zip(tasks, counts) {
            let told = Told()
            #expect(try migrator.finishDeferred(store.path, .one, told.observer).done.map(\.name) == [task.name])
            let all = told.all
            #expect(all.map(\.fraction) == all.map(\.fraction).sorted() && all.last?.fraction == 1)
            #expect(all.map(\.rows) == all.map(\.rows).sorted())
            let wrong = all.filter { "\($0.totalRows)\n" != count || $0.rows > $0.totalRows }
            #expect(wrong.isEmpty, "\(task.sentence) \(count): \(wrong.prefix(3))")
            // Before its end, too.
            #expect(all.contains { $0.fraction > 0 && $0.fraction < 1 }, "\(task.sentence)")
        }

        let other = try largeStore(versions)
        try other.migrate(versions)
        let system = HandSystem()
        let told = Mutex<[(told: Double, left: Double)]>([])
        let budget = tasks.longestUnit * 2
        _ = try Migrator(options: MigrationOptions(isFrugal: true), system: system).finishDeferred(
            other.path, .seconds(budget),
            MigrationObserver(onProgress: { progress in
                let left = max(0, budget - system.seconds)
                if let seconds = progress.estimatedTimeRemaining { told.withLock { $0.append((seconds, left)) } }
                system.advance(by: budget / 50)
            }))
        let all = told.withLock { $0 }
        #expect(all.count > 3 && all.allSatisfy { $0.told <= $0.left + 1e-9 }, "\(all)")
    }

    @Test(arguments: CancellableKind.all)
    func `whatever is done, the fraction never goes back and ends at 1, and phases come in their order`(
        kind: CancellableKind
    ) throws {
        let folder = try ScratchFolder()
        let store = folder.path + "/Forum.sqlite"
        try kind.prepare(store)
        let before = try Set(Migrator().backups(of: store).list().map(\.name))
        let told = Mutex<[MigrationProgress]>([])
        let unmade = Mutex<[String]>([])
        try kind.run(
            store, HurriedSystem(),
            MigrationObserver(onProgress: { progress in
                told.withLock { $0.append(progress) }
                // What is said to be done was done before it was said.
                guard let name = progress.message.flatMap({ $0.wholeMatch(of: /Made the backup (.+)/)?.1 }) else {
                    return
                }
                let names = try? FileManager.default.contentsOfDirectory(atPath: store + ".moult/backups")
                if names?.contains(String(name)) != true { unmade.withLock { $0.append(String(name)) } }
            }))
        let all = told.withLock { $0 }
        let fractions = all.map(\.fraction)
        #expect(fractions == fractions.sorted() && fractions.last == 1)
        #expect(all.allSatisfy { ($0.estimatedTimeRemaining ?? 0) >= 0 } && all.last?.estimatedTimeRemaining == 0)
        #expect(unmade.withLock { $0 } == [])
        let made = try Set(Migrator().backups(of: store).list().map(\.name)).subtracting(before)
        let said = all.compactMap(\.message).filter { $0.hasPrefix("Made the backup ") }
        // Who asks for a backup gets it as the result of the call.
        let isBackup = kind.name == "backed up"
        #expect(Set(said) == (isBackup ? [] : Set(made.map { "Made the backup \($0)" })))
        #expect(!isBackup || made.count == 1)
        // What drops nothing yet, and what has no sound store to keep, may do without one.
        let others = ["deferred", "deferred work finished", "backup restored over a damaged store", "rehearsed"]
        #expect(!made.isEmpty || others.contains(kind.name))
        // A way that stops at each version goes through the phases once for each pass.
        let phases = all.map { MigrationProgress.Phase.allCases.firstIndex(of: $0.phase) ?? 0 }
        let returns = zip(phases, phases.dropFirst()).count { $0 > $1 }
        #expect((kind.name == "three stages, a stop at each version" ? 1...2 : 0...0).contains(returns), "\(phases)")
    }

    @Test func `a migration that died again and again is not begun once more by itself`() throws {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[0], rows: 3)
        let history = RunHistory(StoreRecords(store: store.path))
        try history.sidecar.make(POSIXSystem())
        func die(_ count: Int) throws {
            for number in 0..<count {
                try history.append(
                    StoreRun(
                        run: "\(number)", operation: .migrate, result: .undone, from: "1", to: "2", startTime: "then",
                        endTime: "then", seconds: 0, backup: nil, rows: 0, bytes: 0, error: nil))
            }
        }
        let before = try store.contents()
        try die(5)
        #expect {
            try store.migrate(versions)
        } throws: {
            ($0 as? MigrationError)?.code == .tooManyAttempts && "\($0)".contains("5 runs from 1 to 2")
        }
        #expect(try store.contents() == before)
        var options = MigrationOptions()
        options.maximumAttempts = .max
        let prepared = try store.prepared(versions, defers: false)
        _ = try Migrator(options: options).run(#require(try prepared.migration()), on: store.path)
        #expect(try history.records().last?.result == .done)
    }
}
