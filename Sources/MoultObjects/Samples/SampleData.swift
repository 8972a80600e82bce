import MoultBasics
import MoultModel
import MoultStore

/// A generator of sample objects for a store of any model, reproducible from a seed: every attribute type with its
/// extremes and with nil, every kind of relationship, every entity that is not abstract.
///
/// Uniqueness constraints and required properties are respected. A relationship of an entity to itself makes a forest,
/// never a cycle.
package struct SampleData: Sendable {
    package var seed: UInt64
    /// The number of objects of each entity, not counting sub-entities.
    package var count: Int
    /// The numbers that override ``count``, by entity name.
    package var counts: [String: Int]
    /// Whether values include the extremes that break readers, or only everyday ones.
    package var isHostile: Bool
    /// The number of destinations that each object gets in a relationship, if there are enough; 0 leaves optional
    /// relationships empty. By default, the seed decides.
    package var links: Int?
    /// The percentage of optional values that are nil. By default every fifth value, and all values of the first
    /// object.
    package var nils: Int?

    package init(seed: UInt64 = 1, count: Int = 16, counts: [String: Int] = [:], isHostile: Bool = true) {
        (self.seed, self.count, self.counts, self.isHostile) = (seed, count, counts, isHostile)
    }

    /// Writes the objects; the caller commits.
    ///
    /// - Returns: the objects of each entity, not counting sub-entities.
    @discardableResult
    package func fill(_ writer: ObjectWriter) throws -> [String: [ObjectReference]] {
        var objects: [String: [ObjectReference]] = [:]
        var values = SampleValues(seed: seed, isHostile: isHostile, nils: nils)
        var offsets: [String: Int] = [:]
        let entities = writer.layout.model.entities.filter { !$0.isAbstract }
        try WorkMeter.part(upTo: 0.5) {
            WorkMeter.expect(rows: entities.reduce(0) { $0 &+ Int64(counts[$1.name] ?? count) }, .write)
            for entity in entities {
                let root = writer.layout.model.root(of: entity).name
                let number = counts[entity.name] ?? count
                objects[entity.name] = try insert(entity, number, from: offsets[root] ?? 0, into: writer, &values)
                offsets[root, default: 0] += number
            }
        }
        var links = SampleLinks(objects: objects, writer: writer, seed: seed &+ 1, count: links)
        let pairs = links.relationships.map { entity, relationship in
            (size: Int64(objects[entity.name]?.count ?? 0), work: { try links.fill(relationship, of: entity) })
        }
        let _: [Void] = try WorkMeter.each(upTo: 0.9, beats: 1, pairs)
        return objects
    }

    /// - Parameter offset: the number of objects already in the table, so that unique values stay unique in it.
    private func insert(
        _ entity: EntityDescription, _ number: Int, from offset: Int, into writer: ObjectWriter,
        _ values: inout SampleValues
    ) throws -> [ObjectReference] {
        let model = writer.layout.model
        let attributes = model.storedAttributes(of: entity).filter { attribute in
            attribute.description.derivation == nil
                && writer.layout.column(forAttribute: attribute.name, in: entity) != nil
        }
        let unique = Self.uniqueAttributes(of: entity, in: model)
        let enums = model.lineage(of: entity).flatMap(\.attributes).filter(\.isEnum)
        let inserter = try writer.inserter(entity.name, attributes.map(\.name))
        return try (0..<number).map { position in
            let cases = Self.cases(of: enums, position: position)
            return try inserter.insert(
                attributes.map { attribute in
                    if let chosen = cases[attribute.name] { return .attribute(chosen) }
                    return PropertyValue.attribute(
                        unique.contains(attribute.name)
                            ? values.uniqueValue(of: attribute.description, position: offset + position)
                            : values.value(of: attribute.description, position: position))
                })
        }
    }

    /// Returns the values of enum columns, by name. SwiftData cannot read an object whose enum has no case, or two. The
    /// model does not list an enum's raw values, so a required one gets an arbitrary value.
    private static func cases(of enums: [AttributeDescription], position: Int) -> [String: AttributeValue?] {
        var values: [String: AttributeValue?] = [:]
        for attribute in enums {
            let isNone = attribute.isOptional && position % 5 == 0
            let leaves = attribute.leaves
            let names = attribute.elements.map(\.name)
            if attribute.userInfo[AttributeDescription.enumCasesKey] == names.joined(separator: ",") {
                for (index, leaf) in leaves.enumerated() {
                    values.updateValue(
                        !isNone && index == position % leaves.count ? .string(names[index]) : nil, forKey: leaf.name)
                }
            } else if !isNone, let leaf = leaves.first, leaves.count == 1, leaf.type == .string {
                values[leaf.name] = .string(["first", "second", "third"][position % 3])
            } else if !isNone, let leaf = leaves.first, leaves.count == 1,
                [.integer16, .integer32, .integer64].contains(leaf.type)
            {
                values[leaf.name] = .integer(Int64(position % 3))
            }
        }
        return values
    }

    /// Returns one attribute of each constraint that an entity declares or inherits; a distinct value of that one is
    /// enough.
    private static func uniqueAttributes(of entity: EntityDescription, in model: ManagedObjectModel) -> Set<String> {
        var names: Set<String> = []
        for constraint in model.lineage(of: entity).flatMap(\.uniquenessConstraints) {
            let candidates = constraint.filter { name in
                model.attribute(name, of: entity).map { $0.type != .boolean && $0.derivation == nil } ?? false
            }
            if names.isDisjoint(with: candidates), let first = candidates.first { names.insert(first) }
        }
        return names
    }
}

/// A random number generator with a reproducible sequence (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
