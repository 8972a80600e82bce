import Foundation
import SwiftData

@Model
final class Ingredient {
    var name: String
    var amount: Amount
    var order: Int = 0
    var isOptional = false
    var recipe: Recipe?

    init(name: String, amount: Amount, order: Int = 0) {
        self.name = name
        self.amount = amount
        self.order = order
    }
}
