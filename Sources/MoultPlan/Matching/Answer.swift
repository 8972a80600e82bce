import MoultModel

/// A decision about one thing that the models leave open.
package struct Answer: Sendable, Hashable, Codable {
    package enum Verdict: String, Sendable, Hashable, Codable {
        /// It was renamed from `old`.
        case rename
        /// It is new. The thing that resembles it was really removed.
        case new
        /// Its values are kept: converted to a wider type, or carried over versions without it.
        case keep
        /// Its values are dropped. It starts with its default value or nil.
        case drop
        /// The objects that exist get ``Answer/value``: those without one, where the attribute is not new.
        case value
    }

    /// The version before, by name.
    package var from: String
    /// The version after, by name.
    package var to: String
    /// The checksums of the two versions' hashes, in base64, where names do not tell which versions they are: those inside
    /// stores.
    package var fromChecksum: String?
    package var toChecksum: String?
    /// The entity, by its name in the version after.
    package var entity: String
    /// The property, by its name in the version after; nil for the entity itself.
    package var property: String?
    package var `is`: Verdict
    /// The name in the version before, for a rename.
    package var old: String?
    /// The value as a person types it, for a required attribute without a default value.
    package var value: String?

    package init(
        from: String, to: String, entity: String, property: String? = nil, is verdict: Verdict, old: String? = nil,
        value: String? = nil
    ) {
        self.from = from
        self.to = to
        self.entity = entity
        self.property = property
        self.is = verdict
        self.old = old
        self.value = value
    }

    /// Whether it is one that a way back, to an older version, asks for: what was renamed is told by the way forward.
    var isForWayBack: Bool { self.is == .value }

    /// `Entity.property`, or `Entity`.
    package var place: String { [entity, property].compactMap { $0 }.joined(separator: ".") }

    /// The decision, without the place: `rename:name`, `new`, `keep`, `drop`, `value:0`.
    package var choice: String { self.is.rawValue + ((value ?? old).map { ":\($0)" } ?? "") }

    /// One line of JSON, ready to paste into an answers file.
    package var json: String {
        var fields = [("from", from), ("to", to)]
        if let fromChecksum { fields.append(("fromChecksum", fromChecksum)) }
        if let toChecksum { fields.append(("toChecksum", toChecksum)) }
        fields.append(("entity", entity))
        if let property { fields.append(("property", property)) }
        fields.append(("is", self.is.rawValue))
        if let old { fields.append(("old", old)) }
        if let value { fields.append(("value", value)) }
        return "{" + fields.map { "\"\($0.0)\": \(quoted($0.1))" }.joined(separator: ", ") + "}"
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case "\n": "\\n"
            case "\t": "\\t"
            case "\r": "\\r"
            case _ where scalar.steersTerminal: scalar.jsonEscape
            default: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }
}
