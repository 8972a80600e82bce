import MoultBasics
import MoultModel

extension RelationshipDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .optional, .transient, .toMany, .maxCount, .minCount, .ordered, .deletionRule,
        .destinationEntity, .inverseName, .inverseEntity, .indexed, .spotlightIndexingEnabled,
        .storedInTruthFile, .elementID, .renamingIdentifier, .versionHashModifier, .syncable,
    ]

    /// Reads the `<relationship>` of an entity.
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
            name: try element.required(.name), destinationEntityName: try element.required(.destinationEntity),
            inverseName: element.text(.inverseName), isOptional: element.flag(.optional, noting: &unknown),
            isTransient: element.flag(.transient, noting: &unknown), maxCount: maxCount, minCount: minCount,
            isOrdered: element.flag(.ordered, noting: &unknown), deleteRule: DeleteRule(element, noting: &unknown),
            isIndexed: element.flag(.indexed, noting: &unknown),
            isIndexedBySpotlight: element.flag(.spotlightIndexingEnabled, noting: &unknown),
            isStoredInExternalRecord: element.flag(.storedInTruthFile, noting: &unknown),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier), userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        let attributes: [(key: String, value: String?)] = [
            ("name", name), ("optional", MarkupWriter.flag(isOptional)), ("transient", MarkupWriter.flag(isTransient)),
            ("toMany", MarkupWriter.flag(isToMany)), ("minCount", minCount == 0 ? nil : String(minCount)),
            ("maxCount", maxCount == 0 ? nil : String(maxCount)), ("deletionRule", deleteRule.name),
            ("ordered", MarkupWriter.flag(isOrdered)), ("destinationEntity", destinationEntityName),
            ("inverseName", inverseName), ("inverseEntity", inverseName == nil ? nil : destinationEntityName),
            ("indexed", MarkupWriter.flag(isIndexed)),
            ("spotlightIndexingEnabled", MarkupWriter.flag(isIndexedBySpotlight)),
            ("storedInTruthFile", MarkupWriter.flag(isStoredInExternalRecord)), ("elementID", renamingIdentifier),
            ("versionHashModifier", versionHashModifier), ("syncable", isSyncable ? nil : "NO"),
        ]
        guard !userInfo.isEmpty else { return try writer.element("relationship", attributes) }
        try writer.element("relationship", attributes) { try $0.userInfo(userInfo) }
    }
}

extension DeleteRule {
    /// Reads the delete rule. The first Xcode with this format omitted its default, Nullify.
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

extension FetchedPropertyDescription {
    private static let knownAttributes: ModelKeySet = [
        .name, .optional, .transient, .elementID, .renamingIdentifier, .versionHashModifier, .syncable,
    ]
    /// The name that Xcode gives the fetch request of a fetched property.
    private static let requestName = "fetchedPropertyFetchRequest"

    /// Reads `<fetchedProperty>` with the `<fetchRequest>` inside it.
    init(_ element: ModelElement, noting unknown: inout UnknownMarkup) throws {
        unknown.inspect(element, attributes: Self.knownAttributes, children: ["userInfo", "fetchRequest"])
        let request = element.children("fetchRequest").first
        self.init(
            name: try element.required(.name), isOptional: element.flag(.optional, noting: &unknown),
            destinationEntityName: request?.text(.entity), predicate: request?.text(.predicateString),
            options: request?.fetchRequestOptions ?? [:], isTransient: element.flag(.transient, noting: &unknown),
            renamingIdentifier: element.text(.elementID) ?? element.text(.renamingIdentifier),
            versionHashModifier: element.text(.versionHashModifier), userInfo: element.userInfo(noting: &unknown),
            isSyncable: element.switchIfPresent(.syncable, noting: &unknown) ?? true)
    }

    func write(to writer: inout MarkupWriter) throws {
        let attributes: [(key: String, value: String?)] = [
            ("name", name), ("optional", MarkupWriter.flag(isOptional)),
            ("transient", MarkupWriter.flag(isTransient)), ("elementID", renamingIdentifier),
            ("versionHashModifier", versionHashModifier), ("syncable", isSyncable ? nil : "NO"),
        ]
        try writer.element("fetchedProperty", attributes) { writer in
            try writer.fetchRequest(Self.requestName, entity: destinationEntityName, predicate, options)
            try writer.userInfo(userInfo)
        }
    }
}

extension FetchRequestTemplate {
    /// Reads a top-level `<fetchRequest>` of a model; nil, with a finding, for one without name or entity.
    init?(_ element: ModelElement, noting unknown: inout UnknownMarkup) {
        guard let name = element.text(.name), let entityName = element.text(.entity) else {
            unknown.add(
                "fetch-request-not-read", element, "A fetch request has no name or no entity; it is not read.",
                remedy: "Give it both, or remove it.")
            return nil
        }
        self.init(
            name: name, entityName: entityName,
            predicate: element.text(.predicateString), options: element.fetchRequestOptions)
    }

    func write(to writer: inout MarkupWriter) throws {
        try writer.fetchRequest(name, entity: entityName, predicate, options)
    }
}

extension ModelElement {
    /// The limits and switches of a fetch request, which do not affect a store and are kept unchanged.
    fileprivate var fetchRequestOptions: [String: String] {
        node.allAttributes.filter { !["name", "entity", "predicateString"].contains($0.key) }
    }
}

extension MarkupWriter {
    fileprivate mutating func fetchRequest(
        _ name: String, entity: String?, _ predicate: String?, _ options: [String: String]
    ) throws {
        let sorted = options.inByteOrder { $0.key }
        try element(
            "fetchRequest",
            [("name", name), ("entity", entity), ("predicateString", predicate)]
                + sorted.map { (key: $0.key, value: Optional($0.value)) })
    }
}
