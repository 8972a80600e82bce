import MoultModel
import MoultPlan

// What a custom stage would lose: its didMigrate has the new version only, so that only its willMigrate, or a transform,
// can read a value of the old one.

extension ResolvedPlan {
    /// Whether the code before the change may read what a question is about, or its loss is accepted.
    func isLeftToCode(_ question: Question, _ edge: PlanEdge) -> Bool {
        edge.code.will != nil || isAccepted(question.oldPlace)
    }

    /// Reports each property that both versions have, of which no code of a custom stage can read the values.
    mutating func reportUnread(_ mapping: ResolvedMapping, _ edge: PlanEdge) {
        guard edge.isCustom, edge.code.will == nil else { return }
        let (older, newer) = (versions[edge.older], versions[edge.older + 1])
        let transformed = edge.transforms.map(\.oldName)
        for loss in mapping.leftBehind(from: older.model, to: newer.model, version: newer.name)
        where loss.isInBoth && !transformed.contains(where: { older.model.isKind(loss.entityName, of: $0) }) {
            reportUnread(loss.place, "\(loss.place) takes nothing from its old values.", edge)
        }
    }

    /// - Parameter place: as the older version calls it.
    mutating func reportUnread(_ place: String, _ what: String, _ edge: PlanEdge) {
        guard !isAccepted(place) else { return }
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        let (entity, property) = (parts.first ?? "", parts.dropFirst().first ?? "")
        let (from, to) = (types[edge.older], types[edge.older + 1])
        report(
            "values-unread", place,
            "\(name(of: edge)): \(what) didMigrate has only the new version, so no code can read the old values, and all "
                + "of them would be lost.",
            "Use a transform, which has the old object next to the new one: .transform(from: \(from).\(entity).self, "
                + "to: \(to).\(entity).self) { old, new in new.\(property) = … old.\(property) … }. Or read the values "
                + "in willMigrate. Or accept the loss in the plan: "
                + "static var acceptedLosses: AcceptedLosses { [\"\(place)\"] }.")
    }

    private func isAccepted(_ place: String) -> Bool {
        let parts = place.split(separator: ".", maxSplits: 1).map(String.init)
        return acceptedLosses.contains(
            MigrationLoss(.values, .dropped, entity: parts.first ?? "", property: parts.dropFirst().first))
    }

    /// Returns the accepted losses of an edge: what the plan accepts, and without code what its answers say is dropped.
    func acceptedLosses(of edge: PlanEdge, _ mapping: ResolvedMapping?) -> AcceptedLosses {
        var accepted = acceptedLosses
        guard !edge.isCustom else { return accepted }
        let newer = versions[edge.older + 1].model
        for answer in answers(about: edge) where answer.is == .drop {
            guard let property = answer.property else { continue }
            let takers = mapping?.entityMappings.filter {
                $0.destinationEntityName.map { newer.isKind($0, of: answer.entity) } == true
            }
            for taker in takers ?? [] {
                let attribute = taker.destinationEntityName.flatMap(newer.entity)
                    .flatMap { newer.attribute(property, of: $0) }
                let old = attribute?.renamingIdentifier ?? property
                accepted.formUnion(["\(taker.sourceEntityName ?? answer.entity).\(old)"])
            }
        }
        return accepted
    }
}

extension Question {
    /// The place that the question is about, by its name in the older version, where the entity kept its name.
    var oldPlace: String {
        [entity, property.map { candidates.first?.name ?? $0 }].compactMap(\.self).joined(separator: ".")
    }
}

extension String {
    /// Up to the first full stop that ends a sentence.
    var firstSentence: String { range(of: ". ").map { String(self[..<$0.lowerBound]) + "." } ?? self }
}
