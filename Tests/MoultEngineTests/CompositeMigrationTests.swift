import Foundation
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Real stores with composite attributes go to a model whose composites have changed. The witness reads both with the
/// model that each carries.
@Suite("Migrating composite attributes", .enabled(if: Corpus.isWhole))
struct CompositeMigrationTests {  // tier: long
    private static let stores = Corpus.stores.filter { $0.contains("MetaCocktails") }

    @Test(arguments: stores)
    func `leaves are added, removed, renamed and required, and every other value stays`(original: String) throws {
        let folder = try ScratchFolder()
        let store = try folder.copyStore(original)
        let before = try WitnessStore(store)
        let old = try #require(try ReadOnlyStore.read(store) { try StoreSnapshot($0.connection).cachedModel })
        var new = old
        try new.updateEntity("Cocktail") { entity in
            try change("author", of: &entity) { author in
                author.elements[0].isOptional = false
                author.elements[0].defaultValue = .uuid([UInt8](repeating: 7, count: 16))
                author.elements[1].name = "name"
                author.elements[1].renamingIdentifier = "person"
                author.elements.removeLast()
                author.elements.append(AttributeDescription(name: "city", type: .integer16))
            }
            try change("ice", of: &entity) { $0.isOptional.toggle() }
            // An enum with a raw value becomes the text that it was stored as.
            try change("glasswareType", of: &entity) {
                $0 = AttributeDescription(name: $0.name, type: .string, isOptional: true)
            }
        }
        let versions = [ModelVersion(names: ["old"], model: old), ModelVersion(names: ["new"], model: new)]
        let mapping = try ResolvedMapping(inferring: versions[0], to: versions[1])
        let plan = try ReadOnlyStore.read(store) { probe in
            try BoundPlan(
                mapping, from: versions[0], to: versions[1], over: StoreSnapshot(probe.connection),
                connection: probe.connection)
        }
        let years = before.objects["Cocktail"]?.values.filter { $0["author.year"] != "-" }.count ?? 0
        let dropped = plan.findings.filter { $0.code == "values-dropped" }
        #expect(dropped.map(\.place) == (years == 0 ? [] : ["Cocktail.author.year"]))
        #expect(dropped.allSatisfy { $0.message.hasPrefix("\(years) ") })
        _ = try Migrator().run(try Pass(plan, on: store, from: "old", system: POSIXSystem()), on: store)

        var expected = before.objects
        expected["Cocktail"] = expected["Cocktail"]?.mapValues { cocktail in
            var cocktail = cocktail
            cocktail["author.year"] = nil
            cocktail["author.city"] = "-"
            cocktail["author.name"] = cocktail.removeValue(forKey: "author.person")
            cocktail["glasswareType"] = cocktail.removeValue(forKey: "glasswareType.glasswareType")
            if cocktail["author.id"] == "-" { cocktail["author.id"] = "U:" + String(repeating: "07", count: 16) }
            return cocktail
        }
        #expect(try WitnessStore(store).objects == expected)
        #expect(try SQLiteShell.run(store, "PRAGMA integrity_check") == "ok\n")
    }

    private func change(
        _ name: String, of entity: inout EntityDescription, _ change: (inout AttributeDescription) -> Void
    ) throws {
        let position = try #require(entity.attributes.firstIndex { $0.name == name })
        change(&entity.attributes[position])
    }
}
