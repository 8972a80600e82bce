import Foundation
import MoultBasics
import MoultModel
import MoultObjects

extension ManagedObject {
    /// The value under a name of the model: numbers as `NSNumber` (so `as? Int`, `as? Bool`, `as? Double` work as in
    /// Core Data), `Decimal`, `String`, `Date`, `Data`, `UUID`, `URL`; a `ManagedObject`; a `Set` of them, an array for
    /// an ordered relationship and a fetched property; a dictionary for a composite attribute.
    ///
    /// - Throws: `unknownKey`; `objectGone` (133000) where the object's row is gone.
    public func value(forKey key: String) throws -> Any? {
        try access { try publicValue(key) }
    }

    /// Sets a value by a name of the model: any of Swift's numbers, an `NSNumber`, and what ``value(forKey:)`` gives.
    ///
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`.
    public func setValue(_ value: Any?, forKey key: String) throws {
        keepWhileChanged()
        try access { try setPublicValue(value, key) }
    }

    /// The value that a key path leads to, through to-one and to-many relationships and operators such as `@count`.
    public func value(forKeyPath keyPath: String) throws -> Any? {
        try access {
            guard let context = managedObjectContext else { throw noContext }
            let value = try context.graph().value(of: Expression(parsing: keyPath), for: object)
            return try value.foundation(in: context)
        }
    }

    /// As ``value(forKey:)`` and ``setValue(_:forKey:)``. What cannot be read is nil; what goes wrong is thrown by the
    /// context's next save.
    public subscript(key: String) -> Any? {
        get { noting(nil) { try value(forKey: key) } }
        set { noting(()) { try setValue(newValue, forKey: key) } }
    }

    /// A value by its name and type: `object["title", as: String?.self]`. Errors are noted as above; what is missing is
    /// the type's empty value.
    public subscript<Value: ManagedProperty>(key: String, as type: Value.Type) -> Value {
        get { noting(Value.missing) { try Value.read(key, of: self) } }
        set { noting(()) { try Value.write(newValue, key, of: self) } }
    }

    /// The same as ``value(forKey:)``: there are no accessors to pass by, as there are in Core Data.
    public func primitiveValue(forKey key: String) throws -> Any? { try value(forKey: key) }
    /// The same as ``setValue(_:forKey:)``: there are no accessors to pass by, as there are in Core Data.
    public func setPrimitiveValue(_ value: Any?, forKey key: String) throws { try setValue(value, forKey: key) }

    /// The identities of a relationship's destinations, none of which is read.
    public func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
        try access {
            guard case .relationship(let relationship, _)? = object.shape[key] else { throw unknownKey(key) }
            return relationship.isToMany ? try object.toManyIDs(key) : [try object.toOneID(key)].compactMap(\.self)
        }
    }

    /// The destinations of a to-many relationship, to be changed one by one.
    public func mutableSetValue(forKey key: String) -> MutableObjectSet { MutableObjectSet(self, key) }

    /// The destinations of an ordered relationship, to be changed one by one.
    public func mutableOrderedSetValue(forKey key: String) -> MutableObjectList { MutableObjectList(self, key) }
}

// MARK: - Access

extension ManagedObject {
    /// Every reading and writing of values goes through here.
    func access<Result>(_ body: () throws -> Result) throws -> Result {
        if !isAwake {
            isAwake = true
            awakeFromFetch()
        }
        return try publicErrors(body)
    }

    /// Notes an error that cannot be thrown here for the next save.
    func noting<Result>(_ fallback: @autoclosure () -> Result, _ body: () throws -> Result) -> Result {
        do {
            return try body()
        } catch {
            managedObjectContext?.note(error)
            return fallback()
        }
    }

    func unknownKey(_ key: String) -> MigrationError {
        MigrationError(
            .unknownKey, "\(object.entityName) has no property \(key).", place: "\(object.entityName).\(key)",
            remedy: "Its properties are: \(object.shape.properties.map(\.name).joined(separator: ", ")).")
    }

    private var noContext: MigrationError {
        MigrationError(
            .usage, "The object has left its context.", place: objectID.description,
            remedy: "Fetch it again in an existing context.")
    }

    func conversion(of attribute: AttributeDescription, _ key: String) -> AttributeConversion {
        let transformer = attribute.valueTransformerName.flatMap {
            managedObjectContext?.persistentStoreCoordinator?.transformers.transformer(for: $0)
        }
        return AttributeConversion(
            type: attribute.type, place: "\(object.entityName).\(key)", transformer: transformer)
    }

    private func publicValue(_ key: String) throws -> Any? {
        switch object.shape[key] {
        case .attribute(_, let attribute)?:
            return try object.attribute(key).map { try conversion(of: attribute, key).foundation($0) }
        case .relationship(let relationship, _)?:
            guard relationship.isToMany else { return try object.toOne(key).map(face) }
            let faces = try object.toMany(key).map(face)
            return relationship.isOrdered ? faces as Any : Set(faces) as Any
        case nil:
            return try compositeValue(key) ?? fetchedValue(key)
        }
    }

    private func setPublicValue(_ value: Any?, _ key: String) throws {
        switch object.shape[key] {
        case .attribute(_, let attribute)?:
            try object.setAttribute(key, try conversion(of: attribute, key).attributeValue(value))
        case .relationship(let relationship, _)?:
            if relationship.isToMany {
                try object.setToMany(key, try destinations(value, key).map(\.object))
            } else {
                try object.setToOne(key, try destinations(value, key).first?.object)
            }
        case nil:
            try setComposite(value, key)
        }
    }

    private func destinations(_ value: Any?, _ key: String) throws -> [ManagedObject] {
        switch value {
        case nil, is NSNull: return []
        case let object as ManagedObject: return [object]
        case let set as Set<ManagedObject>: return Array(set)
        case let list as [ManagedObject]: return list
        case let other?:
            throw MigrationError(
                .wrongType, "A relationship cannot hold a \(type(of: other)).", place: "\(object.entityName).\(key)",
                remedy: "Give a ManagedObject, or a set or an array of them.")
        }
    }

    func face(_ object: Object) throws -> ManagedObject {
        guard let context = managedObjectContext else { throw noContext }
        return try context.face(object)
    }

    private func fault(_ id: ObjectID) throws -> ManagedObject {
        guard let context = managedObjectContext else { throw noContext }
        return try context.object(with: id)
    }

    /// Values by their names, each as ``value(forKey:)`` gives it; no destination is read.
    func publicValues(_ values: [String: ObjectValue]) throws -> [String: Any] {
        var result: [String: Any] = [:]
        for (key, value) in values {
            switch (value, object.shape[key]) {
            case (.attribute(let value?), .attribute(_, let attribute)?):
                result[key] = try conversion(of: attribute, key).foundation(value)
            case (.toOne(let id?), _): result[key] = try fault(id)
            case (.toMany(let ids), .relationship(let relationship, _)?):
                let faces = try ids.map(fault)
                result[key] = relationship.isOrdered ? faces as Any : Set(faces) as Any
            default: result[key] = NSNull()
            }
        }
        return result
    }
}

// MARK: - Composites and fetched properties

extension ManagedObject {
    /// A composite attribute is one property for each of its elements, under the path that leads to it.
    private func elements(of composite: String) -> [String] {
        object.shape.properties.map(\.name).filter { $0.hasPrefix(composite + ".") }
    }

    private func compositeValue(_ key: String) throws -> [String: Any]? {
        let elements = elements(of: key)
        guard !elements.isEmpty else { return nil }
        var result: [String: Any] = [:]
        for element in elements {
            let path = element.dropFirst(key.count + 1).split(separator: ".").map(String.init)
            guard let value = try publicValue(element) else { continue }
            result = Self.setting(value, at: path[...], in: result)
        }
        return result
    }

    private static func setting(_ value: Any, at path: ArraySlice<String>, in values: [String: Any]) -> [String: Any] {
        guard let first = path.first else { return values }
        var values = values
        values[first] =
            path.count == 1
            ? value : setting(value, at: path.dropFirst(), in: values[first] as? [String: Any] ?? [:])
        return values
    }

    private func setComposite(_ value: Any?, _ key: String) throws {
        let elements = elements(of: key)
        guard !elements.isEmpty else { throw unknownKey(key) }
        let values = try leaves(of: value, at: key, among: elements)
        for element in elements { try setPublicValue(values[element], element) }
    }

    /// The values of a dictionary, and of those in it, by the paths of the elements that they are for.
    private func leaves(of value: Any?, at path: String, among elements: [String]) throws -> [String: Any] {
        guard let value, !(value is NSNull) else { return [:] }
        if elements.contains(path) { return [path: value] }
        guard elements.contains(where: { $0.hasPrefix(path + ".") }) else { throw unknownKey(path) }
        guard let values = value as? [String: Any] else {
            throw MigrationError(
                .wrongType, "A composite attribute is set to a dictionary, not to a \(type(of: value)).",
                place: "\(object.entityName).\(path)",
                remedy: "Give a dictionary with the names of its elements as keys.")
        }
        return try values.reduce(into: [:]) { all, entry in
            all.merge(try leaves(of: entry.value, at: "\(path).\(entry.key)", among: elements)) { $1 }
        }
    }

    private func fetchedValue(_ key: String) throws -> [ManagedObject] {
        guard let context = managedObjectContext else { throw noContext }
        let model = try context.coordinator().managedObjectModel
        let property = model.lineage(of: entity).flatMap(\.fetchedProperties).first { $0.name == key }
        guard let property, let destination = property.destinationEntityName else { throw unknownKey(key) }
        var fetch = ObjectFetch(
            entityName: destination, predicate: try property.predicate.map { try .init(parsing: $0) })
        fetch.variables = ["FETCH_SOURCE": .object(objectID)]
        fetch.limit = property.options["fetchLimit"].flatMap { Int($0) } ?? 0
        return try context.graph().fetch(fetch).map(face)
    }
}
