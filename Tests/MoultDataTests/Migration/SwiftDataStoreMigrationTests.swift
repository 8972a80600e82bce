import MoultData
import TestSupport
import Testing

/// A store that Apple's SwiftData made before there was a plan, brought along one.
@Suite(.enabled(if: Corpus.isAvailable)) struct SwiftDataStoreMigrationTests {
    @Test func `a store that SwiftData made is recognised, migrated and read`() throws {
        let store = try #require(Corpus.stores.first { $0.hasSuffix("CartKitSwiftData_v1.sqlite") })
        let folder = try ScratchFolder()
        let path = try folder.copyStore(store)
        let before = try SQLiteShell.run(path, "SELECT ZID, ZSTOREID, ZCREATEDAT FROM ZCARTMODEL")
        #expect(before.split(separator: "\n").count == 1)
        do {
            let container = try ModelContainer(
                for: Schema(versionedSchema: CartsV2.self), migrationPlan: CartsPlan.self,
                configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
            let carts = try ModelContext(container).fetch(FetchDescriptor<CartsV2.CartModel>())
            #expect(carts.map(\.isArchived) == [false])
            #expect(carts.map(\.label) == carts.map { "\($0.shopId)/\($0.status)" })
        }
        #expect(try SQLiteShell.run(path, "SELECT ZID, ZSHOPID, ZCREATEDAT FROM ZCARTMODEL") == before)
        #expect(try SQLiteShell.run(path, "PRAGMA integrity_check") == "ok\n")
    }
}

private enum CartsV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] {
        [CartModel.self, Carts.CartItemModel.self, Carts.CartItemModifierModel.self]
    }

    @Model final class CartModel {
        @Attribute(.unique) var id: String
        @Attribute(originalName: "storeId") var shopId: String
        var label: String
        var isArchived = false
        var profileId: String?
        var status: String
        var context: String?
        var displayName: String?
        var storeImageURLString: String?
        var metadataJSON: Data?
        var minSubtotalAmount: Decimal?
        var minSubtotalCurrencyCode: String?
        var maxItemCount: Int?
        var createdAt: Date
        var updatedAt: Date
        @Relationship(deleteRule: .cascade) var items: [Carts.CartItemModel]

        init(id: String, shopId: String) {
            (self.id, self.shopId, label, status) = (id, shopId, "", "")
            (createdAt, updatedAt, items) = (Date(), Date(), [])
        }
    }
}

private enum CartsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Carts.self, CartsV2.self] }
    static var stages: [MigrationStage] {
        [
            .transform(from: Carts.CartModel.self, to: CartsV2.CartModel.self) { old, new in
                new.label = "\(old.storeId)/\(old.status)"
            }
        ]
    }
}
