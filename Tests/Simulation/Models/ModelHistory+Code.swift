import MoultObjects
import MoultPlan

extension ModelHistory {
    /// The app's code: what the edges of its stages and mapping models do beside the changes of the model.
    var registry: MigrationRegistry {
        get throws {
            var registry = MigrationRegistry()
            // Its mappings fill properties from others, and lose what these held on purpose.
            registry.acceptedLosses = .all
            for stage in stages.values { stage.register(in: &registry) }
            for (position, mapping) in mappings {
                guard let inferred = inferred[position] else { continue }
                try mapping.register(
                    in: &registry, inferred: inferred, from: models[position - 1], to: models[position])
            }
            return registry
        }
    }

    /// Puts code on every fourth edge or so.
    mutating func addStages(using random: inout HistoryRandom) {
        for position in models.indices.dropFirst() where Int.random(in: 0..<4, using: &random) == 0 {
            let when = Int.random(in: 0..<3, using: &random)
            let before = when == 1 ? nil : HistoryStage.Change(in: models[position - 1], using: &random)
            let after = when == 0 ? nil : HistoryStage.Change(in: models[position], using: &random)
            guard before != nil || after != nil else { continue }
            stages[position] = HistoryStage(position: position, before: before, after: after)
        }
    }

    /// Puts a mapping model on every other edge or so.
    mutating func addMappings(using random: inout HistoryRandom) throws {
        for position in models.indices.dropFirst() where Int.random(in: 0..<2, using: &random) == 0 {
            try add(HistoryMapping(position: position, Array(models.prefix(position + 1)), using: &random))
        }
    }

    mutating func add(_ mapping: HistoryMapping) throws {
        let position = mapping.position
        let path = try MigrationPath(versions, from: position - 1, to: position, answers: Answers(answers))
        guard case .inferred(let found)? = path.edges.first?.means else { return }
        (inferred[position], mappings[position]) = (found, mapping)
    }
}
