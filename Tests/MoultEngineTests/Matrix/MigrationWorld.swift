import Foundation
import MoultBasics
import MoultModel
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// A store of one version full of hostile data, and what a mapping makes of it, without the engine's safety steps,
/// which have tests of their own.
struct MigrationWorld {
    let folder: ScratchFolder
    let version: ModelVersion
    let store: String

    init(_ version: ModelVersion, seed: UInt64, count: Int = 6, framework: Int = 1526) throws {
        folder = try ScratchFolder()
        self.version = version
        store = folder.path + "/World.sqlite"
        let maker = try StoreCreator(
            version, framework: framework, experimental: true)
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: seed, count: count).fill(writer)
        try writer.finish()
    }

    /// Runs the mapping on a copy in a folder of its own, verifies it, and returns the copy's path.
    func migrated(_ mapping: ResolvedMapping, to target: ModelVersion) throws -> String {
        try Self.migrate(store, mapping, from: version, to: target, into: "\(folder.path)/\(UUID().uuidString)")
    }

    static func migrate(
        _ store: String, _ mapping: ResolvedMapping, from version: ModelVersion, to target: ModelVersion,
        into folder: String
    ) throws -> String {
        let files = FileManager.default
        let (original, name) = (URL(fileURLWithPath: store).deletingLastPathComponent().path, "World.sqlite")
        try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let copy = "\(folder)/\(name)"
        try files.copyItem(atPath: store, toPath: copy)
        if files.fileExists(atPath: "\(original)/.World_SUPPORT") {
            try files.copyItem(atPath: "\(original)/.World_SUPPORT", toPath: "\(folder)/.World_SUPPORT")
        }
        let plan = try ReadOnlyStore.read(store) { probe in
            try BoundPlan(
                mapping, from: version, to: target, over: StoreSnapshot(probe.connection), connection: probe.connection,
                experimental: true)
        }
        let migration = try Pass(plan, on: copy, from: "", .cheapest, system: POSIXSystem())
        let connection = try Connection(copy, mode: .readWrite)
        defer { connection.close() }
        try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
        try connection.attach(store, as: "source", mode: .immutable)
        for function in migration.functions { try connection.register(function) }
        try connection.transaction {
            for statement in migration.script.statements {
                #expect(statement.contradictions == [])
                do {
                    try statement.run(on: connection)
                } catch {
                    throw WitnessStore.Failure(description: "\(statement.sql)\n\(error)")
                }
            }
        }
        try migration.verification.run(on: connection)
        return copy
    }
}
