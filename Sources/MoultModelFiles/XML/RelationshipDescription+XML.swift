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
        // An absent maxCount is 0 for to-many and 1 for to-one.
        let isToMany = element.flag(.toMany, noting: &unknown)
        let maxCount = element.count(.maxCount, noting: &unknown) ?? (isToMany ? 0 : 1)
        let minCount = element.count(.minCount, noting: &unknown) ?? 0
        if maxCount != 0, minCount > maxCount {
            unknown.add(
                "counts-contradict", element,
                "minCount and maxCount contradict each other: at least \(Quantity.count(minCount, "destination")) and at most \(maxCount).",
                remedy: "Correct minCount or maxCount; a maxCount of 0 is no limit.")
        }
        self.init(
            name: try element.required(.name),
            destinationEntityName: try element.required(.destinationEntity),
            inverseName: element.text(.inverseName),
            isOptional: element.flag(.optional, noting: &unknown),
            isTransient: element.flag(.transient, noting: &unknown),
            maxCount: maxCount,
            minCount: minCount,
            isOrdered: element.flag(.ordered, noting: &unknown),
            deleteRule: DeleteRule(element, noting: &unknown),
            isIndexed: element.flag(.indexed, noting: &unknown),
            isIndexedBySpotlight: element.flag(.spotlightIndexingEnabled, noting: &unknown),
            isStoredInExternalRecord: element.flag(.storedInTruthFile, noting: &unknown),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier),
            userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        let attributes: [(key: String, value: String?)] = [
            ("name", name),
            ("optional", MarkupWriter.flag(isOptional)),
            ("transient", MarkupWriter.flag(isTransient)),
            ("toMany", MarkupWriter.flag(isToMany)),
            ("minCount", minCount == 0 ? nil : String(minCount)),
            ("maxCount", maxCount == 0 ? nil : String(maxCount)),
            ("deletionRule", deleteRule.name),
            ("ordered", MarkupWriter.flag(isOrdered)),
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
    fileprivate init(_ element: ModelElement, noting unknown: inout UnknownMarkup) {
        self = .nullify
        guard let word = element.text(.deletionRule) else { return }
        if let rule = DeleteRule(name: word) {
            self = rule
        } else {
            unknown.add(
                "delete-rule-not-read", element,
                "The deletion rule \"\(word)\" is not one of Core Data's; it is read as Nullify.",
                remedy: "Write one of: \(DeleteRule.allCases.map(\.name).joined(separator: ", ")).")
        }
    }
}
