import MoultBasics
import MoultModel

/// An element of a model file with its place, for error messages.
package struct ModelElement {
    package let node: MarkupElement
    package let file: String
    /// The entity or composite that contains the element; empty at the top level.
    package let owner: String

    package var name: String { node[.name] ?? "" }

    /// The place, such as `Model.xcdatamodel/contents:12: Post.title`.
    var place: String {
        let path = [owner, name].filter { !$0.isEmpty }.joined(separator: ".")
        return "\(file):\(node.line)" + (path.isEmpty ? "" : ": \(path)")
    }

    /// Returns the direct child elements of that name.
    package func children(_ name: String, owner: String? = nil) -> [ModelElement] {
        node.children.filter { $0.name == name }.map { ModelElement(node: $0, file: file, owner: owner ?? self.owner) }
    }

    /// The elements of an entity's or composite's own properties, in the order of the source.
    package var properties: [ModelElement] {
        let tags: Set = ["attribute", "relationship", "fetchedProperty"]
        return node.children.filter { tags.contains($0.name) }.map { ModelElement(node: $0, file: file, owner: name) }
    }

    func invalid(_ message: String, remedy: String) -> MigrationError {
        .modelInvalid(message, place: place, remedy: remedy)
    }

    // MARK: - Attributes

    /// Returns the text of an attribute. An empty text counts as absent.
    package func text(_ key: ModelKey) -> String? {
        guard let text = node[key], !text.isEmpty else { return nil }
        return text
    }

    func required(_ key: ModelKey) throws(MigrationError) -> String {
        guard let text = text(key) else {
            throw invalid("The element <\(node.name)> has no \(key).", remedy: "Give it the attribute \(key).")
        }
        return text
    }

    /// Reads `YES` or `NO`, in any case; nil if the attribute is absent. Any other text means `NO`, and is a finding.
    func switchIfPresent(_ key: ModelKey, noting unknown: inout UnknownMarkup) -> Bool? {
        guard let text = node[key] else { return nil }
        if let isOn = Bool(modelFileText: text) { return isOn }
        unknown.add(
            "switch-not-read", self, "\(key) is \"\(text)\", which is neither YES nor NO; it is read as NO.",
            remedy: "Write YES or NO.")
        return false
    }

    func flag(_ key: ModelKey, noting unknown: inout UnknownMarkup) -> Bool {
        switchIfPresent(key, noting: &unknown) ?? false
    }

    /// Reads a count; nil if the attribute is absent, and nil with a finding if it is not a count.
    func count(_ key: ModelKey, noting unknown: inout UnknownMarkup) -> Int? {
        guard let text = text(key) else { return nil }
        if let number = Int32(text), number >= 0 { return Int(number) }
        unknown.add(
            "count-not-read", self, "\(key) is \"\(text)\", which is not a count; it is not read.",
            remedy: "Write a whole number, or remove \(key).")
        return nil
    }

    /// Reads `<userInfo><entry key="…" value="…"/></userInfo>`.
    func userInfo(noting unknown: inout UnknownMarkup) -> [String: String] {
        var entries: [String: String] = [:]
        guard !node.children.isEmpty else { return entries }
        for entry in children("userInfo").flatMap({ $0.children("entry") }) {
            guard let key = entry.node[.key] else {
                unknown.add(
                    "user-info-not-read", entry, "A userInfo entry has no key; it is not read.",
                    remedy: "Give it the attribute key.")
                continue
            }
            entries[key] = entry.node[.value] ?? ""
        }
        return entries
    }
}

/// The attribute names in XML models, as one byte each, because a file contains tens of thousands of them.
package enum ModelKey: UInt8, CaseIterable, Sendable {
    // Anything
    case name, elementID, renamingIdentifier, versionHashModifier, syncable, value, key
    // <entity>
    case representedClassName, isAbstract, parentEntity, codeGenerationType, coreSpotlightDisplayNameExpression
    // <attribute>
    case attributeType, optional, transient, indexed, derived, derivationExpression, filteringPredicate, composite
    case defaultValueString, defaultDateTimeInterval, allowsExternalBinaryDataStorage, preserveAfterDeletion
    case allowsCloudEncryption, valueTransformerName, customClassName, usesScalarValueType
    case spotlightIndexingEnabled, storedInTruthFile, minValueString, maxValueString, minDateTimeInterval
    case maxDateTimeInterval, regularExpressionString
    // <relationship>
    case toMany, maxCount, minCount, ordered, deletionRule, destinationEntity, inverseName, inverseEntity
    // <fetchRequest>, <fetchIndex>, <fetchIndexElement>
    case entity, predicateString, partialIndexPredicate, property, expression, expressionType, type, order
    // <model>, <configuration>
    case userDefinedModelVersionIdentifier, usedWithCloudKit, usedWithSwiftData

    static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })
}

/// A set of keys as bits.
struct ModelKeySet: ExpressibleByArrayLiteral, Sendable {
    private var bits: UInt64 = 0

    init(arrayLiteral keys: ModelKey...) {
        for key in keys { bits |= 1 << UInt64(key.rawValue) }
    }

    func contains(_ key: ModelKey) -> Bool { bits & (1 << UInt64(key.rawValue)) != 0 }
}

/// The contents of a model file that Moult does not know. They are counted, so that a new Xcode setting on five hundred
/// attributes is one finding.
struct UnknownMarkup {
    private struct Occurrence {
        let line: Int
        var count: Int
    }

    private let file: String
    private var occurrences: [String: Occurrence] = [:]
    private(set) var others: [Finding] = []

    init(file: String) { self.file = file }

    /// Records every attribute and child element of `element` that is in neither set.
    mutating func inspect(_ element: ModelElement, attributes: ModelKeySet, children: Set<String> = []) {
        for attribute in element.node.attributes where !attributes.contains(attribute.key) {
            note("attribute \(attribute.key) of <\(element.node.name)>", line: element.node.line)
        }
        for attribute in element.node.otherAttributes {
            note("attribute \(attribute.name) of <\(element.node.name)>", line: element.node.line)
        }
        inspect(children: children, of: element)
    }

    /// Records every child element whose name is not in the set.
    mutating func inspect(children: Set<String>, of element: ModelElement) {
        for child in element.node.children where !children.contains(child.name) {
            note("element <\(child.name)> in <\(element.node.name)>", line: child.line)
        }
    }

    mutating func add(_ code: String, _ element: ModelElement, _ message: String, remedy: String) {
        others.append(Finding(code: code, severity: .warning, place: element.place, message: message, remedy: remedy))
    }

    private mutating func note(_ what: String, line: Int) {
        occurrences[what, default: Occurrence(line: line, count: 0)].count += 1
    }

    var findings: [Finding] {
        let unknown = occurrences.sorted { $0.key < $1.key }.map { what, occurrence in
            Finding(
                code: "unknown-markup", severity: .note, place: "\(file):\(occurrence.line)",
                message: "The \(what) is not known and was not read (\(occurrence.count) in the file).")
        }
        return others + unknown
    }
}
