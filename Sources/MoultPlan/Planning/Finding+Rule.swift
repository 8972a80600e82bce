import MoultModel

extension Finding {
    /// The rule of `moult lint` that reports the same from the models alone, such as `INFER005`; nil for what only a
    /// store or code shows. The rule has the documentation; its findings have the sentences and remedies of this one.
    package var rule: String? { Self.rules[code] }

    /// The codes of the findings of a plan that a rule stands for.
    package static func codes(ofRule rule: String) -> [String] {
        rules.filter { $0.value == rule }.keys.sorted { $0.precedesInByteOrder($1) }
    }

    private static let rules: [String: String] = {
        var rules = [
            // Questions, and what is refused.
            "question-rename": "INFER001", "question-returned": "INFER001",
            "question-ambiguous-identifier": "INFER002",
            "question-conversion": "INFER003", "type-not-convertible": "INFER003",
            "question-destination": "INFER004", "destination-not-convertible": "INFER004",
            "required-without-default": "INFER005",
            "required-relationship": "INFER006", "hierarchies-merged": "INFER007", "inverses-disagree": "INFER008",
            // What the rows of a store show.
            "rows-dropped": "DATA001", "values-dropped": "DATA002", "links-dropped": "DATA002",
            "order-dropped": "DATA005", "required-missing": "DATA006", "not-unique": "DATA007",
            "join-name-uncertain": "DATA009", "keys-shifted": "DATA011", "cloudkit-rename": "SYNC011",
            // What only a SwiftData plan has.
            "stage-missing": "OPEN009", "type-shared": "OPEN010", "values-unread": "DATA010",
            "lost-in-stage": "DATA010", "checksum-twice": "OPEN007", "class-renamed": "INFER001",
        ]
        let changes: [ModelChange.Kind: String] = [
            .entityRemoved: "DATA001", .entityLeft: "DATA012", .attributeRemoved: "DATA002",
            .relationshipRemoved: "DATA002",
            .transient: "DATA003", .derivation: "DATA003", .type: "DATA003", .attributeMoved: "DATA003",
            .relationshipMoved: "DATA003", .destination: "DATA003", .cardinality: "DATA004", .maximumCount: "DATA004",
            .order: "DATA005",
            .optional: "DATA006", .minimumCount: "DATA006", .constraintAdded: "DATA007", .valueTransformer: "DATA008",
            .valueClass: "DATA008", .abstract: "DATA008",
        ]
        for (kind, rule) in changes { rules[kind.rawValue] = rule }
        return rules
    }()
}
