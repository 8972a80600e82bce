import MoultModel
import MoultObjects
import MoultPlan

/// Code of an app on one edge of a history: before the edge, after it, or both.
struct HistoryStage: Codable, Sendable {
    /// The position of the newer version.
    let position: Int
    let before: Change?
    let after: Change?

    /// Every text of an attribute gets something appended.
    struct Change: Codable, Sendable {
        /// The entity that declares it.
        let entity: Int
        let attribute: Int
        let entityName: String
        let attributeName: String
        let suffix: String

        /// Of some attribute that is a text; nil where there is none.
        init?(in model: HistoryModel, using random: inout HistoryRandom) {
            let places = model.entities.flatMap { entity in entity.attributes.map { (entity, $0) } }
            guard let place = places.filter({ $0.1.description.type == .string }).randomElement(using: &random) else {
                return nil
            }
            (entity, attribute) = (place.0.id, place.1.id)
            (entityName, attributeName) = (place.0.name, place.1.description.name)
            suffix = ["!", "ß", " 2"].randomElement(using: &random) ?? ""
        }

        var code: StepCode {
            StepCode(execute: { context in
                for object in try context.fetch(ObjectFetch(entityName: entityName)) {
                    guard case .string(let text)? = try object.attribute(attributeName) else { continue }
                    try object.setAttribute(attributeName, .string(text + suffix))
                }
            })
        }
    }

    private func steps(_ change: Change?, _ when: String) -> [(CodeStep, StepCode)] {
        change.map { change in
            [(CodeStep(name: "\(when) V\(position + 1)", sentence: "Texts get longer."), change.code)]
        } ?? []
    }

    func register(in registry: inout MigrationRegistry) {
        let (before, after) = (steps(before, "before"), steps(after, "after"))
        registry.stages.append(
            RegisteredStage(
                from: "V\(position)", to: "V\(position + 1)", name: "to V\(position + 1)", sentence: "Texts change.",
                before: before.map(\.0), after: after.map(\.0)))
        for (step, code) in before + after { registry.steps[step.name] = code }
    }
}

extension HistoryWorld {
    /// What the code of an app makes of it.
    func changed(by change: HistoryStage.Change?, in model: HistoryModel) -> HistoryWorld {
        guard let change else { return self }
        var world = self
        for number in members(of: change.entity, in: model) {
            world.append(change.suffix, to: change.attribute, of: number)
        }
        return world
    }
}
