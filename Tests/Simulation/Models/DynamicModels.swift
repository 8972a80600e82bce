import Foundation
import MoultData
import MoultModel
import MoultPlan

/// A number as a type, so that each version and each entity has a class of its own.
protocol NumberTag: SendableMetatype { static var number: Int { get } }
enum Tag0: NumberTag { static let number = 0 }
enum Tag1: NumberTag { static let number = 1 }
enum Tag2: NumberTag { static let number = 2 }
enum Tag3: NumberTag { static let number = 3 }
enum Tag4: NumberTag { static let number = 4 }
enum Tag5: NumberTag { static let number = 5 }
enum Tag6: NumberTag { static let number = 6 }
enum Tag7: NumberTag { static let number = 7 }
enum Tag8: NumberTag { static let number = 8 }
enum Tag9: NumberTag { static let number = 9 }
enum Tag10: NumberTag { static let number = 10 }
enum Tag11: NumberTag { static let number = 11 }

/// The models of a life's versions as SwiftData's classes, whose properties come from the models of the life.
enum DynamicModels {
    /// The description of each class, by version and by the place of the entity's name: a class stands for one name in
    /// all lives, because MoultData looks at a class once.
    nonisolated(unsafe) fileprivate(set) static var metadata: [[Int: Schema.ModelMetadata]] = []
    /// The app's newest version, and the answers to the questions on the way to it.
    nonisolated(unsafe) static var newest = 0
    nonisolated(unsafe) static var answers: [MigrationAnswer] = []

    /// The classes of a version.
    static func types(_ version: Int) -> [any DynamicModel.Type] {
        let all = all(version)
        return metadata[version].keys.sorted().map { all[$0] }
    }

    /// A class for each name that an entity may have.
    private static func all(_ version: Int) -> [any DynamicModel.Type] {
        switch version {
        case 0: types(of: Tag0.self)
        case 1: types(of: Tag1.self)
        case 2: types(of: Tag2.self)
        case 3: types(of: Tag3.self)
        case 4: types(of: Tag4.self)
        case 5: types(of: Tag5.self)
        case 6: types(of: Tag6.self)
        case 7: types(of: Tag7.self)
        case 8: types(of: Tag8.self)
        case 9: types(of: Tag9.self)
        case 10: types(of: Tag10.self)
        default: types(of: Tag11.self)
        }
    }

    private static func types<Version: NumberTag>(of version: Version.Type) -> [any DynamicModel.Type] {
        [
            Dynamic<Version, Tag0>.self, Dynamic<Version, Tag1>.self, Dynamic<Version, Tag2>.self,
            Dynamic<Version, Tag3>.self, Dynamic<Version, Tag4>.self, Dynamic<Version, Tag5>.self,
            Dynamic<Version, Tag6>.self, Dynamic<Version, Tag7>.self,
        ]
    }

    static func schema(_ version: Int) -> any VersionedSchema.Type {
        let all: [any VersionedSchema.Type] = [
            DynamicSchema<Tag0>.self, DynamicSchema<Tag1>.self, DynamicSchema<Tag2>.self, DynamicSchema<Tag3>.self,
            DynamicSchema<Tag4>.self, DynamicSchema<Tag5>.self, DynamicSchema<Tag6>.self, DynamicSchema<Tag7>.self,
            DynamicSchema<Tag8>.self, DynamicSchema<Tag9>.self, DynamicSchema<Tag10>.self, DynamicSchema<Tag11>.self,
        ]
        return all[min(version, all.count - 1)]
    }

    /// Describes the classes of all versions.
    static func describe(_ models: [HistoryModel]) {
        metadata = models.enumerated().map { version, model in
            let all = all(version)
            let places = model.entities.compactMap { entity in place(entity.id, model).map { ($0, entity) } }
            return Dictionary(uniqueKeysWithValues: places.map { ($0, all[$0].description(of: $1, model, all)) })
        }
    }

    /// The place of an entity's class.
    fileprivate static func place(_ entity: Int, _ model: HistoryModel) -> Int? {
        model.entity(entity).flatMap { HistoryEditor.entityNames.firstIndex(of: $0.name) }
    }

    /// Answers in the words of a plan.
    static func answers(_ answers: [Answer], in versions: ModelVersions) -> [MigrationAnswer] {
        answers.compactMap { answer in
            versions.position(named: answer.to).map { self.answer(answer, position: $0) }
        }
    }

