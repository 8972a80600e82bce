import Foundation
import Moult
import MoultData
import MoultEngine
import MoultStore
import TestSupport
import Testing

/// Stores with enums and structs that SwiftData made, opened by models written to match them, against what sqlite3 and
/// the Python witness read.
@Suite(.enabled(if: Corpus.isWhole)) struct RealValueStoreTests {  // tier: long
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    private func copy(_ file: String) throws -> String {
        try folder.copyStore(try #require(Corpus.stores.first { $0.hasSuffix("/" + file) }))
    }

    private func container(_ path: String, _ version: any VersionedSchema.Type) throws -> ModelContainer {
        try ModelContainer(
            for: Schema(versionedSchema: version), configurations: .init(url: URL(fileURLWithPath: path)))
    }

    private func lines(_ path: String, _ sql: String) throws -> [String] {
        try SQLiteShell.run(path, sql).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    @Test(arguments: ["52495ad9.store", "b1b50c05.store"])
    func `every enum and struct of every row is read`(_ file: String) throws {
        let path = try copy(file)
        let context = ModelContext(try container(path, BarV4.self))
        let found = try context.fetch(FetchDescriptor<BarV4.Cocktail>()).sorted {
            $0.persistentModelID < $1.persistentModelID
        }
        let columns = """
            ZGLASSWARETYPE, ZICE, ZVARIATION, ZCOLLECTION, ZPERSON, ZPLACE, ZYEAR, hex(ZID), ZGINFIZZ, ZALASKA, \
            json_extract(ZINSTRUCTIONS, '$[0].method'), json_extract(ZFLAVORS, '$[#-1]'), json_array_length(ZBOOZE), \
            json_extract(ZBOOZE, '$[0].name'), json_array_length(ZNA)
            """
        let rows = try lines(path, "SELECT \(columns) FROM ZCOCKTAIL ORDER BY Z_PK")
        #expect(rows.count == 416 && found.count == 416)
        for (cocktail, row) in zip(found, rows) {
            let author = cocktail.author
            let parts: [String?] = [
                cocktail.glasswareType.rawValue, cocktail.ice?.rawValue, cocktail.variation?.rawValue,
                cocktail.collection.map { "\($0.rawValue)" }, author?.person, author?.place, author?.year,
                author.map { $0.id.uuidString.replacing("-", with: "") },
                cocktail.historicSpec == .ginFizz ? "ginFizz" : nil, cocktail.historicSpec == .alaska ? "alaska" : nil,
                cocktail.buildOrder?.instructions.first?.method, cocktail.compiledTags.flavors?.last?.rawValue,
                cocktail.compiledTags.booze.map { "\($0.count)" }, cocktail.compiledTags.booze?.first?.name,
                cocktail.compiledTags.nA.map { "\($0.count)" },
            ]
            #expect(parts.map { $0 ?? "" }.joined(separator: "|") == row)
        }
        #expect(!context.hasChanges)
    }

    @Test func `predicates on fields and cases find what SQL finds`() throws {
        let path = try copy("52495ad9.store")
        let context = ModelContext(try container(path, BarV4.self))
        func check(_ predicate: Predicate<BarV4.Cocktail>, _ sql: String) throws {
            let found = try context.fetchCount(FetchDescriptor(predicate: predicate))
            #expect(try lines(path, "SELECT count(*) FROM ZCOCKTAIL WHERE \(sql)") == ["\(found)"], "\(sql)")
            #expect(found > 0)
        }
        let (fizz, coupe, fourth) = (
            Bar.HistoricSpec.ginFizz, Bar.Raw.value("Coupe"), Bar.Raw.value(4)
        )
        try check(#Predicate { $0.author?.person == "Michael Madrusan" }, "ZPERSON = 'Michael Madrusan'")
        try check(
            #Predicate { $0.author == nil }, "ZID IS NULL AND ZPERSON IS NULL AND ZPLACE IS NULL AND ZYEAR IS NULL")
        try check(#Predicate { $0.historicSpec == fizz }, "ZGINFIZZ = 'ginFizz'")
        try check(
            #Predicate { $0.glasswareType == coupe && $0.collection == fourth },
            "ZGLASSWARETYPE = 'Coupe' AND ZCOLLECTION = 4")
        try check(#Predicate { $0.ice != nil }, "ZICE IS NOT NULL")
        var sorted = FetchDescriptor<BarV4.Cocktail>(
            sortBy: [
                SortDescriptor(\.author?.year, comparator: .lexical),
                SortDescriptor(\.cocktailName, comparator: .lexical),
            ])
        sorted.fetchLimit = 50
        sorted.predicate = #Predicate { $0.author?.year != nil }
        let names = try lines(
            path, "SELECT ZCOCKTAILNAME FROM ZCOCKTAIL WHERE ZYEAR IS NOT NULL ORDER BY ZYEAR, ZCOCKTAILNAME LIMIT 50")
        #expect(try context.fetch(sorted).map(\.cocktailName) == names)
    }

    @Test func `what is changed stands there as SwiftData would have put it, and nothing else changes`() throws {
        let path = try copy("52495ad9.store")
        let before = try Witness.lines(of: path)
        let schema = try SQLiteShell.run(path, ".schema")
        do {
            let context = ModelContext(try container(path, BarV4.self))
            let name = ".38 Special"
            let found = try context.fetch(
                FetchDescriptor<BarV4.Cocktail>(predicate: #Predicate { $0.cocktailName == name }))
            let cocktail = try #require(found.first)
            cocktail.author?.year = "1999"
            cocktail.historicSpec = .bramble
            cocktail.variation = .value("Daiquiri")
            cocktail.compiledTags.flavors = nil
            try context.save()
        }
        let after = try Witness.lines(of: path)
        #expect(zip(before, after).filter { $0 != $1 }.count == 1 && before.count == after.count)
        #expect(try SQLiteShell.run(path, ".schema") == schema)
        #expect(
            try lines(
                path, "SELECT ZYEAR, ZPERSON, ZBRAMBLE, ZVARIATION, ZFLAVORS IS NULL FROM ZCOCKTAIL WHERE Z_PK = 1")
                == ["1999|Michael Madrusan|bramble|Daiquiri|1"])
        let model = try #require(try ReadOnlyStore.read(path) { try StoreSnapshot($0.connection).cachedModel })
        #expect(try StoreAudit(path, model: model).isSound)
    }

    @Test func `folders are read by their cases, and history tells of lists`() throws {
        let path = try copy("mock.store")
        do {
            let context = ModelContext(try container(path, Recipes.self))
            let folders = try context.fetch(FetchDescriptor<Recipes.SDFolder>())
            #expect(try lines(path, "SELECT 1 FROM ZSDFOLDER").count == folders.count && folders.count == 10)
            #expect(folders.allSatisfy { $0.folderType == .user })
            let recipes = try context.fetch(FetchDescriptor<Recipes.SDRecipe>())
            #expect(try lines(path, "SELECT 1 FROM ZSDRECIPE").count == recipes.count && recipes.count > 0)
            #expect(recipes.allSatisfy { $0.imageData.isEmpty })
            let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
            let updates = history.flatMap(\.changes).compactMap { change -> DefaultHistoryUpdate<Recipes.SDFolder>? in
                if case .update(let update) = change { update as? DefaultHistoryUpdate<Recipes.SDFolder> } else { nil }
            }
            // The bits of the store, read by hand: three times the first of ten, else the ninth.
            let lists: Set<PartialKeyPath<Recipes.SDFolder>> = [\.folders, \.recipes]
            let ofLists = updates.filter { lists.isSuperset(of: $0.updatedAttributes) && !$0.updatedAttributes.isEmpty }
            #expect(updates.filter { $0.updatedAttributes == [\.parentFolder] }.count == 3)
            #expect(ofLists.count == 78 && updates.count == 81)
            folders.first { $0.name == "All" }?.folderType = .systemAll
            try context.save()
            let all = Recipes.FolderType.systemAll
            #expect(
                try context.fetchCount(
                    FetchDescriptor<Recipes.SDFolder>(predicate: #Predicate { $0.folderType == all })) == 1)
        }
        #expect(
            try lines(path, "SELECT ZSYSTEMALL, ZUSER IS NULL FROM ZSDFOLDER WHERE ZNAME = 'All'") == ["systemAll|1"])
    }

    @Test func `a real store goes from one version to the next with every value that both have`() throws {
        let path = try copy("4880ec31.store")
        let before = try Witness.lines(of: path)
        let container = try ModelContainer(
            for: Schema(versionedSchema: BarV4Later.self), migrationPlan: BarPlan.self,
            configurations: .init(url: URL(fileURLWithPath: path)))
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<BarV4.Cocktail>()) == 416)
        let after = try Witness.lines(of: path)
        let cases = ["historicSpec.", "imageAsset="]
        func kept(_ lines: [String]) -> [String] {
            lines.filter { !$0.hasPrefix("CocktailImage ") }.map { line in
                line.split(separator: " ").filter { word in !cases.contains { word.hasPrefix($0) } }.joined(
                    separator: " ")
            }
        }
        #expect(kept(after) == kept(before))
        #expect(after.contains { $0.contains("historicSpec.alaska=-") })
    }
}

private enum BarPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [BarV3.self, BarV4Later.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: BarV3.self, toVersion: BarV4Later.self)] }
}

/// The fourth version under a later number than the third's, which the app has not given it.
private enum BarV4Later: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { BarV4.models }
}
