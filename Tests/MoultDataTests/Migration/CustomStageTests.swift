import MoultData
import TestSupport
import Testing

@Suite struct CustomStageTests {
    @Test func `willMigrate has the old models and didMigrate the new ones, and a store is made in between`() throws {
        let store = try VersionedStore()
        try store.open(DeckV1.self) { context in
            for name in ["ace", "king", "ace"] { context.insert(DeckV1.Card(name: name)) }
        }
        try store.open(DeckV2.self, DeckPlan.self) { context in
            let cards = try context.fetch(FetchDescriptor<DeckV2.Card>())
            #expect(cards.map(\.name).sorted() == ["ACE", "KING"])
            #expect(cards.allSatisfy { $0.rank == 7 })
        }
        #expect(try store.sql("SELECT ZNAME, ZRANK FROM ZCARD ORDER BY ZNAME") == "ACE|7\nKING|7\n")
    }

    @Test func `what a stage throws leaves the store as it was, and is named`() throws {
        let store = try VersionedStore()
        try store.open(DeckV1.self) { $0.insert(DeckV1.Card(name: "fails")) }
        let before = try store.sql("SELECT * FROM ZCARD; SELECT hex(Z_PLIST) FROM Z_METADATA")
        let error = #expect(throws: SwiftDataError.self) { try store.open(DeckV2.self, DeckPlan.self) { _ in } }
        #expect(error?.underlyingError.code == .stageFailed)
        #expect(error?.message.contains("willMigrate") == true, "\(String(describing: error))")
        #expect(try store.sql("SELECT * FROM ZCARD; SELECT hex(Z_PLIST) FROM Z_METADATA") == before)
    }
}

private enum DeckV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Card.self] }

    @Model final class Card {
        var name: String
        init(name: String) { self.name = name }
    }
}

private enum DeckV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Card.self] }

    @Model final class Card {
        @Attribute(.unique) var name: String
        var rank = 0
        init(name: String) { self.name = name }
    }
}

private struct CardsAreWrong: Error {}

private enum DeckPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [DeckV1.self, DeckV2.self] }
    static var stages: [MigrationStage] { [merge] }

    static let merge = MigrationStage.custom(
        fromVersion: DeckV1.self, toVersion: DeckV2.self,
        willMigrate: { context in
            var known: Set<String> = []
            for card in try context.fetch(FetchDescriptor<DeckV1.Card>()) {
                if card.name == "fails" { throw CardsAreWrong() }
                card.name = card.name.uppercased()
                if !known.insert(card.name).inserted { context.delete(card) }
            }
            try context.save()
        },
        didMigrate: { context in
            for card in try context.fetch(FetchDescriptor<DeckV2.Card>()) { card.rank = 7 }
            try context.save()
        })
}