    private static func answer(_ answer: Answer, position: Int) -> MigrationAnswer {
        let place = answer.entity + (answer.property.map { ".\($0)" } ?? "")
        let version = schema(position)
        return switch answer.is {
        case .rename: .renamed(place, from: answer.old ?? "", in: version)
        case .keep: .kept(place, in: version)
        case .drop: .dropped(place, in: version)
        default: .new(place, in: version)
        }
    }
}

/// One version of the models.
enum DynamicSchema<Version: NumberTag>: VersionedSchema {
    static var versionIdentifier: Schema.Version { Schema.Version(Version.number + 1, 0, 0) }
    static var models: [any PersistentModel.Type] { DynamicModels.types(Version.number) }
}

/// The versions up to the app's newest.
enum DynamicPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { (0...DynamicModels.newest).map(DynamicModels.schema) }
    static var stages: [MigrationStage] {
        (0..<DynamicModels.newest).map {
            .lightweight(fromVersion: DynamicModels.schema($0), toVersion: DynamicModels.schema($0 + 1))
        }
    }
    static var answers: [MigrationAnswer] { DynamicModels.answers }
    static var acceptedLosses: AcceptedLosses { .all }
}

/// A class like those that `@Model` makes, with properties that are known when it runs.
protocol DynamicModel: PersistentModel { init() }

extension DynamicModel {
    subscript<Property: _ModelProperty>(key: DynamicKey<Property>) -> Property.Value {
        get { key.property.read(key.name, of: persistentBackingData) }
        set {
            key.property.write(newValue, key.name, to: persistentBackingData)
            persistentBackingData._wasWritten(by: self)
        }
    }
}

extension DynamicModel {
    /// The description of the class as an entity.
    fileprivate static func description(
        of entity: HistoryModel.Entity, _ model: HistoryModel, _ types: [any DynamicModel.Type]
    ) -> Schema.ModelMetadata {
        let attributes = entity.attributes.map { attribute in
            attribute.description.swiftType.metadata(
                of: Self.self, attribute.description, isUnique: entity.unique.contains(attribute.id))
        }
        let ends = model.links.flatMap { link -> [Schema.PropertyMetadata] in
            var found: [Schema.PropertyMetadata] = []
            let far = link.inverse?.entity ?? link.destination
            if link.end.entity == entity.id, let place = DynamicModels.place(far, model) {
                let inverse = link.inverse.map { types[place].path(to: $0) }
                found.append(relationship(link.end, to: types[place], inverse: inverse))
            }
            if let end = link.inverse, end.entity == entity.id, let place = DynamicModels.place(link.end.entity, model)
            {
                found.append(relationship(end, to: types[place], inverse: nil))
            }
            return found
        }
        return Schema.ModelMetadata(name: entity.name, properties: attributes + ends)
    }

    private static func relationship(
        _ end: HistoryModel.End, to destination: any DynamicModel.Type, inverse: AnyKeyPath?
    ) -> Schema.PropertyMetadata {
        let declared = Schema.PropertyMetadata.Declaration.relationship(
            deleteRule: end.rule.map { $0 == .deny ? .deny : .noAction } ?? (end.cascades ? .cascade : .nullify),
            originalName: end.renamingIdentifier, inverse: inverse)
        if end.isToMany {
            let property = DynamicToMany(destination: destination)
            return .init(end.name, \Self.[DynamicKey(end.name, property)], property, declared)
        }
        let property = DynamicToOne(destination: destination)
        return .init(end.name, \Self.[DynamicKey(end.name, property)], property, declared)
    }

    /// The key path of a relationship; where it leads to does not tell it from another.
    private static func path(to end: HistoryModel.End) -> AnyKeyPath {
        end.isToMany
            ? \Self.[DynamicKey(end.name, DynamicToMany(destination: Self.self))]
            : \Self.[DynamicKey(end.name, DynamicToOne(destination: Self.self))]
    }
}

final class Dynamic<Version: NumberTag, Entity: NumberTag>: DynamicModel {
    static var schemaMetadata: Schema.ModelMetadata {
        DynamicModels.metadata[Version.number][Entity.number] ?? Schema.ModelMetadata(name: "", properties: [])
    }

    var persistentBackingData: any BackingData
    let _$observationRegistrar = ObservationRegistrar()
    var _$ownValues: [OwnValues] { [persistentBackingData].compactMap { $0 as? OwnValues } }

