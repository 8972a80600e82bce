/// A difference between two versions of a model: the change, its place and its effect on a store.
///
/// Diffs, plans, checks and reports all use these values.
package struct ModelChange: Sendable, Hashable {
    package var kind: Kind
    /// The entity, by its name in the newer version, or in the older one if it is removed; nil for a change of the
    /// model as a whole.
    package var entity: String?
    /// The property, index or other part of the entity; without an entity, a part of the model.
    package var member: String?
    /// The state before the change, in words; nil for none.
    package var old: String?
    /// The state after the change, in words; nil for none.
    package var new: String?
    /// Whether the change affects the version hash, so that Core Data itself would detect it.
    package var isHashed: Bool
    /// Whether the migration may lose stored values or rows.
    package var losesData: Bool
    /// Whether the success of the migration depends on the rows of the store.
    package var mayFail: Bool

    package init(
        _ kind: Kind, entity: String? = nil, member: String? = nil, old: String? = nil, new: String? = nil,
        isHashed: Bool, losesData: Bool = false, mayFail: Bool = false
    ) {
        (self.kind, self.entity, self.member, self.old) = (kind, entity, member, old)
        (self.new, self.isHashed, self.losesData, self.mayFail) = (new, isHashed, losesData, mayFail)
    }

    /// The place of the change: `Entity.property`, `Entity`, or the part of the model.
    package var place: String { [entity, member].compactMap { $0 }.joined(separator: ".") }

    /// The kind of a change; the raw value is the stable code in output.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case entityAdded = "entity-added"
        case entityRemoved = "entity-removed"
        case entityRenamed = "entity-renamed"
        case parent = "parent-changed"
        case abstract = "abstract-changed"
        case className = "class-name-changed"

        case attributeAdded = "attribute-added"
        case attributeRemoved = "attribute-removed"
        case attributeRenamed = "attribute-renamed"
        case attributeMoved = "attribute-moved"
        case type = "type-changed"
        case defaultValue = "default-value-changed"
        case externalStorage = "external-storage-changed"
        case derivation = "derivation-changed"
        case preservesValueInHistory = "history-preservation-changed"
        case cloudEncryption = "cloud-encryption-changed"
        case valueTransformer = "value-transformer-changed"
        case valueClass = "value-class-changed"
        case scalar = "scalar-type-changed"
        case validation = "validation-changed"

        case relationshipAdded = "relationship-added"
        case relationshipRemoved = "relationship-removed"
        case relationshipRenamed = "relationship-renamed"
        case relationshipMoved = "relationship-moved"
        case destination = "destination-changed"
        case inverse = "inverse-changed"
        case cardinality = "cardinality-changed"
        case maximumCount = "maximum-count-changed"
        case minimumCount = "minimum-count-changed"
        case order = "order-changed"
        case deleteRule = "delete-rule-changed"

        case optional = "optional-changed"
        case transient = "transient-changed"
        case indexed = "indexed-changed"
        case spotlight = "spotlight-changed"
        case externalRecord = "external-record-changed"
        case syncable = "syncable-changed"
        case modifier = "hash-modifier-changed"
        case renamingIdentifier = "renaming-identifier-changed"
        case userInfo = "user-info-changed"

        case fetchedPropertyAdded = "fetched-property-added"
        case fetchedPropertyRemoved = "fetched-property-removed"
        case fetchedProperty = "fetched-property-changed"
        case indexAdded = "index-added"
        case indexRemoved = "index-removed"
        case index = "index-changed"
        case compoundIndexAdded = "compound-index-added"
        case compoundIndexRemoved = "compound-index-removed"
        case constraintAdded = "uniqueness-constraint-added"
        case constraintRemoved = "uniqueness-constraint-removed"

        case entityLeft = "entity-left-configuration"
        case configurationAdded = "configuration-added"
        case configurationRemoved = "configuration-removed"
        case configuration = "configuration-changed"
        case compositeAdded = "composite-added"
        case compositeRemoved = "composite-removed"
        case composite = "composite-changed"
        case fetchRequestAdded = "fetch-request-added"
        case fetchRequestRemoved = "fetch-request-removed"
        case fetchRequest = "fetch-request-changed"
        case versionIdentifiers = "version-identifiers-changed"
    }

    /// A plain sentence that describes the change.
    package var sentence: String {
        let subject = entity == nil ? kind.noun : place
        switch kind.shape {
        case .added:
            return "\(kind.article) \(kind.noun) \(place) is added\(new.map { ": \($0)" } ?? "")."
        case .removed:
            return "The \(kind.noun) \(place) is removed\(old.map { ": \($0)" } ?? "")."
        case .renamed:
            return "The \(kind.noun) \(place) is renamed from \(old ?? "")."
        case .moved:
            return "The \(kind.noun) \(place) moves here from \(old ?? "")."
        case .state:
            return "\(place) becomes \(new ?? ""); it was \(old ?? "")."
        case .left:
            return "The entity \(place) leaves the configuration \(old ?? ""), whose stores lose its objects; it is in "
                + "\(new.map { "the configuration \($0)" } ?? "no configuration") now."
        case .value:
            let whose = entity == nil ? [kind.noun, member].compactMap { $0 }.joined(separator: " ") : nil
            return valueSentence(whose.map { "The \($0)" } ?? "The \(kind.noun) of \(subject)")
        }
    }

    private func valueSentence(_ subject: String) -> String {
        switch (old, new) {
        case (let old?, let new?): "\(subject) changes from \(old) to \(new)."
        case (nil, let new?): "\(subject) becomes \(new); there was none."
        case (let old?, nil): "\(subject) was \(old); now there is none."
        case (nil, nil): "\(subject) changes."
        }
    }
}

