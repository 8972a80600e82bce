import MoultBasics
import MoultModel

/// The change from one version to the next, with its means and its risks.
package struct MigrationEdge: Sendable, Equatable {
    /// The positions of the two versions in their order.
    package var older: Int
    package var newer: Int
    package var diff: ModelDiff
    package var means: Means
    /// The stage that is registered for the edge, if any.
    package var stage: RegisteredStage?
    let correspondence: EntityMatching

    /// The means by which the edge is migrated.
    package indirect enum Means: Sendable, Equatable {
        /// An inferred mapping, also for a stage that has code but no mapping of its own.
        case inferred(ResolvedMapping)
        case registered(RegisteredStage, ResolvedMapping)
        /// No mapping yet, with the questions and refusals that prevent one.
        case open(questions: [Question], refusals: [Refusal])
    }

    /// The way to go back.
    package enum Undo: Sendable, Equatable {
        /// By the reverse mapping. Nothing that existed before is lost; data added since is dropped.
        case mapping(ResolvedMapping)
        /// As the registered stage describes.
        case registered(String)
        /// Only by the backup, for the reason given.
        case backup(reason: String)

        /// The way back, in one sentence.
        package var sentence: String {
            switch self {
            case .mapping: "Reversible; going back drops what was added since."
            case .registered(let sentence): sentence
            case .backup(let reason): "Only the backup can restore it: \(reason)"
            }
        }
    }

    /// The way to go back. If nothing was lost, the reverse edge is inferred like any other. It is computed on each
    /// access, because only reports of a plan need it.
    package var undo: Undo {
        if let sentence = stage?.undo { return .registered(sentence) }
        switch means {
        case .registered(let stage, _):
            return .backup(reason: "the stage \(stage.name) does not declare that it is reversible.")
        case .open: return .backup(reason: "the edge has no mapping.")
        case .inferred(let mapping):
            if let stage, stage.hasCode {
                return .backup(reason: "the stage \(stage.name) has code, which is not reversible.")
            }
            return reversed(mapping)
        }
    }

    private func reversed(_ mapping: ResolvedMapping) -> Undo {
        if let loss = diff.losses.first { return .backup(reason: loss.sentence) }
        let merged = mapping.mergedHierarchies(from: correspondence.source.model, to: correspondence.destination.model)
        if let root = merged.first?.root {
            return .backup(reason: "objects that move into the hierarchy of \(root) get new keys.")
        }
        // Only applying answers can throw, and the reverse edge has none.
        let back = try? InferredMapping(EntityMatching(reversing: correspondence))
        if let mapping = back?.mapping { return .mapping(mapping) }
        let reason = back?.refusals.first?.message ?? back?.questions.first?.sentence
        return .backup(reason: reason ?? "the reverse mapping cannot be inferred.")
    }

    /// Compares the versions, differences, means and stages of two edges; the correspondence follows from these.
    package static func == (left: Self, right: Self) -> Bool {
        left.older == right.older && left.newer == right.newer && left.diff == right.diff && left.means == right.means
            && left.stage == right.stage
    }

    package var from: String { diff.from }
    package var to: String { diff.to }
    package var isInferable: Bool { if case .inferred = means { true } else { false } }
    /// The code steps on the way, in order.
    package var steps: [CodeStep] { (stage?.before ?? []) + (stage?.after ?? []) }
    /// Whether rows or values may be lost.
    package var losesData: Bool { diff.changes.contains(where: \.losesData) }
    /// Whether success depends on the rows.
    package var mayFail: Bool { diff.changes.contains(where: \.mayFail) }

    /// Returns the edge with only those changes that concern a store of this part of the model.
    func seen(by part: StorePart?) -> MigrationEdge {
        guard let part else { return self }
        var held: Set<String>?
        if case .configuration(let name) = part {
            held = Set(
                [correspondence.source.model, correspondence.destination.model].flatMap { model in
                    (model.entities(inConfiguration: name) ?? model.entities).map(\.name)
                })
        }
        var seen = self
        seen.diff.changes = diff.changes.filter { change in
            if change.kind == .entityLeft { return part == .configuration(change.old ?? "") }
            return change.entity.map { held?.contains($0) ?? true } ?? true
        }
        return seen
    }

    /// One sentence for each change, or for the effect of a registered stage.
    package var sentences: [String] {
        switch means {
        case .registered(let stage, _): [stage.sentence]
        case .inferred, .open: (stage.map { [$0.sentence] } ?? []) + diff.changes.map(\.sentence)
        }
    }

    /// The findings about everything that is open, refused, lost or uncertain, each with its remedy.
    package var findings: [Finding] {
        switch means {
        case .open(let questions, let refusals): questions.map(\.finding) + refusals.map(\.finding)
        case .inferred: diff.changes.compactMap(\.finding)
        case .registered: []
        }
    }
}

