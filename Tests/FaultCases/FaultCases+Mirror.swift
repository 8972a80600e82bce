import MoultBasics
import MoultCare
import MoultEngine
import MoultModel
import MoultStore
import MoultTesting
import TestSupport

/// The second store of a mirror, to which what was written to the first is brought.
extension FaultCases {
    static var mirrored: FaultCase {
        get throws {
            let versions = try MirroredVersions.make(to: "back")
            @Sendable func first(_ second: String) -> String { Path.join(Path.folder(of: second), "first.sqlite") }
            var trial = FaultCase("mirrored") { second in
                let store = first(second)
                // A framework that still wrote with a rollback journal: what a trial begins with is one file.
                try StoreCreator(versions.versions[0], framework: 419, history: false).make(at: store)
                let writer = try RandomWriter(store, model: versions.versions[0].model, seed: 1)
                defer { writer.close() }
                for _ in 0..<3 { try writer.save(writes: 8) }
                _ = try MirroredStore.start(
                    .init(store, .migrateInto(second)), .init(versions, losses: .asTheVersionsSay()))
                for _ in 0..<2 { try writer.save(writes: 8) }
            } run: { second, system in
                var mirror = try MirroredStore(of: first(second), .init(versions), on: system)
                _ = try mirror.synchronise()
            }
            // There is nothing to recover but what SQLite heals and the next run removes.
            trial.recover = { _, _ in }
            return trial
        }
    }
}
