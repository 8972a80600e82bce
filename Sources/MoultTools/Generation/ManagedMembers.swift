import MoultBasics
import MoultModel

/// The properties of an entity's class, and the accessors of its to-many relationships.
///
/// Each has three forms: one for Core Data, where `@NSManaged` provides the code; one for `MoultNSCoreData`, where the
/// code is written out; and one for `MoultCoreData`.
struct ManagedMembers {
    struct Property {
        let declaration: [String]
        let foreign: [String]
        let moult: [String]
    }

    struct List {
        let name: String
        let accessors: [(apple: [String], foreign: [String], moult: [String])]
    }

    let properties: [Property]
    let lists: [List]

    /// - Parameters:
    ///   - classes: the class of each entity; an entity without one is an `NSManagedObject`.
    ///   - saysScalars: whether the model records the scalar option. A compiled model does not, and its numbers are
    ///     scalars.
    init(
        _ entity: EntityDescription, classes: [String: String], types: TypeNames, saysScalars: Bool
    ) throws(MigrationError) {
        for name in entity.propertyNames where !name.isIdentifier {
            throw .modelInvalid(
                "The property name \(name) of \(entity.name) is not an identifier.", place: "\(entity.name).\(name)",
                remedy: "Rename the property.")
        }
        var properties: [Property] = []
        for attribute in entity.attributes {
            let isScalar = attribute.usesScalarValueType ?? (!saysScalars && attribute.type != .date)
            properties.append(Self.property(attribute, isScalar: isScalar, types))
        }
        for fetched in entity.fetchedProperties { properties.append(Self.fetched(fetched, types, classes: classes)) }
        var lists: [List] = []
        for relationship in entity.relationships {
            let own = classes[relationship.destinationEntityName]?.identifier
            properties.append(Self.property(relationship, own, types))
            if relationship.isToMany {
                let list = ManagedList(relationship, own ?? "NSManagedObject", moult: own ?? "ManagedObject", types)
                lists.append(List(name: relationship.name, accessors: list.accessors))
            }
        }
        self.properties = properties
        self.lists = lists
    }

    private static func make(
        _ name: String, _ type: String, get: String, set: String? = "newValue", _ moultType: String,
        moultGet: String, moultSet: String? = nil
    ) -> Property {
        let key = name.swiftLiteral
        let name = name.identifier
        let setter = set.map { ["    set { setValue(\($0), forKey: \(key)) }"] } ?? []
        let foreign = ["public var \(name): \(type) {", "    get { \(get) }"] + setter + ["}"]
        let moult =
            ["public var \(name): \(moultType) {", "    get { \(moultGet) }"]
            + (moultSet.map { ["    set { \($0) }"] } ?? []) + ["}"]
        return Property(declaration: ["@NSManaged public var \(name): \(type)"], foreign: foreign, moult: moult)
    }

    /// Returns a property of a type that `MoultCoreData` reads and writes directly.
    private static func typed(
        _ name: String, _ type: String, get: String, set: String = "newValue", _ moultType: String
    ) -> Property {
        let key = name.swiftLiteral
        let access = "self[\(key), as: \(moultType).self]"
        return make(name, type, get: get, set: set, moultType, moultGet: access, moultSet: "\(access) = newValue")
    }

    private static func property(_ attribute: AttributeDescription, isScalar: Bool, _ types: TypeNames) -> Property {
        let name = attribute.name
        let value = "value(forKey: \(name.swiftLiteral))"
        if let number = attribute.type.numberType {
            let type = types(number.name)
            return isScalar
                ? typed(name, type, get: "(\(value) as? NSNumber)?.\(number.accessor) ?? \(number.zero)", type)
                : typed(name, "NSNumber?", get: "\(value) as? NSNumber", type + "?")
        }
        if attribute.type == .date, isScalar {
            let date = types("Date")
            let seconds = "timeIntervalSinceReferenceDate"
            return typed(
                name, types("TimeInterval"), get: "(\(value) as? \(date))?.\(seconds) ?? 0",
                set: "\(date)(\(seconds): newValue)", date + "?")
        }
        if attribute.type == .decimal {
            return typed(name, "NSDecimalNumber?", get: "\(value) as? NSDecimalNumber", types("Decimal") + "?")
        }
        if let plain = attribute.type.plainType {
            let type = types(plain) + "?"
            return typed(name, type, get: "\(value) as? \(types(plain))", type)
        }
        let type =
            switch attribute.type {
            case .composite: "[\(types("String")): \(types("Any"))]"
            case .objectID: "NSManagedObjectID"
            default: attribute.attributeValueClassName.flatMap { $0.isTypeText ? $0 : nil } ?? "NSObject"
            }
        let access = "self[\(name.swiftLiteral)]"
        return make(
            name, type + "?", get: "\(value) as? \(type)", types("Any") + "?", moultGet: access,
            moultSet: "\(access) = newValue")
    }

    private static func property(
        _ relationship: RelationshipDescription, _ own: String?, _ types: TypeNames
    ) -> Property {
        let name = relationship.name
        let value = "value(forKey: \(name.swiftLiteral))"
        let moult = own ?? "ManagedObject"
        guard relationship.isToMany else {
            let type = own ?? "NSManagedObject"
            return typed(name, type + "?", get: "\(value) as? \(type)", moult + "?")
        }
        return relationship.isOrdered
            ? typed(name, "NSOrderedSet?", get: "\(value) as? NSOrderedSet", "[\(moult)]")
            : typed(name, "NSSet?", get: "\(value) as? NSSet", "\(types("Set"))<\(moult)>")
    }

    private static func fetched(
        _ property: FetchedPropertyDescription, _ types: TypeNames, classes: [String: String]
    ) -> Property {
        let own = property.destinationEntityName.flatMap { classes[$0]?.identifier }
        let (type, moult) = ("[\(own ?? "NSManagedObject")]", "[\(own ?? "ManagedObject")]")
        return make(
            property.name, type + "?", get: "value(forKey: \(property.name.swiftLiteral)) as? \(type)", set: nil,
            moult, moultGet: "self[\(property.name.swiftLiteral)] as? \(moult) ?? []")
    }
}

extension AttributeType {
    /// The Swift type of a number, the accessor of `NSNumber` for it, and the value for a missing number.
    fileprivate var numberType: (name: String, accessor: String, zero: String)? {
        switch self {
        case .integer16: ("Int16", "int16Value", "0")
        case .integer32: ("Int32", "int32Value", "0")
        case .integer64: ("Int64", "int64Value", "0")
        case .double: ("Double", "doubleValue", "0")
        case .float: ("Float", "floatValue", "0")
        case .boolean: ("Bool", "boolValue", "false")
        default: nil
        }
    }

    /// The Swift type of other values that have one.
    var plainType: String? {
        switch self {
        case .string: "String"
        case .date: "Date"
        case .binary: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        default: nil
        }
    }
}
