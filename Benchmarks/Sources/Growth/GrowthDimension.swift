import MoultModel

/// What a store or its model has more of, and how much of it a size has.
enum GrowthDimension: String, CaseIterable {
    case rows, entities, attributes, versions, links, files, backups

    /// What the smallest of the three sizes has.
    private var base: Int {
        switch self {
        case .rows: 2_000
        case .entities: 30
        case .attributes: 100
        case .versions: 3
        case .links: 4_000
        case .files: 100
        case .backups: 50
        }
    }

    /// Whether a model alone has more of it, too.
    var isOfModel: Bool { [.entities, .attributes, .versions].contains(self) }

    /// - Parameter factor: 1, 4 or 16.
    func size(_ factor: Int) -> GrowthSize {
        var size = GrowthSize()
        let count = base * factor
        switch self {
        case .rows: size.rows = count
        case .entities: size.entities = count
        case .attributes: size.attributes = count
        case .versions: size.versions = count
        case .links: (size.rows, size.links) = (1_000, count)
        case .files: size.files = count
        case .backups: size.backups = count
        }
        return size
    }
}

/// How much a store and its model have of everything.
struct GrowthSize {
    /// Of each entity.
    var rows = 100
    var entities = 4
    /// Of each entity, in its first version.
    var attributes = 4
    var versions = 2
    /// Pairs of each many-to-many relationship.
    var links = 100
    var files = 0
    var backups = 0
}

extension GrowthSize {
    /// Each version renames an attribute that the second one adds to every entity; each entity has a to-one and a
    /// many-to-many relationship to the next, and one to a parent of its own kind.
    func model(version: Int) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: (0..<entities).map { entity(number: $0, version: version) })
    }

    private func entity(number: Int, version: Int) -> EntityDescription {
        let types: [AttributeType] = [.string, .integer64, .double, .boolean, .date]
        var own = (0..<attributes).map { AttributeDescription(name: "a\($0)", type: types[$0 % types.count]) }
        if version > 0 {
            own.append(
                .init(
                    name: "added\(version)", type: .integer32, isOptional: false, defaultValue: .integer(7),
                    renamingIdentifier: version > 1 ? "added\(version - 1)" : nil))
        }
        if number == 0 { own.append(.init(name: "body", type: .binary, allowsExternalBinaryDataStorage: true)) }
        let (next, previous) = ("E\((number + 1) % entities)", "E\((number + entities - 1) % entities)")
        return EntityDescription(
            name: "E\(number)", attributes: own,
            relationships: [
                .init(name: "next", destinationEntityName: next, inverseName: "previous"),
                .init(name: "previous", destinationEntityName: previous, inverseName: "next", maxCount: 0),
                .init(name: "parent", destinationEntityName: "E\(number)", inverseName: "children"),
                .init(name: "children", destinationEntityName: "E\(number)", inverseName: "parent", maxCount: 0),
                .init(name: "many", destinationEntityName: next, inverseName: "manyOf", maxCount: 0),
                .init(name: "manyOf", destinationEntityName: previous, inverseName: "many", maxCount: 0),
            ])
    }
}
