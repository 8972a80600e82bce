import MoultModel

extension Correspondence {
    /// The way back along the way forward: what has become of each thing there leads back to it, whatever names it had
    /// on the way. What the way forward has lost, and what was added under a name of the older version, goes by its name.
    ///
    /// - Parameter answers: about the way back: values for required attributes.
    /// - Throws: `usage` if an answer fits no question.
    init(wayBackAlong forward: Correspondence, answers: EdgeAnswers) throws(MigrationError) {
        let back = Correspondence(reversing: forward)
        var (entities, properties) = (back.entitySources, back.propertySources)
        let taken = Set(entities.values)
        for name in back.destination.names where entities[name] == nil && back.source[name] != nil {
            if !taken.contains(name) { entities[name] = name }
        }
        for (name, old) in entities {
            guard let destination = back.destination[name], let source = back.source[old] else { continue }
            var sources = properties[name] ?? [:]
            let taken = Set(sources.values)
            for property in destination.sameNames.keys where sources[property] == nil && !taken.contains(property) {
                let isAttribute = destination.attributes[property] != nil && source.attributes[property] != nil
                let isLink = destination.relationships[property] != nil && source.relationships[property] != nil
                if isAttribute || isLink { sources[property] = property }
            }
            properties[name] = sources
        }
        self.init(
            source: back.source, destination: back.destination, from: back.from, to: back.to, entitySources: entities,
            propertySources: properties, questions: forward.questions, kept: back.kept, answers: answers)
        try answers.check(from: source, to: destination, sourceOf: entitySources)
    }
}
