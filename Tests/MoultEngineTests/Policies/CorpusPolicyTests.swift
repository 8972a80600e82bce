import Foundation
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// The mapping models of the corpus that name a policy, with a Swift policy under that very name, on the real stores;
/// what comes out is compared with what the sqlite3 shell reads of the store before.
@Suite("Policies that mapping models of the corpus name", .enabled(if: Corpus.isAvailable))
struct CorpusPolicyTests {
    /// A country's continent is a code in its row; it becomes an object of its own, one for each code.
    final class ContinentPolicy: EntityMigrationPolicy {
        private var continents: [Int64: DestinationObject] = [:]

        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let made = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            guard let country = made.first, let code = source.integer("isoContinent"), code > 0 else { return }
            let continent = try continents[code] ?? manager.insertObject(forEntityName: "Continent")
            continents[code] = continent
            continent["numericISO3166Code"] = .integer(code)
            country.setObject(continent, for: "continent")
        }
    }

    @Test func `Moody 5 becomes Moody 6: continents leave their countries`() throws {
        let folder = try ScratchFolder()
        let store = try copy("/MigrationsTests/Moody 5.moody", in: folder)
        // No country of the corpus is without a continent.
        _ = try SQLiteShell.run(
            store, "UPDATE ZCOUNTRY SET ZISOCONTINENT = 0 WHERE Z_PK = (SELECT min(Z_PK) FROM ZCOUNTRY)")
        let before = try SQLiteShell.run(
            store, "SELECT Z_PK, ZNUMERICISO3166CODE, ZUPDATEDAT, ZISOCONTINENT FROM ZCOUNTRY ORDER BY 1")
        let moods = try SQLiteShell.run(store, "SELECT Z_PK, ZCOUNTRY, ZDATE, hex(ZCOLORS) FROM ZMOOD ORDER BY 1")
        let outcome = try migrate(
            store, bundle: "/Migrations/Moody.xcdatamodeld", mapping: "/Moody 5-Moody 6.xcmappingmodel", to: "Moody 6",
            policy: "Migrations.Country5ToCountry6Policy"
        ) { ContinentPolicy() }
        let after = try SQLiteShell.run(
            store,
            """
            SELECT c.Z_PK, c.ZNUMERICISO3166CODE, c.ZUPDATEDAT, ifnull(k.ZNUMERICISO3166CODE, 0) FROM ZCOUNTRY c \
            LEFT JOIN ZCONTINENT k ON k.Z_PK = c.ZCONTINENT ORDER BY 1
            """)
        #expect(after == before)
        #expect(!before.isEmpty && before.split(separator: "\n").contains { !$0.hasSuffix("|0") })
        #expect(
            try SQLiteShell.run(store, "SELECT Z_PK, ZCOUNTRY, ZDATE, hex(ZCOLORS) FROM ZMOOD ORDER BY 1") == moods)
        let codes = Set(before.split(separator: "\n").map { $0.split(separator: "|").last ?? "" }).subtracting(["0"])
        #expect(
            try SQLiteShell.run(store, "SELECT count(*), count(DISTINCT ZNUMERICISO3166CODE) FROM ZCONTINENT")
                == "\(codes.count)|\(codes.count)\n")
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
        let rows = Int64(before.split(separator: "\n").count)
        #expect(outcome.policies.map(\.kept) == [rows])
        #expect(outcome.policies.map(\.made) == [rows + Int64(codes.count)])
    }

    /// The body of a post becomes a section of its own, with its first words as the title.
    final class SectionPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            let post = try manager.makeDestinationInstance(forSource: source)
            guard let body = source.string("content") else { return }
            let section = try manager.insertObject(forEntityName: "Section")
            section["title"] = .string(body.split(separator: " ").prefix(4).joined(separator: " "))
            section["body"] = .string(body)
            section["index"] = 0
            post.add(section, to: "sections")
        }
    }

    @Test func `version 2 of the migration example becomes version 3: a post's body becomes a section`() throws {
        let folder = try ScratchFolder()
        let store = try copy("/SQLite/CoreDataMigration_Example_2.sqlite", in: folder)
        let before = try SQLiteShell.run(
            store, "SELECT Z_PK, ZPOSTID, ZHEXCOLOR, ZDATE, ZCONTENT, 0 FROM ZPOST ORDER BY 1", arguments: ["-quote"])
        _ = try migrate(
            store, bundle: "/CoreData/Model/CoreDataMigration_Example.xcdatamodeld",
            mapping: "/Migration2to3ModelMapping.xcmappingmodel",
            to: "CoreDataMigration_Example 3",
            policy: "CoreDataMigration_Example.Post2ToPost3MigrationPolicy"
        ) { SectionPolicy() }
        let after = try SQLiteShell.run(
            store,
            """
            SELECT p.Z_PK, p.ZPOSTID, p.ZHEXCOLOR, p.ZDATE, s.ZBODY, s.ZINDEX FROM ZPOST p \
            LEFT JOIN ZSECTION s ON s.ZPOST = p.Z_PK ORDER BY 1
            """, arguments: ["-quote"])
        #expect(after == before)
        #expect(before.split(separator: "\n").count > 1)
        let titles = try SQLiteShell.run(
            store,
            """
            SELECT count(*) FROM ZSECTION WHERE substr(ZBODY || ' ', 1, length(ZTITLE) + 1) = ZTITLE || ' ' \
            AND (length(ZTITLE) - length(replace(ZTITLE, ' ', '')) = 3 OR ZTITLE = ZBODY)
            """)
        #expect(titles == (try SQLiteShell.run(store, "SELECT count(*) FROM ZPOST")))
    }

    /// The name of a car's maker becomes an object, shared by all cars of that maker, whatever their entity.
    final class MakerPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let cars = try manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            guard let car = cars.first, let name = source.string("maker") else { return }
            let known = try manager.destinationObjects("Maker", where: "name == %@", .string(name)).first
            let maker = try known ?? manager.insertObject(forEntityName: "Maker")
            if known == nil { maker["name"] = .string(name) }
            maker.add(car, to: "cars")
        }
    }

    @Test func `version 2 of CoreDataPlus becomes version 3: makers leave their cars`() throws {
        let folder = try ScratchFolder()
        let store = try copy("CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel_V2.sqlite", in: folder)
        // No maker's name is a part of another's.
        _ = try SQLiteShell.run(
            store,
            "UPDATE ZCAR SET ZMAKER = substr(ZMAKER, 1, 2) WHERE Z_PK = (SELECT max(Z_PK) FROM ZCAR WHERE ZMAKER NOT NULL)"
        )
        // Entity numbers change, names do not.
        let entity = "(SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT = c.Z_ENT)"
        let before = try SQLiteShell.run(
            store,
            "SELECT c.Z_PK, c.ZNUMBERPLATE, c.ZMODEL, c.ZOWNER, c.ZMAKER, c.ZISLIMITEDEDITION FROM ZCAR c ORDER BY 1")
        let entities = try SQLiteShell.run(store, "SELECT Z_PK, \(entity) FROM ZCAR c ORDER BY 1")
        let outcome = try migrate(
            store, bundle: "CoreDataPlus/Tests/Resources/SampleModel/Fixtures/SampleModel.momd", mapping: "/V2toV3.cdm",
            to: "SampleModel3",
            policy: "REPLACE_AT_RUNTIME.V2to3MakerPolicy"
        ) { MakerPolicy() }
        let after = try SQLiteShell.run(
            store,
            """
            SELECT c.Z_PK, c.ZNUMBERPLATE, c.ZMODEL, c.ZOWNER, m.ZNAME, c.ZISLIMITEDEDITION FROM ZCAR c \
            LEFT JOIN ZMAKER m ON m.Z_PK = c.ZCREATEDBY ORDER BY 1
            """)
        #expect(after == before)
        let renamed = entities.replacingOccurrences(of: "ExpensiveSportCar", with: "LuxuryCar")
        #expect(try SQLiteShell.run(store, "SELECT Z_PK, \(entity) FROM ZCAR c ORDER BY 1") == renamed)
        #expect(
            try SQLiteShell.run(store, "SELECT count(*) - count(DISTINCT ZNAME), count(*) > 1 FROM ZMAKER") == "0|1\n")
        #expect(outcome.policies.count == 3)
        let cars = Int64(before.split(separator: "\n").count)
        #expect(outcome.policies.reduce(0) { $0 + $1.sources } == cars)
        #expect(outcome.policies.reduce(0) { $0 + $1.kept } == cars)
    }

    // MARK: - Running

    private func copy(_ name: String, in folder: ScratchFolder) throws -> String {
        try folder.copyStore(#require(Corpus.stores.first { $0.hasSuffix(name) && !$0.contains("@") }))
    }

    private func migrate(
        _ store: String, bundle: String, mapping: String, to: String, policy: String,
        _ make: @escaping @Sendable () -> EntityMigrationPolicy
    ) throws -> MigrationOutcome {
        let bundle = try #require(Corpus.paths { $0.hasSuffix(bundle) && !$0.contains("@") }.first)
        let versions = try Corpus.versions(bundle)
        var registry = MigrationRegistry()
        registry.register(policy: make, named: policy)
        let path = try #require(Corpus.paths { $0.hasSuffix(mapping) && !$0.contains("@") }.first)
        let file = try #require(try MappingModelFile.all(at: path).first)
        registry.stages = [
            try RegisteredStage(
                file.mapping, named: file.name, held: file.versions, in: versions,
                policies: Set(registry.policies.keys))
        ]
        let prepared = try PreparedMigration(
            store, versions: versions, to: to, options: .init(registry: registry))
        return try Migrator().run(#require(try prepared.migration()), on: store)
    }
}
