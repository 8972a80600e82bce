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
        try StoreCreator(ModelVersion(names: ["1"], model: model)).make(at: path)
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
        var model = try ManagedObjectModel(
            """
            Person unique=email = name String required, age Integer16 =18, height Float, mood String transient, email String,
                taskCount Integer64 derived=tasks.@count, team > Team.members, tasks >> Task.owner cascade,
                badge > Badge.holder, friends >> Person.friends, spouse > Person.spouse, favourites >> Label ordered,
                mainLabel > Label
            Manager (Person) = budget Decimal, leads >> Team.lead deny
            Team = name String required, members >> Person.team ordered, lead > Manager.leads
            Task = name String required, owner > Person.tasks, labels >> Label.tasks, parts >> Task.whole cascade,
                whole > Task.parts cascade
            Badge = name String required, holder > Person.badge noAction
            Label = name String required, tasks >> Task.labels
            Ruled = required String required, number Integer32 min=1 max=10, amount Decimal min=0.5 max=9.5,
                text String min=2 max=5, code String, day Date min=0 max=1000, even Integer32, few >> Label required,
                one > Label required
            """)
        // A rule of each kind that the notation has not.
        try model.updateEntity("Ruled") { ruled in
            for place in ruled.attributes.indices {
                switch ruled.attributes[place].name {
                case "code": ruled.attributes[place].validation.regularExpression = "[A-Z]{2}[0-9]+"
                case "even":
                    ruled.attributes[place].validation.rules = [
                        .init(predicate: "SELF IN {2, 4, 6}", warning: "must be even")
                    ]
                default: break
                }
            }
            for place in ruled.relationships.indices where ruled.relationships[place].name == "few" {
                (ruled.relationships[place].minCount, ruled.relationships[place].maxCount) = (1, 2)
            }
        }
        return model
    }
}

/// The names of objects, in their order.
func names(_ objects: [Object]) throws -> [String] {
    try objects.map { object in
        if case .string(let name)? = try object.attribute("name") { name } else { "nil" }
    }
}
