import MoultBasics
import MoultModel

/// A mapping model or custom stage that is registered for an edge.
///
/// It may span several versions. Such a shortcut is preferred to single edges. A stage with code is never composed with
/// its neighbours, because its code needs a complete store of exactly that version.
package struct RegisteredStage: Sendable, Hashable {
    /// The version names.
    package var from: String
    package var to: String
    /// The key by which the engine finds it.
    package var name: String
    /// The effect of the stage, in one sentence.
    package var sentence: String
    /// The way in which the stage is undone, in one sentence; nil if it cannot be.
    package var undo: String?
    /// The mapping to apply, or the error that prevents it; nil for the inferred one, whose questions and refusals
    /// still count.
    package var mapping: Result<ResolvedMapping, MigrationError>?
    /// The code steps at the older version, before anything else.
    package var before: [CodeStep]
    /// The code steps at the newer version, after the mapping.
    package var after: [CodeStep]
    /// The accepted losses of the stage, of data that both versions have and no code reads.
    package var acceptedLosses = AcceptedLosses.none
    /// The answers of the stage's plan about parts that earlier stages removed.
    package var answers: [Answer] = []
    /// The form of the stage's code, for the remedy of a loss.
    package var style = Style.mapping

    /// The form in which the code of a stage is written.
    package enum Style: Sendable, Hashable {
        /// A mapping model, or the steps of a `VersionedMigration`.
        case mapping
        /// The handlers of Core Data's `CustomMigrationStage`.
        case handlers
        /// A SwiftData plan, by the types of its two versions.
        case plan(from: String, to: String)
    }

    package init(
        from: String, to: String, name: String, sentence: String, undo: String? = nil,
        mapping: Result<ResolvedMapping, MigrationError>? = nil, before: [CodeStep] = [], after: [CodeStep] = []
    ) {
        (self.from, self.to, self.name, self.sentence) = (from, to, name, sentence)
        (self.undo, self.mapping, self.before, self.after) = (undo, mapping, before, after)
    }

    /// Returns the stages, with a mapping and code that are registered separately for one edge joined into one stage.
    static func joined(_ stages: [RegisteredStage]) -> [RegisteredStage] {
        var joined: [RegisteredStage] = []
        for stage in stages {
            guard let place = joined.firstIndex(where: { $0.from == stage.from && $0.to == stage.to }),
                joined[place].mapping == nil || stage.mapping == nil, joined[place] != stage
            else {
                joined.append(stage)
                continue
            }
            joined[place].mapping = joined[place].mapping ?? stage.mapping
            joined[place].before += stage.before
            joined[place].after += stage.after
            joined[place].sentence += " " + stage.sentence
            joined[place].undo = joined[place].undo ?? stage.undo
            joined[place].acceptedLosses.formUnion(stage.acceptedLosses)
            if stage.style != .mapping { joined[place].style = stage.style }
        }
        return joined
    }

    package var hasCode: Bool { !before.isEmpty || !after.isEmpty }

    /// Creates a stage from a mapping model, for the versions that it fits. One that cannot run is refused once a way
    /// uses it.
    ///
    /// - Parameters:
    ///   - name: the name of the mapping in plans and errors.
    ///   - held: the models that its file holds, if any.
    ///   - policies: the migration policies that the program has.
    /// - Throws: `noPath` or `question` if it does not fit exactly two versions.
    package init(
        _ mapping: MappingModel, named name: String, held: (source: ModelVersion, destination: ModelVersion)? = nil,
        in versions: ModelVersions, policies: Set<String> = []
    ) throws(MigrationError) {
        let match = try MappingMatch(of: mapping, named: name, held: held, in: versions)
        self.init(
            mapping, named: name, from: versions.versions[match.source], to: versions.versions[match.destination],
            policies: policies)
    }

    /// Creates a stage from a mapping model, between two versions. One that cannot run is refused once a way uses it.
    package init(
        _ mapping: MappingModel, named name: String, from: ModelVersion, to: ModelVersion, policies: Set<String>
    ) {
        self.init(
            from: from.name, to: to.name, name: name, sentence: "The mapping model \(name) is used.",
            mapping: Result { () throws(MigrationError) in
                try ResolvedMapping(mapping, from: from.model, to: to.model, policies: policies)
            })
    }
}

/// One step of a stage that only an app's own code can perform. A plan names it, and the engine finds the code by name.
package struct CodeStep: Sendable, Hashable {
    /// The key by which the engine finds the code.
    package var name: String
    /// The effect of the step, in one sentence.
    package var sentence: String
    /// The way in which the step is undone if a later one fails, in one sentence; nil if it is not. The store itself is
    /// unchanged in any case.
    package var undo: String?

    package init(name: String, sentence: String, undo: String? = nil) {
        (self.name, self.sentence, self.undo) = (name, sentence, undo)
    }
}
