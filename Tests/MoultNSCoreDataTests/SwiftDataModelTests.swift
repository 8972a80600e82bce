import MoultData
import MoultNSCoreData
import Testing

@Model private final class Forest {
    var name: String
    @Relationship(deleteRule: .cascade, inverse: \Tree.forest) var trees: [Tree] = []
    init(name: String) { self.name = name }
}

@Model private final class Tree {
    var height: Double
    var forest: Forest?
    init(height: Double) { self.height = height }
}

/// Core Data over the models of SwiftData.
@Suite struct SwiftDataModelTests {
    @Test func `SwiftData's models make a managed object model`() throws {
        let made = NSManagedObjectModel.makeManagedObjectModel(for: [Forest.self])
        let model = try #require(made)
        #expect(model.entitiesByName.keys.sorted() == ["Forest", "Tree"])
        let trees = try #require(model.entitiesByName["Forest"]?.relationshipsByName["trees"])
        #expect(trees.deleteRule == .cascadeDeleteRule && trees.inverseRelationship?.name == "forest")
        #expect(model.entitiesByName["Tree"]?.attributesByName["height"]?.attributeType == .doubleAttributeType)
        let same = NSManagedObjectModel.makeManagedObjectModel(for: Schema([Forest.self]))
        #expect(same?.entityVersionHashesByName == model.entityVersionHashesByName)
    }

    @Test func `it is merged with another one`() throws {
        let other = NSManagedObjectModel()
        let entity = NSEntityDescription()
        entity.name = "Lake"
        other.entities = [entity]
        let model = NSManagedObjectModel.makeManagedObjectModel(for: [Forest.self], mergedWith: other)
        #expect(model?.entitiesByName.keys.sorted() == ["Forest", "Lake", "Tree"])
        entity.name = "Tree"
        #expect(NSManagedObjectModel.makeManagedObjectModel(for: [Forest.self], mergedWith: other) == nil)
    }
}
