import Foundation
import MoultModel
import MoultModelFiles
import MoultStore
import TestSupport

@testable import MoultObjects

/// A store of a small model with every kind of relationship and rule, and contexts over it.
final class Office {
    let folder: ScratchFolder
    let path: String
    let coordinator: ObjectCoordinator
    let context: ObjectContext

    init() throws {
        folder = try ScratchFolder()
        path = folder.path + "/Office.sqlite"
        let model = try Self.model()
        try StoreMaker(ModelVersion(names: ["1"], model: model)).make(at: path)
        coordinator = ObjectCoordinator(model: model)
        try coordinator.add(try ObjectStore(path, model: model))
        context = ObjectContext(coordinator: coordinator)
    }

    /// What plain SQL says, without the last line's end.
    func sql(_ query: String) throws -> String {
        try SQLiteShell.run(path, query).trimmingCharacters(in: .newlines)
    }

    /// A store of its own over the same file, as another process has it.
    func elsewhere() throws -> ObjectContext {
        let other = ObjectCoordinator(model: coordinator.model)
        try other.add(try ObjectStore(path, model: coordinator.model))
        return ObjectContext(coordinator: other)
    }

    @discardableResult
    func person(_ name: String, _ context: ObjectContext? = nil, entity: String = "Person") throws -> Object {
        let person = try (context ?? self.context).insert(entity)
        try person.setAttribute("name", .string(name))
        return person
    }

    @discardableResult
    func insert(_ entity: String, _ name: String) throws -> Object {
        let object = try context.insert(entity)
        try object.setAttribute("name", .string(name))
        return object
    }

    static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [person, manager, team, task, badge, label, rules])
    }

    private static let name = AttributeDescription(name: "name", type: .string, isOptional: false)

    private static var person: EntityDescription {
        EntityDescription(
            name: "Person",
            attributes: [
                name,
                AttributeDescription(name: "age", type: .integer16, defaultValue: .integer(18)),
                AttributeDescription(name: "height", type: .float),
                AttributeDescription(name: "mood", type: .string, isTransient: true),
                AttributeDescription(name: "email", type: .string),
                AttributeDescription(
                    name: "taskCount", type: .integer64, derivation: .init(expression: "tasks.@count")),
            ],
            relationships: [
                RelationshipDescription(name: "team", destinationEntityName: "Team", inverseName: "members"),
                RelationshipDescription(
                    name: "tasks", destinationEntityName: "Task", inverseName: "owner", maxCount: 0,
                    deleteRule: .cascade),
                RelationshipDescription(name: "badge", destinationEntityName: "Badge", inverseName: "holder"),
                RelationshipDescription(
                    name: "friends", destinationEntityName: "Person", inverseName: "friends", maxCount: 0),
                RelationshipDescription(name: "spouse", destinationEntityName: "Person", inverseName: "spouse"),
                RelationshipDescription(
                    name: "favourites", destinationEntityName: "Label", maxCount: 0, isOrdered: true),
                RelationshipDescription(name: "mainLabel", destinationEntityName: "Label"),
            ],
            uniquenessConstraints: [["email"]])
    }

    private static var manager: EntityDescription {
        EntityDescription(
            name: "Manager", superentityName: "Person",
            attributes: [AttributeDescription(name: "budget", type: .decimal)],
            relationships: [
                RelationshipDescription(
                    name: "leads", destinationEntityName: "Team", inverseName: "lead", maxCount: 0, deleteRule: .deny)
            ])
    }

    private static var team: EntityDescription {
        EntityDescription(
            name: "Team", attributes: [name],
            relationships: [
                RelationshipDescription(
                    name: "members", destinationEntityName: "Person", inverseName: "team", maxCount: 0, isOrdered: true),
                RelationshipDescription(name: "lead", destinationEntityName: "Manager", inverseName: "leads"),
            ])
    }

    private static var task: EntityDescription {
        EntityDescription(
            name: "Task", attributes: [name],
            relationships: [
                RelationshipDescription(name: "owner", destinationEntityName: "Person", inverseName: "tasks"),
                RelationshipDescription(
                    name: "labels", destinationEntityName: "Label", inverseName: "tasks", maxCount: 0),
                // A cycle of cascades.
                RelationshipDescription(
                    name: "parts", destinationEntityName: "Task", inverseName: "whole", maxCount: 0,
                    deleteRule: .cascade),
                RelationshipDescription(
                    name: "whole", destinationEntityName: "Task", inverseName: "parts", deleteRule: .cascade),
            ])
    }

    private static var badge: EntityDescription {
        EntityDescription(
            name: "Badge", attributes: [name],
            relationships: [
                RelationshipDescription(
                    name: "holder", destinationEntityName: "Person", inverseName: "badge", deleteRule: .noAction)
            ])
    }

    private static var label: EntityDescription {
        EntityDescription(
            name: "Label", attributes: [name],
            relationships: [
                RelationshipDescription(
                    name: "tasks", destinationEntityName: "Task", inverseName: "labels", maxCount: 0)
            ])
    }

    /// An attribute for every rule there is.
    private static var rules: EntityDescription {
        EntityDescription(
            name: "Ruled",
            attributes: [
                AttributeDescription(name: "required", type: .string, isOptional: false),
                AttributeDescription(
                    name: "number", type: .integer32, validation: .init(minimum: "1", maximum: "10")),
                AttributeDescription(
                    name: "amount", type: .decimal, validation: .init(minimum: "0.5", maximum: "9.5")),
                AttributeDescription(
                    name: "text", type: .string, validation: .init(minimum: "2", maximum: "5")),
                AttributeDescription(
                    name: "code", type: .string, validation: .init(regularExpression: "[A-Z]{2}[0-9]+")),
                AttributeDescription(
                    name: "day", type: .date, validation: .init(minimum: "0", maximum: "1000")),
                AttributeDescription(
                    name: "even", type: .integer32,
                    validation: .init(rules: [.init(predicate: "SELF IN {2, 4, 6}", warning: "must be even")])),
            ],
            relationships: [
                RelationshipDescription(
                    name: "few", destinationEntityName: "Label", isOptional: false, maxCount: 2, minCount: 1),
                RelationshipDescription(name: "one", destinationEntityName: "Label", isOptional: false),
            ])
    }
}

/// The names of objects, in their order.
func names(_ objects: [Object]) throws -> [String] {
    try objects.map { object in
        if case .string(let name)? = try object.attribute("name") { name } else { "nil" }
    }
}
