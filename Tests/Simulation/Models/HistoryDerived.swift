import Foundation
import MoultModel
import TestSupport

extension HistoryModel {
    /// An attribute that the store computes. A version has it where all that it follows from is there.
    struct Derived: Codable, Sendable {
        /// A name that no other attribute ever has.
        var name: String
        /// The number of its type.
        var type: Int32
        /// nil for the value itself.
        var function: Function?
        /// The link over which it is computed, from its first end or from its inverse; nil for a value of the same
        /// object.
        var link: Int?
        var isBackward = false
        /// The attribute that it is computed from; nil for a count.
        var attribute: Int?

        enum Function: String, Codable, CaseIterable, Sendable {
            case canonical, uppercase, lowercase, count, sum

            var isOfList: Bool { self == .count || self == .sum }
        }
    }

    /// The attributes of an entity, without the inherited ones, that have a column and a value of their own.
    func stored(by entity: Entity) -> [AttributeDescription] {
        entity.attributes.map(\.description) + derived(by: entity)
    }

    func derived(by entity: Entity) -> [AttributeDescription] {
        (entity.derived ?? []).compactMap { description(of: $0, in: entity.id) }
    }

    /// The derived attributes that objects of the entity have.
    func derivations(of id: Int) -> [Derived] {
        lineage(id).flatMap { entity in (entity.derived ?? []).filter { description(of: $0, in: entity.id) != nil } }
    }

    /// Whether a text is computed from others, by the store's own triggers or by those of programs.
    var derivesTexts: Bool { entities.contains { derived(by: $0).contains { $0.type == .string } } }

    /// Whether something is computed over a link.
    var derivesOverLinks: Bool { entities.contains { derivations(of: $0.id).contains { $0.link != nil } } }

    /// Whether each derived attribute of a version of the same form has here what it had there: it is computed by the
    /// same words, from an attribute that is required in both versions or in neither.
    func keepsDerived(of old: HistoryModel) -> Bool {
        func isOptional(_ id: Int?, _ model: HistoryModel) -> Bool? {
            model.entities.flatMap(\.attributes).first { $0.id == id }?.description.isOptional
        }
        return old.entities.allSatisfy { entity in
            (entity.derived ?? []).allSatisfy { derived in
                guard let before = old.description(of: derived, in: entity.id) else { return true }
                let kept = self.entity(entity.id)?.derived?.first { $0.name == derived.name }
                return kept.flatMap { description(of: $0, in: entity.id) }?.derivation == before.derivation
                    && isOptional(derived.attribute, self) == isOptional(derived.attribute, old)
            }
        }
    }

    /// What the model says of a derived attribute; nil where it does not have it.
    func description(of derived: Derived, in id: Int) -> AttributeDescription? {
        var (far, path) = (id, [String]())
        let isOfList = derived.function?.isOfList == true
        if let link = derived.link {
            guard let link = self.link(link), let end = derived.isBackward ? link.inverse : link.end,
                isKind(id, of: end.entity), end.isToMany == isOfList
            else { return nil }
            (far, path) = (derived.isBackward ? link.end.entity : link.far, [end.name])
        } else if isOfList {
            return nil
        }
        if derived.function == .count {
            path.append("@count")
        } else {
            let known = lineage(far).flatMap(\.attributes).first { $0.id == derived.attribute }
            guard let attribute = known?.description, attribute.compositePath == nil,
                derived.function(of: attribute.type)
            else { return nil }
            path += (isOfList ? ["@sum"] : []) + [attribute.name]
        }
        let joined = path.joined(separator: ".")
        let expression = isOfList ? joined : derived.function.map { "\($0.rawValue):(\(joined))" } ?? joined
        return AttributeType(rawValue: derived.type).map {
            AttributeDescription(name: derived.name, type: $0, derivation: .init(expression: expression))
        }
    }
}

extension HistoryModel.Derived {
    /// Whether it can be computed from values of a type. A sum of larger numbers may have no place, and one of real
    /// numbers depends on their order.
    fileprivate func function(of type: AttributeType) -> Bool {
        switch function {
        case .canonical, .uppercase, .lowercase: type == .string
        case .sum: type == .integer16 || type == .integer32
        case .count: false
        case nil: type.rawValue == self.type
        }
    }
}

// MARK: - Edits

extension HistoryEditor {
    /// Adds a derived attribute, or removes one.
    mutating func changeDerived() -> Bool {
        guard !isPlain, let position = model.entities.indices.randomElement(using: &random) else { return false }
        let derived = model.entities[position].derived ?? []
        if let gone = derived.indices.randomElement(using: &random), isLikely(1, in: 3) {
            model.entities[position].derived?.remove(at: gone)
            return true
        }
        guard let new = newDerived(of: model.entities[position].id) else { return false }
        model.entities[position].derived = derived + [new]
        return true
    }

    private mutating func newDerived(of entity: Int) -> HistoryModel.Derived? {
        let functions = HistoryModel.Derived.Function.allCases.map(Optional.some) + [nil]
        guard let function = functions.randomElement(using: &random) else { return nil }
        let sides = [(nil, false)] + model.links.flatMap { [(Optional($0.id), false), (Optional($0.id), true)] }
        let attributes = function == .count ? [nil] : model.entities.flatMap(\.attributes).map(Optional.some)
        let name = "derived\(newID())"
        let fitting = sides.flatMap { link, isBackward in
            attributes.compactMap { attribute -> HistoryModel.Derived? in
                let type: AttributeType? =
                    switch function {
                    case .canonical, .uppercase, .lowercase: .string
                    case .count, .sum: .integer64
                    case nil: attribute?.description.type
                    }
                guard let type, function != nil || copies(type, overLink: link != nil) else { return nil }
                let derived = HistoryModel.Derived(
                    name: name, type: type.rawValue, function: function, link: link, isBackward: isBackward,
                    attribute: attribute?.id)
                return model.description(of: derived, in: entity) == nil ? nil : derived
            }
        }
        return fitting.randomElement(using: &random)
    }

    /// Whether a value may be derived that is one of the type.
    private func copies(_ type: AttributeType, overLink: Bool) -> Bool {
        switch type {
        case .string, .integer16, .integer32, .integer64: true
        case .binary, .transformable: false
        default: overLink
        }
    }
}

// MARK: - The slow and obvious meaning

extension HistoryWorld {
    /// The text of what an object's derived attribute is.
    func text(_ derived: HistoryModel.Derived, of number: Int) -> String {
        let found = derived.link.map { destinations($0, of: number, derived.isBackward) } ?? [number]
        let texts = found.map { other in derived.attribute.flatMap { objects[other]?.values[$0] } ?? "-" }
        switch derived.function {
        case .count: return "i:\(found.count)"
        case .sum: return "i:\(texts.reduce(0) { $0 + (Int64($1.dropFirst(2)) ?? 0) })"
        case nil: return texts.first ?? "-"
        case .uppercase: return HistoryValues.uppercased(texts.first ?? "-")
        case .lowercase: return HistoryValues.changed(texts.first ?? "-") { $0.lowercased() }
        case .canonical: return HistoryValues.changed(texts.first ?? "-", HistoryValues.canonical)
        }
    }
}

extension HistoryValues {
    /// Without marks and without case, where ß is ss.
    fileprivate static func canonical(_ text: String) -> String {
        let letters = text.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
            $0.properties.canonicalCombiningClass == .notReordered
        }
        return String(String.UnicodeScalarView(letters)).lowercased().uppercased().lowercased()
            .precomposedStringWithCanonicalMapping
    }
}