extension ModelChange.Kind {
    enum Shape {
        case added, removed, renamed, moved, left
        /// A switch with two positions in words: optional and required.
        case state
        /// A part that has a value.
        case value
    }

    var shape: Shape {
        switch self {
        case .entityAdded, .attributeAdded, .relationshipAdded, .fetchedPropertyAdded, .indexAdded,
            .compoundIndexAdded, .constraintAdded, .configurationAdded, .compositeAdded, .fetchRequestAdded:
            .added
        case .entityRemoved, .attributeRemoved, .relationshipRemoved, .fetchedPropertyRemoved, .indexRemoved,
            .compoundIndexRemoved, .constraintRemoved, .configurationRemoved, .compositeRemoved,
            .fetchRequestRemoved:
            .removed
        case .entityRenamed, .attributeRenamed, .relationshipRenamed: .renamed
        case .attributeMoved, .relationshipMoved: .moved
        case .entityLeft: .left
        case .abstract, .externalStorage, .preservesValueInHistory, .cloudEncryption, .scalar, .cardinality, .order,
            .optional, .transient, .indexed, .spotlight, .externalRecord, .syncable:
            .state
        case .parent, .className, .type, .defaultValue, .derivation, .valueTransformer, .valueClass, .validation,
            .destination, .inverse, .maximumCount, .minimumCount, .deleteRule, .modifier,
            .renamingIdentifier, .userInfo, .fetchedProperty, .index, .configuration, .composite, .fetchRequest,
            .versionIdentifiers:
            .value
        }
    }

    /// The noun for the part that changes, in Core Data's terms.
    package var noun: String {
        switch self {
        case .entityAdded, .entityRemoved, .entityRenamed, .entityLeft: "entity"
        case .attributeAdded, .attributeRemoved, .attributeRenamed, .attributeMoved: "attribute"
        case .relationshipAdded, .relationshipRemoved, .relationshipRenamed, .relationshipMoved: "relationship"
        case .fetchedPropertyAdded, .fetchedPropertyRemoved, .fetchedProperty: "fetched property"
        case .indexAdded, .indexRemoved, .index: "fetch index"
        case .compoundIndexAdded, .compoundIndexRemoved: "compound index"
        case .constraintAdded, .constraintRemoved: "uniqueness constraint"
        case .configurationAdded, .configurationRemoved, .configuration: "configuration"
        case .compositeAdded, .compositeRemoved, .composite: "composite type"
        case .fetchRequestAdded, .fetchRequestRemoved, .fetchRequest: "fetch request"
        case .parent: "parent entity"
        case .abstract: "abstract switch"
        case .className: "class name"
        case .type: "type"
        case .defaultValue: "default value"
        case .externalStorage: "external storage"
        case .derivation: "derivation"
        case .preservesValueInHistory: "preservation in history"
        case .cloudEncryption: "cloud encryption"
        case .valueTransformer: "value transformer"
        case .valueClass: "value class"
        case .scalar: "scalar switch"
        case .validation: "validation"
        case .destination: "destination"
        case .inverse: "inverse"
        case .cardinality: "cardinality"
        case .maximumCount: "maximum count"
        case .minimumCount: "minimum count"
        case .order: "order"
        case .deleteRule: "delete rule"
        case .optional: "optional switch"
        case .transient: "transient switch"
        case .indexed: "index switch"
        case .spotlight: "Spotlight index"
        case .externalRecord: "external record"
        case .syncable: "sync switch"
        case .modifier: "hash modifier"
        case .renamingIdentifier: "renaming identifier"
        case .userInfo: "user info"
        case .versionIdentifiers: "list of version identifiers"
        }
    }

    /// No noun has a first letter as in "umbrella": it is "a uniqueness constraint" and "a user info".
    var article: String { noun.first.map { "aeio".contains($0) } == true ? "An" : "A" }
}
