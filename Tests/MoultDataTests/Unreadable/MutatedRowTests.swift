import Foundation
import MoultData
import TestSupport
import Testing

/// Whatever cells hold, no walk over the models ends the program.
@Suite struct MutatedRowTests {  // tier: long
    @Test(arguments: [UInt64(1), 2]) func `random values in random cells`(seed: UInt64) throws {
        let walk = try MutatedWalk(seed: seed)
        for _ in 0..<10 { try walk.round() }
        // Some rounds leave the models readable, and most do not.
        #expect(walk.errors > 0 && walk.values > 1000)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked)) struct MutatedRowMatrixTests {
    @Test func `many random values in random cells`() throws {
        let begun = Date()
        var (seed, rounds) = (UInt64(100), 0)
        while rounds < 5_000, Date().timeIntervalSince(begun) < Tier.matrix.seconds {
            let walk = try MutatedWalk(seed: seed)
            for _ in 0..<50 { try walk.round() }
            (seed, rounds) = (seed + 1, rounds + 50)
        }
        print("MutatedRows: \(rounds) rounds, seeds 100..<\(seed)")
    }
}

private final class MutatedWalk {
    private let folder: ScratchFolder
    private var random: SeededGenerator
    private(set) var errors = 0
    private(set) var values = 0
    private var path: String { folder.path + "/mutated.store" }
    private let tables: [String: [String]]

    init(seed: UInt64) throws {
        folder = try ScratchFolder()
        random = SeededGenerator(seed: seed)
        let store = try VersionedStore()
        try store.open(Harbour.self) { Harbour.fill($0) }
        _ = try store.sql("VACUUM INTO '\(folder.path)/whole.store'")
        tables = try ["ZSHIP", "ZMAST", "ZSAIL", "ZFLAG", "ACHANGE", "ATRANSACTION"].reduce(into: [:]) {
            $0[$1] = try store.sql("SELECT name FROM pragma_table_info('\($1)') WHERE name <> 'Z_PK'")
                .split(separator: "\n").map(String.init)
        }
    }

    func round() throws {
        try? FileManager.default.removeItem(atPath: path)
        for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + side) }
        try FileManager.default.copyItem(atPath: folder.path + "/whole.store", toPath: path)
        _ = try SQLiteShell.run(path, (0..<Int.random(in: 1...6, using: &random)).map { _ in update() }.joined())
        attempt {
            let container = try ModelContainer(
                for: Schema(versionedSchema: Harbour.self), configurations: .init(url: URL(fileURLWithPath: path)))
            walk(ModelContext(container), Harbour.Ship.self)
            walk(ModelContext(container), Harbour.Mast.self)
            walk(ModelContext(container), Harbour.Sail.self)
            walk(ModelContext(container), Harbour.Flag.self)
            attempt { _ = try ModelContext(container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) }
            change(ModelContext(container))
        }
    }

    private func update() -> String {
        let literals = [
            "NULL", "NULL", "''", "'x'", "'x' || char(0)", "x''", "x'00'", "x'FFFEFD'", "x'62706C6973743030FF'",
            "x'7B7D'",
            "-1", "0", "2", "77", "9e999", "1e300", "3.5", "9223372036854775807", "randomblob(16)", "randomblob(200)",
            "CAST(x'C328' AS TEXT)",
        ]
        let table = tables.keys.sorted()[Int.random(in: 0..<tables.count, using: &random)]
        let columns = tables[table] ?? []
        let column = columns[Int.random(in: 0..<columns.count, using: &random)]
        let literal = literals[Int.random(in: 0..<literals.count, using: &random)]
        let row = Int.random(in: 0...6, using: &random)
        return "UPDATE OR IGNORE \(table) SET \(column) = \(literal)\(row == 0 ? "" : " WHERE Z_PK = \(row)");"
    }

    private func attempt(_ body: () throws -> Void) {
        do { try body() } catch { errors += 1 }
    }

    /// Every way to come by a model, and everything that it shows.
    private func walk<Model: PersistentModel>(_ context: ModelContext, _ type: Model.Type) {
        attempt { for model in try context.all(type) { read(model, depth: 2) } }
        attempt { for model in try context.fetch(FetchDescriptor<Model>(), batchSize: 2) { read(model, depth: 2) } }
        attempt {
            for id in try context.fetchIdentifiers(FetchDescriptor<Model>()) { read(context.model(for: id), depth: 2) }
        }
        attempt { try context.enumerate(FetchDescriptor<Model>(), batchSize: 2) { read($0, depth: 1) } }
        var partial = FetchDescriptor<Model>()
        partial.propertiesToFetch = type.schemaMetadata.properties.prefix(2).compactMap {
            $0.keyPath as? PartialKeyPath<Model>
        }
        attempt { for model in try context.fetch(partial) { read(model, depth: 1) } }
        attempt { try context.save() }
        context.rollback()
        attempt { try context.save() }
    }

    private func read(_ model: any PersistentModel, depth: Int) {
        for property in type(of: model).schemaMetadata.properties {
            let value = property.read(property.name, model.persistentBackingData)
            values += 1
            guard depth > 0 else { continue }
            if let next = value as? any PersistentModel { read(next, depth: depth - 1) }
            for next in value as? [any PersistentModel] ?? [] { read(next, depth: depth - 1) }
        }
    }

    private func change(_ context: ModelContext) {
        attempt {
            for sail in try context.all(Harbour.Sail.self) { sail.mast?.ship.masts.removeAll { $0.height == 10 } }
            try context.save()
        }
        attempt {
            for mast in try context.all(Harbour.Mast.self) { mast.ship.name += "!" }
            try context.save()
        }
        attempt {
            for ship in try context.all(Harbour.Ship.self).dropFirst() { context.delete(ship) }
            try context.save()
        }
        attempt {
            try context.delete(model: Harbour.Mast.self)
            try context.save()
        }
        context.rollback()
        attempt { try context.save() }
    }
}