extension Question {
    package var finding: Finding {
        Finding(
            code: "question-\(isOfLinks ? "destination" : kind.rawValue)", severity: .error, place: place,
            message: "\(from) to \(to): \(statement)", remedy: remedy)
    }
}

extension ModelChange {
    /// The finding about the change; nil if it neither loses data nor depends on the rows.
    package var finding: Finding? {
        guard losesData || mayFail else { return nil }
        return Finding(code: kind.rawValue, severity: .warning, place: place, message: sentence, remedy: remedy)
    }

    /// The remedy for a loss, or for rows that may not fit.
    package var remedy: Remedy {
        let declared: Remedy = "declare the loss in moult.json: \"acceptedLosses\": [\"\(place)\"]."
        switch kind {
        case .entityRemoved:
            return "If its objects are still needed, keep the entity, or move them in a custom stage. Otherwise "
                + declared
        case .entityLeft:
            return "If its objects are still needed, leave \(place) in the configuration \(old ?? ""), or let the app "
                + "copy them to the other store before this version. Otherwise " + declared
        case .attributeRemoved, .relationshipRemoved:
            return "If its values are still needed, keep \(place), or move them in a custom stage. Otherwise "
                + declared
        case .transient, .derivation, .type, .destination, .attributeMoved, .relationshipMoved:
            return "To keep the values, leave the old property as it was, and add a new one next to it."
        case .cardinality, .maximumCount:
            return "To choose which destinations stay, keep the to-many relationship, add a new one, and fill it in a "
                + "custom stage."
        case .order:
            return "To keep the order, leave the relationship ordered, or store the position in an attribute of the "
                + "destination."
        case .optional, .minimumCount:
            return "Leave it optional, or give every object a value: a default value for an attribute, a custom stage "
                + "for a relationship."
        case .constraintAdded:
            return "Remove duplicates in a custom stage before this version, or in the app before the release. "
                + "\(.plan, .anyStore, .model("MODEL")) counts them in a store."
        case .abstract:
            return "Delete its objects or give them another entity in a custom stage, or leave it concrete."
        case .valueTransformer, .valueClass:
            return "Make sure that the new transformer or class reads what the old one wrote, or convert the values in "
                + "a custom stage."
        default: return losesData ? "The backup keeps it. Move what you need elsewhere first." : ""
        }
    }
}

/// One pass over a store: a mapping composed of one or more edges, the code of a stage, or both.
package struct MigrationPass: Sendable, Equatable {
    package var older: ModelVersion
    package var newer: ModelVersion
    /// The positions of the two versions in their order.
    package var olderPosition: Int
    package var newerPosition: Int
    package var work: Work
    /// The code steps that run on the objects after the work, in order.
    package var steps: [CodeStep] = []
    /// The stage that the pass belongs to, by name; nil for inferred mappings.
    package var stage: String?
    /// The accepted losses of the stage, of data that both versions have and no code reads.
    package var acceptedLosses = AcceptedLosses.none
    /// The earlier names of the entities and properties of the older version.
    package var formerNames = RenamingHistory()
    package var style = RegisteredStage.Style.mapping
    /// The reason why this pass could not be combined with the previous one; nil for the first pass and next to a
    /// registered stage.
    package var apart: String?

    package enum Work: Sendable, Equatable {
        case mapping(ResolvedMapping)
        /// The schema stays the same: there are only steps, at the store's present version.
        case none
    }
}
