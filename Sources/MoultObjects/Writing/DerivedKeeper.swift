import MoultModel
import MoultSQLite
import MoultStore

/// Keeps the derived attributes that no trigger of the store keeps, by triggers of the connection's own: as temporary
/// ones they are nobody else's and leave no trace in the store.
///
/// What Core Data's own triggers for these look like is not publicly known; what they compute is.
package struct DerivedKeeper {
    private(set) var triggers: [String] = []
    /// The derivations that are not known: their values stay as they are stored.
    private(set) var findings: [Finding] = []
    private let layout: StoreLayout
    private let kept: Set<String>

    init(_ layout: StoreLayout) {
        self.layout = layout
        kept = Set(layout.triggers.map(\.name))
        for entity in layout.model.entities where layout.entityNumbers[entity.name] != nil {
            for attribute in entity.attributes where attribute.isStored {
                guard let derivation = attribute.derivation, !isKept(attribute, of: entity) else { continue }
                add(derivation, of: attribute, in: entity)
            }
        }
    }

    /// The function that the triggers of `canonical:` call.
    package static let canonical = SQLiteFunction("moult_canonical", argumentCount: 1, isCallableFromSchema: true) {
        values in
        values.text(0).map { .text($0.canonical) } ?? .null
    }

    /// Whether the store has triggers for the attribute: Core Data's own keep it then, whatever it is derived from.
    private func isKept(_ attribute: AttributeDescription, of entity: EntityDescription) -> Bool {
        kept.contains { $0.hasPrefix("Z_DA_") && $0.contains("_\(entity.name)_\(attribute.name)_") }
    }

    private mutating func add(
        _ derivation: AttributeDescription.Derivation, of attribute: AttributeDescription,
        in entity: EntityDescription
    ) {
        guard derivation.filter == nil, let shape = DerivedShape(derivation.expression),
            let column = DerivedTarget(attribute, in: entity, layout), let made = column.triggers(for: shape)
        else {
            findings.append(
                Finding(
                    code: "derived-not-kept", severity: .warning, place: "\(entity.name).\(attribute.name)",
                    message: "How to compute \(derivation.expression) is not known; "
                        + "the stored value does not change when objects change.",
                    remedy: "Core Data computes the value when it next saves the object."))
            return
        }
        triggers += made
    }
}

/// A derivation that can be computed.
package enum DerivedShape: Hashable {
    /// `name`, `canonical:(name)`
    case own(attribute: String, isCanonical: Bool)
    /// `author.name`, `canonical:(author.name)`
    case value(relationship: String, attribute: String, isCanonical: Bool)
    /// `pages.@count`
    case count(relationship: String)
    /// `pages.@sum.length`
    case sum(relationship: String, attribute: String)
    case now

    package init?(_ text: String) {
        if let known = DerivationShape(text) {
            switch known {
            case .count(let relationship): self = .count(relationship: relationship)
            case .value(let relationship, let attribute):
                self = .value(relationship: relationship, attribute: attribute, isCanonical: false)
            case .now: self = .now
            }
            return
        }
        switch try? Expression(parsing: text) {
        case .keyPath(let path, of: .evaluatedObject):
            self.init(path: path.split(separator: ".").map(String.init), isCanonical: false)
        case .function("canonical:", let arguments):
            guard arguments.count == 1, case .keyPath(let path, of: .evaluatedObject)? = arguments.first else {
                return nil
            }
            self.init(path: path.split(separator: ".").map(String.init), isCanonical: true)
        case .function("sum:", let arguments):
            guard arguments.count == 1, case .keyPath(let path, of: .evaluatedObject)? = arguments.first else {
                return nil
            }
            let parts = path.split(separator: ".").map(String.init)
            guard parts.count == 2 else { return nil }
            self = .sum(relationship: parts[0], attribute: parts[1])
        default:
            return nil
        }
    }

    /// Whether the value is another than those that it is derived from.
    package var isComputed: Bool {
        switch self {
        case .own(_, let isCanonical), .value(_, _, let isCanonical): isCanonical
        case .sum: true
        case .count, .now: false
        }
    }

    private init?(path: [String], isCanonical: Bool) {
        switch (path.count, path.dropFirst().first) {
        case (1, _) where !path[0].hasPrefix("@"):
            self = .own(attribute: path[0], isCanonical: isCanonical)
        case (2, let second?) where !second.hasPrefix("@"):
            self = .value(relationship: path[0], attribute: second, isCanonical: isCanonical)
        case (3, "@sum") where !isCanonical:
            self = .sum(relationship: path[0], attribute: path[2])
        default:
            return nil
        }
    }
}