    init(backingData: any BackingData) { persistentBackingData = backingData }

    /// A new object with the initial values of its properties.
    init() {
        persistentBackingData = OwnValues()
        for property in Self.schemaMetadata.properties {
            guard let initial = property.initialValue?(), let values = try? property.columnValues(initial) else {
                continue
            }
            for (path, value) in values { persistentBackingData.setAttribute(path, value) }
        }
    }
}

/// A property by its name.
struct DynamicKey<Property: _ModelProperty>: Hashable {
    let name: String
    let property: Property

    init(_ name: String, _ property: Property) { (self.name, self.property) = (name, property) }

    static func == (one: Self, other: Self) -> Bool { one.name == other.name }
    func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A to-one of a class that is known when it runs.
struct DynamicToOne: _ModelProperty {
    let destination: any DynamicModel.Type

    func read(_ key: String, of backing: any BackingData) -> (any PersistentModel)? { backing.toOne(key) }
    func write(_ value: (any PersistentModel)?, _ key: String, to backing: any BackingData) {
        backing.setToOne(key, value)
    }
    func shape(_ name: String) -> _PropertyShape { .toOne(destination, isOptional: true) }
}

/// A to-many of a class that is known when it runs.
struct DynamicToMany: _ModelProperty {
    let destination: any DynamicModel.Type

    func read(_ key: String, of backing: any BackingData) -> [any PersistentModel] { backing.toMany(key) ?? [] }
    func write(_ value: [any PersistentModel], _ key: String, to backing: any BackingData) {
        backing.setToMany(key, value)
    }
    func shape(_ name: String) -> _PropertyShape { .toMany(destination, isOptional: true) }
}

/// A Swift type of an attribute.
protocol DynamicValue: PersistentValue, Codable {}
extension Bool: DynamicValue {}
extension Int16: DynamicValue {}
extension Int32: DynamicValue {}
extension Int64: DynamicValue {}
extension Float: DynamicValue {}
extension Double: DynamicValue {}
extension Decimal: DynamicValue {}
extension String: DynamicValue {}
extension Date: DynamicValue {}
extension Data: DynamicValue {}
extension UUID: DynamicValue {}
extension Optional: DynamicValue where Wrapped: DynamicValue {}

private struct Holder<Value> { var value: Value }

extension DynamicValue {
    private static var property: _ValueProperty<Self> { _property(\Holder<Self>.value) }

    fileprivate static func metadata<Model: DynamicModel>(
        of model: Model.Type, _ attribute: AttributeDescription, isUnique: Bool
    ) -> Schema.PropertyMetadata {
        let initial = attribute.defaultValue.flatMap { Self(attribute: $0) }
        let name = attribute.renamingIdentifier
        let declared: Schema.PropertyMetadata.Declaration =
            isUnique
            ? .attribute(.unique, originalName: name)
            : attribute.allowsExternalBinaryDataStorage
                ? .attribute(.externalStorage, originalName: name) : .attribute(originalName: name)
        return .init(
            attribute.name, \Model.[DynamicKey(attribute.name, property)], property,
            default: initial.map { initial in { initial } }, declared)
    }

    /// Sets a property as an app does, to a Swift value.
    static func set<Model: DynamicModel>(_ value: AttributeValue?, _ name: String, of model: Model) {
        guard let value = Self(attribute: value) else { return }
        model[DynamicKey(name, property)] = value
    }

    static func value<Model: DynamicModel>(_ name: String, of model: Model) -> AttributeValue? {
        model[DynamicKey(name, property)].attributeValue
    }
}

extension AttributeDescription {
    /// The Swift type of a property.
    var swiftType: any DynamicValue.Type {
        func type<Value: DynamicValue>(_ type: Value.Type) -> any DynamicValue.Type {
            isOptional ? Value?.self : Value.self
        }
        return switch self.type {
        case .boolean: type(Bool.self)
        case .integer16: type(Int16.self)
        case .integer32: type(Int32.self)
        case .integer64: type(Int64.self)
        case .float: type(Float.self)
        case .double: type(Double.self)
        case .decimal: type(Decimal.self)
        case .date: type(Date.self)
        case .uuid: type(UUID.self)
        case .binary: type(Data.self)
        default: type(String.self)
        }
    }
}
