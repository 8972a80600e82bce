import MoultData

/// What the models of an app have in common whose stores SwiftData made, as far as the stores show it.
enum Bar {
    /// An enum with whatever raw value a store has: it stands for one with hundreds of cases.
    enum Raw<Value: Codable & Hashable>: RawRepresentable, Codable, Hashable {
        case value(Value)

        init(rawValue: Value) { self = .value(rawValue) }
        var rawValue: Value {
            switch self {
            case .value(let value): value
            }
        }
    }

    /// The cases in the order of the store's columns.
    enum HistoricSpec: Codable {
        case algonquin, alaska, betweenTheSheets, bloodAndSand, bramble, bobbyBurns, chocolateCocktail, elDiablo
        case fogCutter, ginFizz, gimlet, silverFizz, hotToddy, mexicanFiringSquad, modernCocktail
    }

    struct Author: Codable, Equatable {
        var id: UUID
        var person: String?
        var place: String?
        var year: String?
    }

    struct Build: Codable, Equatable {
        var id: UUID
        var step: Int
        var method: String
    }

    struct BuildOrder: Codable, Equatable { var instructions: [Build] }

    struct Prep: Codable, Equatable {
        var id: UUID
        var prepIngredientName: String
        var prepRecipe: [Build]
    }

    /// A text that JSON has for an enum.
    struct Name: RawRepresentable, Codable, Hashable { var rawValue: String }

    /// An ingredient of some kind; JSON has the kind as an object whose key is the case.
    struct Booze: Codable, Equatable {
        var name: String
        var ingredientType: [String: [String: String]]
    }

    struct Tags: Codable, Equatable {
        var flavors: [Name]?
        var profiles: [Name]?
        var styles: [Name]?
        var booze: [Booze]?
        var nA: [Booze]?
    }

    /// The fields of a colour in linear space.
    struct Colour: Codable {
        var linearRed: Float
        var linearGreen: Float
        var linearBlue: Float
        var opacity: Float
    }

    @Model final class Ingredient {
        var id: UUID
        @Relationship var ingredientBase: IngredientBase
        var value: Double
        var unit: Raw<String>
        init(_ base: IngredientBase) { (id, ingredientBase, value, unit) = (UUID(), base, 1, .value("oz")) }
    }

    @Model final class IngredientBase {
        var id: UUID
        @Attribute(.unique) var name: String
        var info: String?
        var umbrellaCategory: String
        var baseCategory: String
        var specialtyCategory: String
        var tags: Tags?
        var prep: Prep?
        var isCustom: Bool

        init(_ name: String) {
            (id, self.name, umbrellaCategory, baseCategory, specialtyCategory, isCustom) = (
                UUID(), name, "", "", "", false
            )
        }
    }

    @Model final class CocktailImage {
        var backgroundColor: Colour
        var drinkColor: Colour
        var drinkLayer: String
        var garnishes: [String]?
        var glassBackLayer: String
        var glassReflection: String
        var iceLayer: String?
        var inDrinkComponents: [String]?
        var innerRim: String
        var straw: String?

        init(_ colour: Colour) {
            (backgroundColor, drinkColor) = (colour, colour)
            (drinkLayer, glassBackLayer, glassReflection, innerRim) = ("", "", "", "")
        }
    }
}

/// The oldest version: an ingredient has one category, an enum.
enum BarV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Cocktail.self] }

    @Model final class Cocktail {
        #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
        var id = UUID()
        @Attribute(.unique) var cocktailName: String
        var imageAsset: Bar.CocktailImage?
        var glasswareType: Bar.Raw<String>
        var garnish: [Garnish]
        var ice: Bar.Raw<String>?
        var author: Bar.Author?
        @Relationship(deleteRule: .cascade) var spec: [Ingredient]
        var buildOrder: Bar.BuildOrder?
        var compiledTags = Bar.Tags()
        var variation: Bar.Raw<String>?
        var collection: Bar.Raw<Int>?
        var titleCocktail: Bool?
        var collectionName: String

        init(_ name: String) {
            (cocktailName, glasswareType, garnish, spec, collectionName) = (name, .value("Coupe"), [], [], "")
        }
    }

    @Model final class Garnish {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Cocktail.garnish) var cocktails: [Cocktail]?
        init(_ name: String) { self.name = name }
    }

    @Model final class Ingredient {
        var id: UUID
        var ingredientBase: IngredientBase
        var value: Double
        var unit: Bar.Raw<String>
        init(_ base: IngredientBase) { (id, ingredientBase, value, unit) = (UUID(), base, 1, .value("oz")) }
    }

    @Model final class IngredientBase {
        @Attribute(.unique) var name: String
        var info: String?
        var category: Bar.Raw<String>
        var tags: Bar.Tags?
        var prep: Bar.Prep?
        var isCustom: Bool
        init(_ name: String) { (self.name, category, isCustom) = (name, .value("Syrups"), false) }
    }
}

