extension ModelChange {
    /// One plain sentence that says what changes.
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
        /// A switch, whose two positions are words: optional and required.
        case state
        /// Anything that has a value.
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

    /// The thing that changes, in the field's own words.
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

    /// No noun begins with the vowel of "umbrella": it is a uniqueness constraint and a user info.
    var article: String { noun.first.map { "aeio".contains($0) } == true ? "An" : "A" }
}
