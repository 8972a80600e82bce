import Foundation
import MoultModel

/// The data structure of an index.
public enum NSFetchIndexElementType: UInt, Sendable {
    case binary = 0
    case rTree = 1
}

/// One column of an index.
open class NSFetchIndexElementDescription: NSObject {
    /// The property that is indexed.
    public let property: NSPropertyDescription?
    /// The data structure of the column.
    open var collationType: NSFetchIndexElementType
    /// Whether the least value comes first.
    open var isAscending = true

    /// A column over a property.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
    }

    /// The name of the property.
    open var propertyName: String? { property?.name ?? (property as? NSExpressionDescription)?.name }

    var value: FetchIndexDescription.Element {
        let expression = (property as? NSExpressionDescription)?.expression?.expression.format
        return .init(
            subject: expression.map { .expression($0) } ?? .property(property?.name ?? ""),
            kind: collationType == .rTree ? .rTree : .binary, isAscending: isAscending)
    }
}

/// An index of an entity.
open class NSFetchIndexDescription: NSObject {
    /// The name of the index.
    open var name: String
    /// Its columns, in their order.
    open var elements: [NSFetchIndexElementDescription]
    /// The predicate that selects the rows of the index; nil for all.
    open var partialIndexPredicate: NSPredicate?

    /// An index over the columns.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        self.elements = elements ?? []
    }

    convenience init(_ value: FetchIndexDescription, in entity: NSEntityDescription) {
        let elements = value.elements.compactMap { element -> NSFetchIndexElementDescription? in
            let property: NSPropertyDescription?
            switch element.subject {
            case .property(let name): property = entity.propertiesByName[name]
            case .expression(let format):
                let computed = NSExpressionDescription()
                computed.name = format
                computed.expression = NSExpression(format: format)
                property = computed
            }
            guard let property else { return nil }
            let made = NSFetchIndexElementDescription(
                property: property, collationType: element.kind == .rTree ? .rTree : .binary)
            made.isAscending = element.isAscending
            return made
        }
        self.init(name: value.name, elements: elements)
        partialIndexPredicate = value.partialIndexPredicate.flatMap { try? MoultModel.Predicate(parsing: $0) }
            .map { NSPredicate(moult: $0) }
    }

    func value() throws -> FetchIndexDescription {
        FetchIndexDescription(
            name: name, elements: elements.map(\.value),
            partialIndexPredicate: try partialIndexPredicate?.moult(for: name).predicate.format)
    }
}
