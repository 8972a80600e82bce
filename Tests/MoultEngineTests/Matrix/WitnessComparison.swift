import MoultBasics
import MoultModel
import MoultPlan

/// What a mapping promises, held against what the witness reads before and after: object by object, value by value.
struct WitnessComparison {
    let before: WitnessStore
    let after: WitnessStore
    let mapping: ResolvedMapping
    let source: ManagedObjectModel
    let destination: ManagedObjectModel
    private(set) var differences: [String] = []
    private(set) var compared = 0

    init(
        _ before: WitnessStore, _ after: WitnessStore, _ mapping: ResolvedMapping, from source: ManagedObjectModel,
        to destination: ManagedObjectModel
    ) {
        self.before = before
        self.after = after
        self.mapping = mapping
        self.source = source
        self.destination = destination
        compareKeys()
        for mapping in mapping.entityMappings { compare(mapping) }
    }

    private mutating func differ(_ text: String) { if differences.count < 10 { differences.append(text) } }

    /// The objects are those of before, under the new entity names, with the same keys, and no others.
    private mutating func compareKeys() {
        var expected: [String: Set<Int>] = [:]
        for entity in mapping.entityMappings {
            guard let from = entity.sourceEntityName, let to = entity.destinationEntityName else { continue }
            expected[to, default: []].formUnion((before.objects[from] ?? [:]).keys)
        }
        for entity in destination.entities {
            let found = Set((after.objects[entity.name] ?? [:]).keys)
            if found != expected[entity.name, default: []] {
                differ(
                    "\(entity.name): keys \(found.sorted()) instead of \(expected[entity.name, default: []].sorted())")
            }
        }
    }

    private mutating func compare(_ entity: ResolvedEntityMapping) {
        guard let from = entity.sourceEntityName, let to = entity.destinationEntityName,
            let old = source.entity(from), let new = destination.entity(to)
        else { return }
        for (key, object) in before.objects[from] ?? [:] {
            guard let result = after.objects[to]?[key] else { continue }
            for (name, value) in entity.attributes {
                guard let attribute = destination.attribute(name, of: new), attribute.type != .composite else {
                    continue
                }
                compared += 1
                let expected = self.value(value, object, old, attribute)
                if result[name] != expected {
                    differ("\(to) \(key) \(name): \(result[name] ?? "none") instead of \(expected ?? "none")")
                }
            }
            for (name, value) in entity.relationships {
                guard case .relationship(let origin) = value, let links = object[origin],
                    let was = source.relationship(origin, of: old),
                    let relationship = destination.relationship(name, of: new)
                else { continue }
                compared += 1
                compare(links, result[name] ?? "", was, relationship, "\(to) \(key) \(name)")
            }
        }
    }

    // MARK: - Attributes

    private func value(
        _ origin: AttributeSource, _ object: WitnessStore.Object, _ entity: EntityDescription,
        _ attribute: AttributeDescription
    ) -> String? {
        switch origin {
        case .constant(let value): return value.map { Self.text($0, attribute.type) } ?? "-"
        // Inference makes none.
        case .expression: return nil
        case .attribute(let name, let substitute):
            guard let type = source.attribute(name, of: entity)?.type, let text = object[name] else { return nil }
            if text == "-" { return substitute.map { Self.text($0, attribute.type) } ?? "-" }
            return type == attribute.type ? text : Self.widened(text, to: attribute.type)
        }
    }

    /// The same number under another type's mark.
    private static func widened(_ text: String, to type: AttributeType) -> String? {
        guard let number = Int64(text.dropFirst(2)), text.hasPrefix("i:") || text.hasPrefix("b:") else {
            return text.hasPrefix("f:") && (type == .double || type == .float) ? text : nil
        }
        switch type {
        case .integer16, .integer32, .integer64: return "i:\(number)"
        case .double, .float: return "f:" + bits(Double(number))
        case .decimal: return "n:\(number)"
        default: return nil
        }
    }

    private static func bits(_ number: Double) -> String {
        let text = String((number + 0).bitPattern, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private static func text(_ value: AttributeValue, _ type: AttributeType) -> String {
        switch value {
        case .integer(let number): "i:\(number)"
        case .boolean(let flag): "b:\(flag ? 1 : 0)"
        case .double(let number): "f:" + bits(number)
        case .date(let number): "d:" + bits(number)
        case .decimal(let digits): "n:" + plain(digits)
        case .string(let text): "s:" + Array(text.utf8).hexadecimal
        case .uri(let text): "u:" + Array(text.utf8).hexadecimal
        case .uuid(let bytes): "U:" + bytes.hexadecimal
        case .binary(let bytes), .transformable(let bytes): "x:" + bytes.hexadecimal
        }
    }

    /// Without zeros that say nothing, as the witness prints a decimal.
    private static func plain(_ digits: String) -> String {
        guard digits.contains(".") else { return digits }
        var text = digits
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    // MARK: - Relationships

    private mutating func compare(
        _ before: String, _ after: String, _ old: RelationshipDescription, _ new: RelationshipDescription,
        _ place: String
    ) {
        let expected = links(before).compactMap { carried($0, to: new.destinationEntityName) }
        let found = links(after)
        let isKept: Bool
        if new.isToMany {
            isKept = old.isOrdered && new.isOrdered ? found == expected : found.sorted() == expected.sorted()
        } else if old.isToMany {
            isKept = expected.isEmpty ? found.isEmpty : found.count == 1 && expected.contains(found[0])
        } else {
            isKept = found == expected
        }
        if !isKept { differ("\(place): \(after) instead of \(expected) (was \(before))") }
    }

    /// `E/1`, in their order.
    private func links(_ text: String) -> [String] {
        text == "-" ? [] : text.dropFirst(2).split(separator: ",").map(String.init)
    }

    /// The object under its new entity's name; nil where it is not carried over, or not to an entity that fits.
    private func carried(_ link: String, to entity: String) -> String? {
        let parts = link.split(separator: "/")
        guard parts.count == 2, let wanted = destination.entity(entity) else { return nil }
        guard let to = mapping.mappings(fromEntity: String(parts[0])).first?.destinationEntityName,
            let description = destination.entity(to), destination.isKind(description, of: wanted)
        else { return nil }
        return "\(to)/\(parts[1])"
    }
}
