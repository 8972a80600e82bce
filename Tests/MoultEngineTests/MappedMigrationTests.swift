import Foundation
import MoultBasics
import MoultModel
import MoultModelFiles
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Migrations by mapping models, run as statements.
@Suite("Migrating by mapping models") struct MappedMigrationTests {  // tier: long
    /// The stores lie in the corpus as Core Data's own results of one another: the same UUID, the same records. Keys
    /// differ, for Core Data numbers the objects anew.
    @Test(
        .enabled(if: Corpus.isWhole),
        arguments: [("Moody 2", "Moody 3"), ("Moody 3", "Moody 4"), ("Moody 4", "Moody 5"), ("Moody 2", "Moody 5")])
    func `Moody's stores become what Core Data made of them, object for object`(from: String, to: String) throws {
        let folder = try ScratchFolder()
        let (store, apple) = (try copy(from, in: folder), try copy(to, in: folder))
        let bundle = try #require(Corpus.paths { $0.hasSuffix("/Migrations/Moody.xcdatamodeld") }.first)
        let versions = try Corpus.versions(bundle)
        let prepared = try PreparedMigration(
            store, versions: versions, to: to, options: .init(registered: try mappings(beside: bundle, in: versions)))
        let numbers = [from, to].compactMap { Int($0.suffix(1)) }
        #expect(prepared.plan.passes.count == numbers[1] - numbers[0])
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        let (ours, theirs) = (try WitnessStore(store), try WitnessStore(apple))
        #expect(ours.withoutKeys == theirs.withoutKeys)
        #expect(theirs.objects.values.reduce(0) { $0 + $1.count } == (to == "Moody 5" ? 7 : 9))
        let uuids = try [store, apple].map { try SQLiteShell.run($0, "SELECT Z_UUID FROM Z_METADATA") }
        #expect(uuids[0] == uuids[1])
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
    }

    @Test(.enabled(if: Corpus.isWhole))
    func `a mapping that needs a policy is refused where the way leads over it`() throws {
        let folder = try ScratchFolder()
        let store = try copy("Moody 5", in: folder)
        let bundle = try #require(Corpus.paths { $0.hasSuffix("/Migrations/Moody.xcdatamodeld") }.first)
        let versions = try Corpus.versions(bundle)
        let registered = try mappings(beside: bundle, in: versions)
        let error = #expect(throws: MigrationError.self) {
            try PreparedMigration(store, versions: versions, to: "Moody 6", options: .init(registered: registered))
        }
        #expect(error?.code == .codeMissing)
        #expect(error?.message.contains("Migrations.Country5ToCountry6Policy") == true)

        let known = try mappings(beside: bundle, in: versions, policies: ["Migrations.Country5ToCountry6Policy"])
        let prepared = try PreparedMigration(
            store, versions: versions, to: "Moody 6", options: .init(registered: known))
        let mapping = try #require(prepared.bound?.mapping.mapping(toEntity: "Country"))
        #expect(mapping.policy == "Migrations.Country5ToCountry6Policy")
        #expect(mapping.relationships["moods"] == .relationship("moods"))
        // The policy's rows wait for it.
        let script = try StoreScript(#require(prepared.bound))
        let filled = script.statements.map(\.sql).filter { $0.hasPrefix("INSERT INTO main.\"ZCOUNTRY\"") }
        #expect(filled.isEmpty)
    }

    private func copy(_ name: String, in folder: ScratchFolder) throws -> String {
        try folder.copyStore(#require(Corpus.stores.first { $0.hasSuffix("/MigrationsTests/\(name).moody") }))
    }

    private func mappings(beside bundle: String, in versions: ModelVersions, policies: Set<String> = []) throws
        -> [RegisteredStage]
    {
        let folder = URL(fileURLWithPath: bundle).deletingLastPathComponent().path
        let files = try MappingModelFile.all(at: folder)
        #expect(files.count == 4)
        return try files.map {
            try RegisteredStage($0.mapping, named: $0.name, held: $0.versions, in: versions, policies: policies)
        }
    }
}
