import Foundation
import SwiftData

@Model
final class Recipe {
    #Unique<Recipe>([\.title, \.cuisine])
    #Index<Recipe>([\.title], [\.createdAt])

    private(set) var id: UUID = UUID()
    var title: String
    var summary: String?
    var cuisine: Cuisine = Cuisine.other
    var difficulty: Difficulty
    var createdAt: Date = Date.now
    var servings: Int = 4
    var rating: Double?
    var isFavorite: Bool = false
    var nutrition: Nutrition = Nutrition()
    var timing: Timing?
    var steps: [Step] = []
    var tags: [String] = []
    var equipment: Set<String> = []
    var scaling: [String: Double] = [:]
    var source: URL?
    @Attribute(.externalStorage) var photo: Data?

    @Relationship(deleteRule: .cascade, inverse: \Ingredient.recipe)
    var ingredients: [Ingredient]

    @Relationship(inverse: \Cookbook.recipes)
    var cookbooks: [Cookbook] = []

    init(
        title: String,
        cuisine: Cuisine = .other,
        difficulty: Difficulty = .easy,
        ingredients: [Ingredient] = []
    ) {
        self.title = title
        self.cuisine = cuisine
        self.difficulty = difficulty
        self.ingredients = ingredients
    }
}
