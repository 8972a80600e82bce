import Foundation
import SwiftData

struct RecipeFilter {
    var searchText = ""
    var cuisine: Cuisine?
    var onlyFavorites = false
    var maximumCalories: Int?
    var hardest: Difficulty = .hard

    var predicate: Predicate<Recipe> {
        let searchText = searchText
        let cuisine = cuisine
        let anyCuisine = cuisine == nil
        let wanted = cuisine ?? .other
        let onlyFavorites = onlyFavorites
        let limit = maximumCalories ?? .max
        return #Predicate<Recipe> { recipe in
            (searchText.isEmpty ? true : recipe.title.localizedStandardContains(searchText))
                && (anyCuisine || recipe.cuisine == wanted)
                && (!onlyFavorites || recipe.isFavorite)
                && recipe.nutrition.calories <= limit
        }
    }

    func descriptor(limit: Int? = nil) -> FetchDescriptor<Recipe> {
        var descriptor = FetchDescriptor(
            predicate: predicate, sortBy: [SortDescriptor(\Recipe.title, comparator: .localizedStandard)])
        descriptor.fetchLimit = limit
        descriptor.includePendingChanges = true
        return descriptor
    }
}
