import MoultModel
import MoultPlan

/// Two versions of a model, and what a migration from the older to the newer one has to keep.
///
/// ```swift
/// MigrationPair("Shop 1", to: "Shop 2", keeps: ["Customer", "Customer.name", "Order.total as Order.sum"])
/// ```
///
/// `moult generate tests` writes one for each pair of versions. ``TestStore/migrate(_:)`` checks it.
public struct MigrationPair: Sendable, Hashable, CustomStringConvertible {
    /// The name of the version that a store has before.
    public let from: String
    /// The name of the version that it has afterwards.
    public let to: String
    /// The entities and properties that the migration keeps.
    ///
    /// `Entity` stands for the objects: none of them is lost. `Entity.property` stands for values and links: an object
    /// that is still there has the same ones. What is renamed has both names, as in `Order.total as Order.sum`. The
    /// migration may add objects and links, and fill in missing values. An entity does not stand for its sub-entities.
    public let keeps: [String]

    /// - Parameters:
    ///   - from: the name of the older version.
    ///   - to: the name of the newer version.
    ///   - keeps: the entities and properties, as ``keeps`` describes them.
    public init(_ from: String, to: String, keeps: [String]) {
        self.from = from
        self.to = to
        self.keeps = keeps
    }

    /// The names of the two versions.
    public var description: String { "\(from) → \(to)" }
}

/// One entry of ``MigrationPair/keeps``, taken apart.
struct KeptPlace {
    let text: String
    let old: (entity: String, property: String?)
    let new: (entity: String, property: String?)

    /// - Throws: `unknownKey` for a name that its version does not have.
    init(_ text: String, from older: ManagedObjectModel, to newer: ManagedObjectModel) throws(MigrationError) {
        self.text = text
        let sides = text.split(separator: " as ", maxSplits: 1).map(Self.parts)
        let first = sides.first ?? (text, nil)
        (old, new) = (first, sides.last ?? first)
        for (side, model) in [(old, older), (new, newer)] where !model.has(side.entity, side.property) {
            let name = [side.entity, side.property].compactMap(\.self).joined(separator: ".")
            throw MigrationError(
                .unknownKey, "The model has no \(name).", place: text,
                remedy: "Correct the entry, such as \"Post\", \"Post.title\" or \"Post.text as Post.body\".")
        }
        guard (old.property == nil) == (new.property == nil) else {
            throw MigrationError(
                .unknownKey, "\(text) names an entity and a property.", place: text,
                remedy: "Name two entities, or two properties.")
        }
    }

    private static func parts(_ name: Substring) -> (entity: String, property: String?) {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        return (parts.first ?? String(name), parts.count > 1 ? parts[1] : nil)
    }
}

extension ManagedObjectModel {
    fileprivate func has(_ name: String, _ property: String?) -> Bool {
        guard let entity = entity(name) else { return false }
        guard let property else { return true }
        return relationship(property, of: entity) != nil || leaves(of: entity).contains { $0.name == property }
    }
}
