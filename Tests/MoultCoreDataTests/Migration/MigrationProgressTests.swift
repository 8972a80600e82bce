import Foundation
import MoultModel
import Synchronization
import TestSupport
import Testing

@testable import MoultCoreData
@testable import MoultEngine

/// What the faces tell of a migration beside what the engine tells of the same one, on a clock that moves by a tenth of a
/// second with each report.
@Suite struct MigrationProgressTests {  // tier: long
    private typealias Told = MoultEngine.MigrationProgress

    private let folder: ScratchFolder
    private let registry: VersionRegistry

    init() throws {
        folder = try ScratchFolder()
        let (one, two) = (SemanticVersion(1, 0), SemanticVersion(2, 0))
        registry = try VersionRegistry(
            [
                RegisteredVersion(one, model: Library.first(), description: "Books."),
                RegisteredVersion(two, model: Library.second(), description: "Ratings."),
                RegisteredVersion(SemanticVersion(3, 0), model: Library.third(), description: "Loans."),
            ], migrations: [VersionedMigration(from: one, to: two, type: .lightweight, description: "Ratings.")])
    }

    /// The store of one run; each run has one of its own, at a path of the same name.
    private func store(_ run: String) throws -> URL {
        let url = URL(fileURLWithPath: "\(folder.path)/\(run)/Library.sqlite")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let made = try TestStore()
        try made.populate(20)
        _ = try SQLiteShell.run(made.url.path, "VACUUM INTO '\(url.path)'")
        return url
    }

    /// What a run tells, on a clock of its own.
    private func told<Progress: Sendable>(
        _ run: (HandSystem, @escaping @Sendable (Progress) -> Void) throws -> Void
    ) rethrows -> [Progress] {
        let system = HandSystem()
        let list = Mutex<[Progress]>([])
        try run(system) { progress in
            list.withLock { $0.append(progress) }
            system.advance(by: 0.1)
        }
        return list.withLock { $0 }
    }

    private func byEngine(stopping: Bool) throws -> [Told] {
        let url = try store("engine")
        return try told { system, tell in
            let prepared = try PreparedMigration(
                url.path, versions: registry.modelVersions,
                options: .init(
                    registry: registry.migrationRegistry, losses: .asTheVersionsSay(), stopsAtEachVersion: stopping),
                system: system)
            _ = try Migrator(system: system).run(prepared, MigrationObserver(onProgress: tell))
        }
    }

    private func expect(_ told: [MoultCoreData.MigrationProgress], toEqual engine: [Told]) {
        #expect(told.map(\.phase) == engine.map(\.phase.rawValue))
        #expect(told.map(\.fractionCompleted) == engine.map(\.fraction))
        #expect(told.map(\.rows) == engine.map(\.rows) && told.map(\.totalRows) == engine.map(\.totalRows))
        #expect(told.map(\.bytes) == engine.map(\.bytes))
        #expect(told.map(\.message) == engine.map(\.message))
        #expect(told.map(\.estimatedTimeRemaining) == engine.map(\.estimatedTimeRemaining))
    }

    @Test(arguments: [false, true])
    func `a registry and a container tell what the engine told, which goes forward and ends at one`(
        stopping: Bool
    ) throws {
        let engine = try byEngine(stopping: stopping)
        let fractions = engine.map(\.fraction)
        #expect(engine.count > 10 && fractions == fractions.sorted() && fractions.last == 1)
        #expect(engine.last?.estimatedTimeRemaining == 0)
        // The time left is told, and follows the clock that the test moves.
        #expect(engine.count { ($0.estimatedTimeRemaining ?? 0) > 0.05 } > 5)

        let first = try store("registry")
        expect(
            try told { system, tell in
                _ = try registry.migrate(
                    storeAt: first, stopsAtEachVersion: stopping, on: system,
                    MigrationObserver(telling: tell, isCancelled: { false }))
            }, toEqual: engine)

        let second = try store("container")
        expect(
            try told { system, tell in
                let description = PersistentStoreDescription(url: second)
                description.migrationProgress = tell
                description.migrationRegistry = registry.migrationRegistry
                description.stopsAtEachVersion = stopping
                var opening = try StoreLoader(
                    description, model: Library.third(), versions: registry.modelVersions)
                opening.system = system
                try opening.open().close()
            }, toEqual: engine)
    }

    @Test func `a registry's two handlers are told of one migration`() async throws {
        let all = Mutex<[MoultCoreData.MigrationProgress]>([])
        let said = Mutex<[String]>([])
        let (first, second) = (try store("whole"), try store("short"))
        try await registry.migrate(storeAt: first) { progress in all.withLock { $0.append(progress) } }
        try await registry.migrate(storeAt: second) { part, sentence in said.withLock { $0.append(sentence) } }
        let told = all.withLock { $0 }
        #expect(told.last?.fractionCompleted == 1 && told.last?.estimatedTimeRemaining == 0)
        #expect(told.contains { ($0.estimatedTimeRemaining ?? 0) > 0 } && told.contains { $0.totalRows > 0 })
        let sentences = { (list: [String]) in list.filter { !$0.hasPrefix("Made the backup") } }
        #expect(sentences(told.compactMap(\.message)) == sentences(said.withLock { $0 }))
    }
}
