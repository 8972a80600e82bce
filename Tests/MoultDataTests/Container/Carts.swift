import Foundation
import MoultData

/// The models of the app whose store SwiftData made, as they are spelled there as far as the store shows it.
enum Carts: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [CartModel.self, CartItemModel.self, CartItemModifierModel.self] }

    @Model final class CartModel {
        @Attribute(.unique) var id: String
        var storeId: String
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
        @Relationship(deleteRule: .cascade) var items: [CartItemModel]

        init(id: String, storeId: String) {
            (self.id, self.storeId, status) = (id, storeId, "")
            (createdAt, updatedAt, items) = (Date(), Date(), [])
        }
    }

    @Model final class CartItemModel {
        @Attribute(.unique) var id: String
        var productId: String
        var quantity: Int
        var availableStock: Int?
        var imageURLString: String?
        var unitPriceAmount: Decimal
        var unitPriceCurrencyCode: String
        var totalPriceAmount: Decimal
        var totalPriceCurrencyCode: String
        @Relationship(deleteRule: .cascade) var modifiers: [CartItemModifierModel]

        init(id: String) {
            (self.id, productId, quantity, modifiers) = (id, "", 0, [])
            (unitPriceAmount, unitPriceCurrencyCode, totalPriceAmount, totalPriceCurrencyCode) = (0, "", 0, "")
        }
    }

    @Model final class CartItemModifierModel {
        @Attribute(.unique) var id: String
        var name: String
        var priceDeltaAmount: Decimal
        var priceDeltaCurrencyCode: String

        init(id: String) { (self.id, name, priceDeltaAmount, priceDeltaCurrencyCode) = (id, "", 0, "") }
    }
}
