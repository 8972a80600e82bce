/// A fetch index of an entity (models since 2017).
public struct FetchIndexDescription: Sendable, Hashable {
    /// The index's name, which is also part of its name in SQLite.
    public var name: String
    /// The columns, in index order.
    public var elements: [Element]
    /// The predicate of a partial index, in Core Data's format language.
    public var partialIndexPredicate: String?

    /// Creates an index over all rows of the entity, or over the rows that satisfy a predicate.
    public init(name: String, elements: [Element], partialIndexPredicate: String? = nil) {
        (self.name, self.elements, self.partialIndexPredicate) = (name, elements, partialIndexPredicate)
    }

    /// One column of the index.
    public struct Element: Sendable, Hashable {
        /// The property or the expression whose values the column holds.
        public var subject: Subject
        /// The data structure of the column. In an R-tree index, every column has this kind.
        public var kind: Kind
        /// Whether the values ascend.
        public var isAscending: Bool
        /// The result type of an expression, as written in the model file.
        public var expressionType: String?

        /// Creates a column, by default ascending in a binary index.
        public init(subject: Subject, kind: Kind = .binary, isAscending: Bool = true, expressionType: String? = nil) {
            (self.subject, self.kind) = (subject, kind)
            (self.isAscending, self.expressionType) = (isAscending, expressionType)
        }
    }

    /// The subject of an element: a property by name, or an expression such as `self` or `entity`.
    public enum Subject: Sendable, Hashable {
        case property(String)
        case expression(String)
    }

    /// The data structures, with Core Data's numbers (`NSFetchIndexElementType`).
    public enum Kind: Int, Sendable, Hashable {
        case binary = 0
        case rTree = 1
    }
}

/// A model can define an index in three ways: the indexed switch of an attribute, a compound index, and a fetch index.
/// The first two are older, and redundant next to fetch indexes.
extension EntityDescription {
    /// Returns the fetch indexes, and one for each older index that no fetch index replaces.
    ///
    /// An attribute in a fetch index gets no second index of its own name, except in an Xcode source: for an attribute
    /// with an ascending fetch index on that attribute alone, Xcode's compiler also creates the index of its name.
    package func effectiveFetchIndexes(ofSource isOfSource: Bool) -> [FetchIndexDescription] {
        let names = Set(fetchIndexes.map(\.name))
        let indexed = Set(fetchIndexes.flatMap(\.elements).compactMap(\.property))
        let single = attributes.filter { attribute in
            let isRepeated = fetchIndexes.contains {
                $0.properties == [attribute.name] && $0.elements.allSatisfy(\.isAscending)
            }
            return attribute.isStored && !names.contains(attribute.name)
                && (attribute.isIndexed && !indexed.contains(attribute.name) || isOfSource && isRepeated)
        }.map { FetchIndexDescription(name: $0.name, elements: [.init(subject: .property($0.name))]) }
        let known = Set(fetchIndexes.compactMap(\.properties))
        let compound = compoundIndexes.filter { !known.contains($0) }.map { properties in
            FetchIndexDescription(
                name: properties.joined(separator: "_"), elements: properties.map { .init(subject: .property($0)) })
        }
        return single + fetchIndexes + compound.filter { !names.contains($0.name) }
    }

    /// The same for an entity that does not come from a source.
    package var effectiveFetchIndexes: [FetchIndexDescription] { effectiveFetchIndexes(ofSource: false) }

    /// The compound indexes, followed by the fetch indexes that are equivalent to one.
    package var effectiveCompoundIndexes: [[String]] {
        let translated = fetchIndexes.compactMap(\.properties).filter { $0.count > 1 && !compoundIndexes.contains($0) }
        return compoundIndexes + translated
    }

    /// Whether an attribute has the indexed switch, or a fetch index on that attribute alone implies it.
    package func indexes(_ attribute: AttributeDescription) -> Bool {
        attribute.isIndexed || fetchIndexes.contains { $0.properties == [attribute.name] }
    }

    /// Removes the older indexes that a compiled model repeats next to its fetch indexes, so that each index occurs
    /// once.
    ///
    /// A fetch index that is equivalent to an attribute's indexed switch or to a compound index, as compiled by Xcode,
    /// becomes that switch or compound index again.
    /// - Returns: the attributes and compound indexes without an equivalent fetch index. Core Data creates no index for
    ///   them if the model has fetch indexes.
    package mutating func removeTranslatedIndexes() -> [String] {
        let described = Set(fetchIndexes.flatMap(\.elements).compactMap(\.property))
        var ignored: [String] = []
        for properties in compoundIndexes {
            let own = fetchIndexes.filter { $0.properties == properties }
            let isTranslated = own.count == 1 && own[0].translates(properties, named: properties.joined(separator: "_"))
            if isTranslated { fetchIndexes.removeAll { $0.properties == properties } }
            if !isTranslated { compoundIndexes.removeAll { $0 == properties } }
            if own.isEmpty, !properties.isEmpty { ignored.append(properties.joined(separator: ", ")) }
        }
        for position in attributes.indices where attributes[position].isIndexed {
            let name = attributes[position].name
            let own = fetchIndexes.filter { $0.elements.contains { $0.property == name } }
            let isTranslated = own.count == 1 && own[0].translates([name], named: name)
            if isTranslated { fetchIndexes.removeAll { $0.name == name } }
            attributes[position].isIndexed = isTranslated
            if !described.contains(name) { ignored.append(name) }
        }
        return ignored
    }
}

extension FetchIndexDescription.Element {
    /// The name of the property; nil for an expression.
    fileprivate var property: String? {
        if case .property(let name) = subject { name } else { nil }
    }
}

extension FetchIndexDescription {
    /// Whether the index is the translation of an older index of `properties`.
    fileprivate func translates(_ properties: [String], named name: String) -> Bool {
        self.name == name && self.properties == properties && elements.allSatisfy(\.isAscending)
    }

    /// The names of the properties of a plain index; nil for expressions, an R-tree or a partial index.
    fileprivate var properties: [String]? {
        guard partialIndexPredicate == nil, elements.allSatisfy({ $0.kind == .binary }) else { return nil }
        let names = elements.compactMap(\.property)
        return names.count == elements.count ? names : nil
    }
}

extension ManagedObjectModel {
    /// Returns every fetch index that a store has for one of the model's entities.
    package func effectiveFetchIndexes(of entity: EntityDescription) -> [FetchIndexDescription] {
        entity.effectiveFetchIndexes(ofSource: isSource)
    }

    /// Whether the model is a source that Xcode compiles for an app. An archive and SwiftData's types describe every
    /// index themselves.
    private var isSource: Bool { !documentAttributes.isEmpty && !isOn("usedWithSwiftData") }
}
