import Foundation
import SwiftData
import XCTest

@testable import RecipeBoxApp

final class RecipeBoxTests: XCTestCase {
    private func filled() throws -> RecipeBox {
        let box = try RecipeBox()
        let risotto = Recipe(
            title: "Risotto", cuisine: .italian, difficulty: .medium,
            ingredients: [
                Ingredient(name: "Rice", amount: Amount(value: 320, unit: .gram)),
                Ingredient(name: "Broth", amount: Amount(value: 1000, unit: .milliliter), order: 1),
            ])
        risotto.nutrition = Nutrition(calories: 500, protein: 12)
        risotto.timing = Timing(preparation: 600, cooking: 1200)
        risotto.steps = [Step(text: "Roast the rice"), Step(text: "Add broth", minutes: 18)]
        risotto.tags = ["dinner", "rice"]
        risotto.equipment = ["pot", "ladle"]
        let rosti = Recipe(title: "Rösti", cuisine: .swiss)
        rosti.isFavorite = true
        rosti.nutrition.calories = 700
        rosti.source = URL(string: "https://example.com/roesti")
        let curry = Recipe(title: "Curry", cuisine: .thai, difficulty: .hard)
        for recipe in [risotto, rosti, curry] { box.context.insert(recipe) }
        try box.context.save()
        return box
    }

    func testFilters() throws {
        let box = try filled()
        XCTAssertEqual(try box.recipes().map(\.title), ["Curry", "Risotto", "Rösti"])
        XCTAssertEqual(try box.recipes(RecipeFilter(searchText: "rost")).map(\.title), ["Rösti"])
        XCTAssertEqual(try box.recipes(RecipeFilter(cuisine: .thai)).map(\.title), ["Curry"])
        XCTAssertEqual(try box.recipes(RecipeFilter(onlyFavorites: true)).map(\.title), ["Rösti"])
        XCTAssertEqual(try box.recipes(RecipeFilter(maximumCalories: 600)).map(\.title), ["Curry", "Risotto"])
        XCTAssertEqual(try box.recipes(RecipeFilter(hardest: .medium)).count, 2)
    }

    func testValuesAreKept() throws {
        let box = try filled()
        let context = ModelContext(box.container)
        let title = "Risotto"
        let found = try XCTUnwrap(
            context.fetch(FetchDescriptor<Recipe>(predicate: #Predicate { $0.title == title })).first)
        XCTAssertEqual(found.nutrition, Nutrition(calories: 500, protein: 12))
        XCTAssertEqual(found.timing?.total, 1800)
        XCTAssertEqual(found.steps.map(\.minutes), [nil, 18])
        XCTAssertEqual(found.tags, ["dinner", "rice"])
        XCTAssertEqual(found.equipment, ["ladle", "pot"])
        XCTAssertEqual(
            found.ingredients.sorted { $0.order < $1.order }.map(\.amount.description),
            ["320 gram", "1,000 milliliter"])
        XCTAssertNil(found.photo)
    }

    func testScaling() throws {
        let box = try filled()
        let recipe = try XCTUnwrap(box.recipes(RecipeFilter(searchText: "Risotto")).first)
        box.scale(recipe, to: 2)
        XCTAssertTrue(box.context.hasChanges)
        XCTAssertTrue(recipe.hasChanges)
        try box.context.save()
        XCTAssertEqual(Set(recipe.ingredients.map(\.amount.value)), [160, 500])
        XCTAssertEqual(recipe.scaling, ["2": 0.5])
        XCTAssertFalse(box.context.hasChanges)
    }

    func testCookbooks() throws {
        let box = try filled()
        let cook = Cook(email: "ada@example.com", contact: .post(street: "Main", city: "Bern"))
        let book = Cookbook(name: "Winter", owner: cook)
        box.context.insert(book)
        book.recipes = try box.recipes()
        try box.context.save()
        XCTAssertEqual(box.shoppingList(for: book), ["Rice": 320, "Broth": 1000])
        XCTAssertEqual(cook.cookbooks?.map(\.name), ["Winter"])
        let first = try XCTUnwrap(box.recipes().first)
        XCTAssertEqual(first.cookbooks.count, 1)
        let read = try XCTUnwrap(ModelContext(box.container).fetch(FetchDescriptor<Cook>()).first)
        XCTAssertEqual(read.contact, .post(street: "Main", city: "Bern"))
        box.context.delete(book)
        XCTAssertThrowsError(try box.context.save())
        box.context.rollback()
        XCTAssertEqual(try box.context.fetchCount(FetchDescriptor<Cookbook>()), 1)
    }

    func testAnEmailThatIsTakenUpdates() throws {
        let box = try RecipeBox()
        box.context.insert(Cook(email: "a@b.c", contact: .none))
        try box.context.save()
        box.context.insert(Cook(email: "a@b.c", contact: .phone("1")))
        try box.context.save()
        XCTAssertEqual(try box.context.fetch(FetchDescriptor<Cook>()).map(\.contact), [.phone("1")])
    }

    func testDuplicates() throws {
        let box = try filled()
        let recipe = try XCTUnwrap(box.recipes(RecipeFilter(searchText: "Risotto")).first)
        let copy = box.duplicate(recipe, titled: "Risotto II")
        try box.context.save()
        XCTAssertEqual(copy.steps, recipe.steps)
        XCTAssertNotEqual(copy.persistentModelID, recipe.persistentModelID)
        XCTAssertEqual(try box.context.fetchCount(FetchDescriptor<Ingredient>()), 4)
        try box.removeAll()
        XCTAssertEqual(try box.context.fetchCount(FetchDescriptor<Ingredient>()), 0)
    }
}
