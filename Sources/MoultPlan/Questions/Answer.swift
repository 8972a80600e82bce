import MoultBasics
import MoultModel

/// A decision about one thing that the models leave open.
package struct Answer: Sendable, Hashable, Codable {
    package enum Verdict: String, Sendable, Hashable, Codable {
        /// It was renamed from `old`.
        case rename
        /// It is new. The thing that resembles it was really removed.
        case new
        /// Its values are kept: converted to a wider type, or carried across versions without it.
        case keep
        /// Its values are dropped. It starts with its default value or nil.
        case drop
        /// Existing objects get ``Answer/value``. If the attribute is not new, only those without a value do.
        case value
    }

    /// The name of the older version.
    package var from: String
    /// The name of the newer version.
    package var to: String
    /// The checksums of the two versions' hashes, in base64, for versions that names do not identify: those inside
    /// stores.
    package var fromChecksum: String?
    package var toChecksum: String?
    /// The entity, by its name in the newer version.
    package var entity: String
    /// The property, by its name in the newer version; nil for the entity itself.
    package var property: String?
    package var `is`: Verdict
    /// The name in the older version, for a rename.
    package var old: String?
    /// The value as a person types it, for a required attribute without a default value.
    package var value: String?

    package init(
        from: String, to: String, entity: String, property: String? = nil, is verdict: Verdict, old: String? = nil,
        value: String? = nil
    ) {
        (self.from, self.to, self.entity, self.property) = (from, to, entity, property)
        self.is = verdict
        self.old = old
        self.value = value
    }

    /// Whether a way back to an older version uses the answer; the way forward already defines the renames.
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
            case _ where scalar.isControl: scalar.jsonEscape
            default: String(scalar)
            }
        }
        return "\"" + escaped.joined() + "\""
    }

    /// Returns the value that the answer gives an attribute; nil if it gives none, or one that does not fit the type.
    package func value(for attribute: AttributeDescription) -> AttributeValue? {
        value.flatMap { AttributeValue(answer: $0, type: attribute.type) }
    }
}

extension AttributeValue {
    /// Parses a value as a person types it. Dates are seconds since 2001-01-01 00:00:00 UTC, as in a model file.
    ///
    /// Returns nil for text that is not a value of the type, and for a type whose values cannot be typed.
    fileprivate init?(answer text: String, type: AttributeType) {
        switch type {
        case .integer16: self.init(integer: text, Int64(Int16.min)...Int64(Int16.max))
        case .integer32: self.init(integer: text, Int64(Int32.min)...Int64(Int32.max))
        case .integer64: self.init(integer: text, .min ... .max)
        case .boolean:
            switch text.lowercased() {
            case "yes", "true", "1": self = .boolean(true)
            case "no", "false", "0": self = .boolean(false)
            default: return nil
            }
        case .double, .float, .date:
            guard let number = Double(text), number.isFinite else { return nil }
            self = type == .date ? .date(number) : .double(number)
        case .decimal:
            // Exact digits in their shortest form.
            guard text.wholeMatch(of: /-?[0-9]{1,19}(\.[0-9]{1,19})?/) != nil else { return nil }
            self = .decimal(text.shortDecimal)
        case .string: self = .string(text)
        case .uri: self = .uri(text)
        case .uuid:
            let digits = Array(text.filter { $0 != "-" })
            let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            guard digits.count == 32, bytes.count == 16 else { return nil }
            self = .uuid(bytes)
        case .undefined, .binary, .transformable, .objectID, .composite: return nil
        }
    }

    private init?(integer text: String, _ range: ClosedRange<Int64>) {
        guard let number = Int64(text), range.contains(number) else { return nil }
        self = .integer(number)
    }
}

extension String {
    /// The decimal number without redundant zeros.
    fileprivate var shortDecimal: String {
        let isNegative = hasPrefix("-")
        let parts = (isNegative ? dropFirst() : self[...]).split(separator: ".", maxSplits: 1).map(String.init)
        let whole = parts[0].drop { $0 == "0" }
        let fraction = parts.count > 1 ? String(parts[1].reversed().drop { $0 == "0" }.reversed()) : ""
        let digits = (whole.isEmpty ? "0" : String(whole)) + (fraction.isEmpty ? "" : ".\(fraction)")
        return isNegative && digits != "0" ? "-\(digits)" : digits
    }
}

// An answer about versions of a bundle uses their names, which are unique in the bundle. The version inside a store has
// a name from its app, which another store may share: an answer about it uses its hashes.

extension Answer {
    /// Whether the answer identifies its versions by hashes.
    package var isBound: Bool { fromChecksum != nil && toChecksum != nil }

    /// Returns the answer with the hashes of the two versions, if names do not identify them.
    fileprivate func bound(to from: ModelVersion, _ to: ModelVersion) -> Answer {
        guard from.isInsideStore || to.isInsideStore else { return self }
        var answer = self
        answer.fromChecksum = from.hashes.checksum.base64
        answer.toChecksum = to.hashes.checksum.base64
        return answer
    }

    /// The error for an answer that uses names where names do not identify the versions.
    var unbound: MigrationError {
        MigrationError(
            .usage,
            "The answer \(json) does not identify its stores: other stores have versions of the same names.",
            place: place,
            remedy: """
                Record it again, with the hashes of these two: \(.answer, .anyModel, .set("\(place)=\(choice)"))
                """)
    }
}

extension Question {
    /// Returns the question with the hashes of the two versions in its answers, if names do not identify them.
    package func bound(to older: ModelVersion, _ newer: ModelVersion) -> Question {
        var question = self
        question.answers = answers.map { $0.bound(to: older, newer) }
        return question
    }

    /// Returns the same among versions with distinct names.
    func bound(to versions: ModelVersions) -> Question {
        guard let from = versions.position(named: from), let to = versions.position(named: to) else { return self }
        return bound(to: versions.versions[from], versions.versions[to])
    }
}

extension ModelVersion {
    fileprivate func isCalled(_ name: String, _ checksum: String?) -> Bool {
        checksum.map { $0 == hashes.checksum.base64 } ?? names.contains(name)
    }

    /// Whether an answer refers to this version, by its hashes or else by one of its names.
    func isMeant(by name: String, _ checksum: String?) -> Bool {
        isCalled(name, checksum) && !(isInsideStore && checksum == nil)
    }
}

extension ModelVersions {
    /// Returns the positions of the versions that an answer is about; nil if one is not among them.
    package func positions(of answer: Answer) -> (from: Int, to: Int)? {
        let from = versions.firstIndex { $0.isCalled(answer.from, answer.fromChecksum) }
        let to = versions.firstIndex { $0.isCalled(answer.to, answer.toChecksum) }
        guard let from, let to else { return nil }
        return (from, to)
    }

    /// Whether any version is inside a store, so that its name does not identify it.
    package var areInsideStores: Bool { versions.contains(where: \.isInsideStore) }
}
