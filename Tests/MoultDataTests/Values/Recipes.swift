import MoultData

/// The models of an app with folders, whose store SwiftData made, as far as the store shows them.
enum Recipes: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [SDFolder.self] }

    enum FolderType: Codable { case systemAll, systemStandard, systemRecentlyDeleted, user }

    @Model final class SDFolder {
        @Attribute(.unique) var id: UUID
        var name: String
        var imageData: Data?
        @Relationship(deleteRule: .cascade, inverse: \SDFolder.parentFolder) var folders: [SDFolder]
        @Relationship(deleteRule: .cascade, inverse: \SDRecipe.parentFolder) var recipes: [SDRecipe]
        var folderType: FolderType
        var parentFolder: SDFolder?

        init(_ name: String, _ type: FolderType = .user) {
            (id, self.name, folders, recipes, folderType) = (UUID(), name, [], [], type)
        }
    }

    @Model final class SDRecipe {
        @Attribute(.unique) var id: UUID
        var name: String
        var imageData: [Data] = []
        @Relationship(deleteRule: .cascade, inverse: \SDAboutSection.parentRecipe) var aboutSections: [SDAboutSection]
        @Relationship(deleteRule: .cascade, inverse: \SDIngredientSection.parentRecipe)
        var ingredientSections: [SDIngredientSection]
        @Relationship(deleteRule: .cascade, inverse: \SDStepSection.parentRecipe) var stepSections: [SDStepSection]
        var parentFolder: SDFolder?

        init(_ name: String) {
            (id, self.name, aboutSections, ingredientSections, stepSections) = (UUID(), name, [], [], [])
        }
    }

    @Model final class SDAboutSection {
        @Attribute(.unique) var id: UUID
        var name: String
        var description_: String
        var parentRecipe: SDRecipe?
        init() { (id, name, description_) = (UUID(), "", "") }
    }

    @Model final class SDIngredientSection {
        @Attribute(.unique) var id: UUID
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \SDIngredient.parentIngredientSection)
        var ingredients: [SDIngredient]
        var parentRecipe: SDRecipe?
        init() { (id, name, ingredients) = (UUID(), "", []) }
    }

    @Model final class SDIngredient {
        @Attribute(.unique) var id: UUID
        var name: String
        var amount: Double
        var measure: String
        var parentIngredientSection: SDIngredientSection?
        init() { (id, name, amount, measure) = (UUID(), "", 0, "") }
    }

    @Model final class SDStepSection {
        @Attribute(.unique) var id: UUID
        var name: String
        @Relationship(deleteRule: .cascade, inverse: \SDStep.parentStepSection) var steps: [SDStep]
        var parentRecipe: SDRecipe?
        init() { (id, name, steps) = (UUID(), "", []) }
    }

    @Model final class SDStep {
        @Attribute(.unique) var id: UUID
        var description_: String
        var imageData: [Data] = []
        var parentStepSection: SDStepSection?
        init() { (id, description_) = (UUID(), "") }
    }
}