/// Notes and variations came.
enum BarV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Cocktail.self] }

    @Model final class Cocktail {
        #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
        var id = UUID()
        @Attribute(.unique) var cocktailName: String
        var imageAsset: Bar.CocktailImage?
        var glasswareType: Bar.Raw<String>
        var garnish: [Garnish]
        var ice: Bar.Raw<String>?
        var author: Bar.Author?
        @Relationship(deleteRule: .cascade) var spec: [Bar.Ingredient]
        var buildOrder: Bar.BuildOrder?
        var notes: String?
        var compiledTags = Bar.Tags()
        var variation: Bar.Raw<String>?
        var variationName: String?
        var collection: Bar.Raw<Int>?
        var titleCocktail: Bool?
        var isCustomCocktail: Bool
        var collectionName: String

        init(_ name: String) {
            (cocktailName, glasswareType, garnish, spec, collectionName) = (name, .value("Coupe"), [], [], "")
            isCustomCocktail = false
        }
    }

    @Model final class Garnish {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Cocktail.garnish) var cocktails: [Cocktail]?
        init(_ name: String) { self.name = name }
    }
}

/// Favourites came.
enum BarV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Cocktail.self] }

    @Model final class Cocktail {
        #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
        var id = UUID()
        @Attribute(.unique) var cocktailName: String
        var imageAsset: Bar.CocktailImage?
        var glasswareType: Bar.Raw<String>
        var garnish: [Garnish]
        var ice: Bar.Raw<String>?
        var author: Bar.Author?
        @Relationship(deleteRule: .cascade) var spec: [Bar.Ingredient]
        var buildOrder: Bar.BuildOrder?
        var notes: String?
        var compiledTags = Bar.Tags()
        var variation: Bar.Raw<String>?
        var variationName: String?
        var collection: Bar.Raw<Int>?
        var titleCocktail: Bool?
        var favorite: Bool
        var isCustomCocktail: Bool
        var collectionName: String

        init(_ name: String) {
            (cocktailName, glasswareType, garnish, spec, collectionName) = (name, .value("Coupe"), [], [], "")
            (favorite, isCustomCocktail) = (false, false)
        }
    }

    @Model final class Garnish {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Cocktail.garnish) var cocktails: [Cocktail]?
        init(_ name: String) { self.name = name }
    }
}

/// Historic specs, an enum without raw values, took the place of images.
enum BarV4: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Cocktail.self] }

    @Model final class Cocktail {
        #Index<Cocktail>([\.cocktailName], [\.collectionName], [\.cocktailName, \.collectionName])
        var id = UUID()
        @Attribute(.unique) var cocktailName: String
        var glasswareType: Bar.Raw<String>
        var garnish: [Garnish]
        var ice: Bar.Raw<String>?
        var author: Bar.Author?
        @Relationship(deleteRule: .cascade) var spec: [Bar.Ingredient]
        var buildOrder: Bar.BuildOrder?
        var notes: String?
        var compiledTags = Bar.Tags()
        var variation: Bar.Raw<String>?
        var variationName: String?
        var collection: Bar.Raw<Int>?
        var titleCocktail: Bool?
        var historicSpec: Bar.HistoricSpec?
        var favorite: Bool
        var isCustomCocktail: Bool
        var collectionName: String

        init(_ name: String) {
            (cocktailName, glasswareType, garnish, spec, collectionName) = (name, .value("Coupe"), [], [], "")
            (favorite, isCustomCocktail) = (false, false)
        }
    }

    @Model final class Garnish {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Cocktail.garnish) var cocktails: [Cocktail]?
        init(_ name: String) { self.name = name }
    }
}
