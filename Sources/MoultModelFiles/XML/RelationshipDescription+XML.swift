import MoultModel

extension RelationshipDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .optional, .transient, .toMany, .maxCount, .minCount, .ordered, .deletionRule,
        .destinationEntity, .inverseName, .inverseEntity, .indexed, .spotlightIndexingEnabled,
        .storedInTruthFile, .elementID, .renamingIdentifier, .versionHashModifier, .syncable,
    ]

    /// Reads `<relationship>` of an entity.
    init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: Self.knownAttributes, children: ["userInfo"])
        // VERSION_HASH, "XML → inputs": an absent maxCount is 0 for to-many and 1 for to-one.
        let maxCount = try element.integer(.maxCount) ?? (element.flag(.toMany) ? 0 : 1)
        let minCount = try element.integer(.minCount) ?? 0
        guard maxCount >= 0, minCount >= 0, maxCount == 0 || minCount <= maxCount else {
            throw element.invalid(
                "The counts of the relationship contradict each other (minCount \(minCount), maxCount \(maxCount)).",
                remedy: "Correct minCount or maxCount; a maxCount of 0 is no limit.")
        }
        self.init(
            name: try element.required(.name),
            destinationEntityName: try element.required(.destinationEntity),
            inverseName: element.text(.inverseName),
            isOptional: try element.flag(.optional),
            isTransient: try element.flag(.transient),
            maxCount: maxCount,
            minCount: minCount,
            isOrdered: try element.flag(.ordered),
            deleteRule: try DeleteRule(element),
            isIndexed: try element.flag(.indexed),
            isIndexedBySpotlight: try element.flag(.spotlightIndexingEnabled),
            isStoredInExternalRecord: try element.flag(.storedInTruthFile),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier),
            userInfo: try element.userInfo(),
            isSyncable: try element.switchIfPresent(.syncable) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        let attributes: [(key: String, value: String?)] = [
            ("name", name),
            ("optional", MarkupWriter.flag(isOptional)),
            ("transient", MarkupWriter.flag(isTransient)),
            ("toMany", MarkupWriter.flag(isToMany)),
            ("minCount", minCount == 0 ? nil : String(minCount)),
            ("maxCount", maxCount == 0 ? nil : String(maxCount)),
            ("ordered", MarkupWriter.flag(isOrdered)),
            ("deletionRule", deleteRule.name),
            ("destinationEntity", destinationEntityName),
            ("inverseName", inverseName),
            ("inverseEntity", inverseName == nil ? nil : destinationEntityName),
            ("indexed", MarkupWriter.flag(isIndexed)),
            ("spotlightIndexingEnabled", MarkupWriter.flag(isIndexedBySpotlight)),
            ("storedInTruthFile", MarkupWriter.flag(isStoredInExternalRecord)),
            ("elementID", renamingIdentifier),
            ("versionHashModifier", versionHashModifier),
            ("syncable", isSyncable ? nil : "NO"),
        ]
        guard !userInfo.isEmpty else { return try writer.element("relationship", attributes) }
        try writer.element("relationship", attributes) { try $0.userInfo(userInfo) }
    }
}

extension DeleteRule {
    /// Absent in files of the first Xcode with this format, where it meant its default there: Nullify.
    fileprivate init(_ element: ModelElement) throws {
        guard let word = element.text(.deletionRule) else {
            self = .nullify
            return
        }
        guard let rule = DeleteRule(name: word) else {
            throw element.invalid(
                "The deletion rule \"\(word)\" is not one of Core Data's.",
                remedy: "Write one of: \(DeleteRule.allCases.map(\.name).joined(separator: ", ")).")
        }
        self = rule
    }
}
