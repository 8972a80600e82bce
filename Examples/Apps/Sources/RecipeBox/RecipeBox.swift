import Foundation
import SwiftData

/// Recipes of one store.
final class RecipeBox {
    let container: ModelContainer
    let context: ModelContext

    init(configuration: ModelConfiguration = ModelConfiguration(isStoredInMemoryOnly: true)) throws {
        container = try ModelContainer(
            for: Recipe.self, Ingredient.self, Cookbook.self, Cook.self, configurations: configuration)
        context = ModelContext(container)
        context.autosaveEnabled = false
    }

    func recipes(_ filter: RecipeFilter = RecipeFilter()) throws -> [Recipe] {
        try context.fetch(filter.descriptor()).filter { $0.difficulty <= filter.hardest }
    }

    func scale(_ recipe: Recipe, to servings: Int) {
        let factor = Double(servings) / Double(recipe.servings)
        for ingredient in recipe.ingredients { ingredient.amount = ingredient.amount * factor }
        recipe.servings = servings
        recipe.scaling["\(servings)"] = factor
    }

    func shoppingList(for cookbook: Cookbook) -> [String: Double] {
        cookbook.recipes.flatMap(\.ingredients).reduce(into: [:]) { list, ingredient in
            list[ingredient.name, default: 0] += ingredient.amount.value
        }
    }

    func duplicate(_ recipe: Recipe, titled title: String) -> Recipe {
        let copy = Recipe(title: title, cuisine: recipe.cuisine, difficulty: recipe.difficulty)
        copy.nutrition = recipe.nutrition
        copy.timing = recipe.timing
        copy.steps = recipe.steps
        context.insert(copy)
        copy.ingredients = recipe.ingredients.map { Ingredient(name: $0.name, amount: $0.amount, order: $0.order) }
        return copy
    }

    func removeAll() throws {
        try context.transaction {
            for recipe in try context.fetch(FetchDescriptor<Recipe>()) { context.delete(recipe) }
        }
    }
}
