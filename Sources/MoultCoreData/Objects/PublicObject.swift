import Foundation
import MoultBasics
import MoultModel
import MoultObjects

/// An object as an app sees it: a ``ManagedObject``, whose methods throw, or one with Core Data's name and signatures,
/// which does not exist on Apple's platforms. Both wrap the stored object directly.
package protocol PublicObject: AnyObject, SendableMetatype {
    /// The context that created the object; nil once it is deallocated.
    var context: ManagedObjectContext? { get }
    /// The stored object; nil for an object without a context.
    var storedObject: Object? { get }
    /// Whether the context retains this object because it has changes.
    var isKept: Bool { get set }
    /// Whether ``awakeFromFetch()`` or ``awakeFromInsert()`` has been called.
    var awakening: Awakening { get set }

    /// The default class for entities without one.
    static var base: any PublicObject.Type { get }
    static func make(_ object: Object, in context: ManagedObjectContext) -> AnyObject
    /// The modules to search for the class names in a model.
    static var modules: Set<String> { get }
    /// Adds the module of the class to the modules to search.
    static func noteModule()
    static func find(_ className: String, in modules: Set<String>) -> (any PublicObject.Type)?
    /// Returns the stored objects of a relationship value; nil if the value is not one.
    static func storedObjects(_ value: Any) -> [Object]?
    /// Returns the value for several destinations, or for the results of a fetched property.
    static func group(_ objects: [Object], as form: ObjectGroup, in context: ManagedObjectContext?) throws -> Any
    /// Whether decimals are `NSDecimalNumber`, and Foundation's classes are accepted as values.
    static var takesFoundationClasses: Bool { get }
    /// Returns the transformer for a transformable attribute; nil if none is registered.
    static func transformer(_ name: String?, in context: ManagedObjectContext?) -> AnyAttributeTransformer?

    func awakeFromInsert()
    func awakeFromFetch()
    func willSave()
    func didSave()
    func prepareForDeletion()
    func validateValue(_ value: Any?, forKey key: String) throws
    func validateForInsert() throws
    func validateForUpdate() throws
    func validateForDelete() throws
}

/// The state of a public object between its creation and the end of ``PublicObject/awakeFromFetch()``.
package enum Awakening { case ahead, running, done }

/// The collection type for a value of several objects.
package enum ObjectGroup {
    case set, orderedSet
    /// The results of a fetched property.
    case list

    package init(_ relationship: RelationshipDescription) { self = relationship.isOrdered ? .orderedSet : .set }
}

extension PublicObject {
    // MARK: - Access

    /// Runs `body`, which reads or writes values. Every access to values goes through this method, which calls
    /// `awakeFromFetch` each time that a fault was filled.
    package func access<Result>(_ body: () throws -> Result) throws -> Result {
        try publicErrors {
            if let storedObject, try storedObject.beginAccess() || awakening == .ahead {
                awakening = .running
                storedObject.withoutChanging(awakeFromFetch)
                awakening = .done
            }
            return try body()
        }
    }

    /// Makes the context retain this object until the next save, because it may have values of its own.
    package func keepWhileChanged() {
        guard !isKept, awakening != .running, let context else { return }
        isKept = true
        awakening = .done
        context.turn.withLock { context.kept.append(self) }
    }

    func liveContext(_ object: Object) throws -> ManagedObjectContext {
        if let context { return context }
        throw MigrationError(
            .usage, "The object has left its context.", place: object.id.description,
            remedy: "Fetch it again in an existing context.")
    }

    package func unknownKey(_ key: String, of object: Object) -> MigrationError {
        MigrationError(
            .unknownKey, "\(object.entityName) has no property \(key).", place: "\(object.entityName).\(key)",
            remedy: "Its properties are: \(object.shape.properties.map(\.name).joined(separator: ", ")).")
    }

    package func conversion(of attribute: AttributeDescription, _ key: String, of object: Object) -> AttributeConversion
    {
        AttributeConversion(
            type: attribute.type, owner: object.entityName, name: key,
            transformer: attribute.type == .transformable
                ? Self.transformer(attribute.valueTransformerName, in: context) : nil,
            takesFoundationClasses: Self.takesFoundationClasses, takesEveryNumber: Self.takesFoundationClasses)
    }

    // MARK: - Values

    /// Returns the value for a key of the model.
    ///
    /// - Throws: `unknownKey`, `objectGone`, `dataConflict`.
    package func read(_ key: String, of object: Object) throws -> Any? {
        guard let position = object.shape.position(of: key) else {
            return try composite(key, of: object) ?? fetched(key, of: object)
        }
        switch object.shape.properties[position] {
        case .attribute(_, let attribute):
            return try object.attribute(at: position).map {
                try conversion(of: attribute, key, of: object).foundation($0)
            }
        case .relationship(let relationship, _):
            if relationship.isToMany { return try group(try object.toMany(key), as: .init(relationship), of: object) }
            return try object.toOne(key).map { try liveContext(object).publicObject($0) }
        }
    }

    /// Sets the value for a key of the model.
    ///
    /// - Parameter isChange: whether setting an attribute makes the next save write the object.
    /// - Throws: `unknownKey`, `wrongType`, `objectGone`.
    package func write(_ value: Any?, _ key: String, of object: Object, isChange: Bool = true) throws {
        switch object.shape[key] {
        case .attribute(_, let attribute)?:
            let value = try conversion(of: attribute, key, of: object).attributeValue(value)
            try object.setAttribute(key, value, isChange: isChange, touches: true)
        case .relationship(let relationship, _)?:
            let destinations = try destinations(value, key, of: object)
            if relationship.isToMany {
                try object.setToMany(key, destinations, touches: true)
            } else {
                try object.setToOne(key, destinations.first, touches: true)
            }
        case nil:
            try setComposite(value, key, of: object)
        }
    }

    private func destinations(_ value: Any?, _ key: String, of object: Object) throws -> [Object] {
        guard let value, !(value is NSNull) else { return [] }
        if let objects = Self.storedObjects(value) { return objects }
        throw MigrationError(
            .wrongType, "A relationship cannot hold a \(type(of: value)).", place: "\(object.entityName).\(key)",
            remedy: "Give a ManagedObject, or a set or an array of them.")
    }

    /// Returns the value for a key path, through relationships and operators such as `@count`.
    package func read(keyPath: String, of object: Object) throws -> Any? {
        let context = try liveContext(object)
        return try context.graph().value(of: Expression(parsing: keyPath), for: object).foundation(in: context)
    }

    /// Returns values by name, each in the form of ``read(_:of:)``, without reading any destination. Nil values are
    /// `NSNull`. A composite attribute is returned whole if one of its elements is among the values.
    package func read(_ values: [String: ObjectValue], of object: Object) throws -> [String: Any] {
        try values.reduce(into: [:]) { result, value in
            let found = try read(value.value, value.key, of: object)
            let path = value.key.split(separator: ".").map(String.init)
            if let key = path.first, path.count > 1 {
                let present = try result[key] as? [String: Any] ?? composite(key, of: object) ?? [:]
                result[key] = Self.setting(found, at: path.dropFirst(), in: present)
            } else {
                result[value.key] = found ?? NSNull()
            }
        }
    }

    private func read(_ value: ObjectValue, _ key: String, of object: Object) throws -> Any? {
        switch (value, object.shape[key]) {
        case (.attribute(let value?), .attribute(_, let attribute)?):
            let conversion = conversion(of: attribute, key, of: object)
            do { return try conversion.foundation(value) } catch let error as MigrationError
                where error.code == .dataConflict
            {
                return nil
            }
        case (.toOne(let id?), _): return try liveContext(object).publicObject(with: id)
        case (.toMany(let ids), .relationship(let relationship, _)?):
            let objects = try ids.isEmpty ? [] : liveContext(object).withLock { try ids.map($0.object) }
            return try group(objects, as: .init(relationship), of: object)
        default: return nil
        }
    }

    package func objectIDs(_ key: String, of object: Object) throws -> [ManagedObjectID] {
        guard case .relationship(let relationship, _)? = object.shape[key] else { throw unknownKey(key, of: object) }
        return relationship.isToMany ? try object.toManyIDs(key) : [try object.toOneID(key)].compactMap(\.self)
    }

    // MARK: - Composites and fetched properties

    /// Returns the elements of a composite attribute. Each element is a property named by its path.
    private func elements(of composite: String, _ object: Object) -> [String] {
        object.shape.properties.map(\.name).filter { $0.hasPrefix(composite + ".") }
    }

    private func composite(_ key: String, of object: Object) throws -> [String: Any]? {
        let elements = elements(of: key, object)
        guard !elements.isEmpty else { return nil }
        var result: [String: Any] = [:]
        for element in elements {
            let path = element.dropFirst(key.count + 1).split(separator: ".").map(String.init)
            guard let value = try read(element, of: object) else { continue }
            result = Self.setting(value, at: path[...], in: result)
        }
        return result
    }

    /// Returns a composite attribute's value with another value at the path of an element.
    package static func setting(_ value: Any?, at path: ArraySlice<String>, in values: [String: Any]) -> [String: Any] {
        guard let first = path.first else { return values }
        var values = values
        values[first] =
            path.count == 1
            ? value : setting(value, at: path.dropFirst(), in: values[first] as? [String: Any] ?? [:])
        return values
    }

    private func setComposite(_ value: Any?, _ key: String, of object: Object) throws {
        let elements = elements(of: key, object)
        guard !elements.isEmpty else { throw unknownKey(key, of: object) }
        let values = try leaves(of: value, at: key, among: elements, of: object)
        for element in elements { try write(values[element], element, of: object) }
    }

    /// Returns the values of a dictionary, and of nested dictionaries, keyed by the paths of their elements.
    private func leaves(
        of value: Any?, at path: String, among elements: [String], of object: Object
    ) throws -> [String: Any] {
        guard let value, !(value is NSNull) else { return [:] }
        if elements.contains(path) { return [path: value] }
        guard elements.contains(where: { $0.hasPrefix(path + ".") }) else { throw unknownKey(path, of: object) }
        guard let values = value as? [String: Any] else {
            throw MigrationError(
                .wrongType, "A composite attribute is set to a dictionary, not to a \(type(of: value)).",
                place: "\(object.entityName).\(path)",
                remedy: "Give a dictionary with the names of its elements as keys.")
        }
        return try values.reduce(into: [:]) { all, entry in
            all.merge(try leaves(of: entry.value, at: "\(path).\(entry.key)", among: elements, of: object)) { $1 }
        }
    }

    private func fetchedProperty(_ key: String, of object: Object) throws -> FetchedPropertyDescription? {
        let model = try liveContext(object).coordinator().managedObjectModel
        return model.lineage(of: object.shape.entity).flatMap(\.fetchedProperties).first { $0.name == key }
    }

    /// Whether the entity has a property, a composite attribute or an element of one with this name.
    package func has(_ key: String, _ object: Object) -> Bool {
        if object.shape.position(of: key) != nil || object.shape.isComposite(key) { return true }
        return (try? fetchedProperty(key, of: object)) != nil
    }

    private func fetched(_ key: String, of object: Object) throws -> Any {
        let context = try liveContext(object)
        guard let property = try fetchedProperty(key, of: object), let destination = property.destinationEntityName
        else {
            throw unknownKey(key, of: object)
        }
        var fetch = ObjectFetch(
            entityName: destination, predicate: try property.predicate.map { try .init(parsing: $0) })
        fetch.variables = ["FETCH_SOURCE": .object(object.id)]
        fetch.limit = property.options["fetchLimit"].flatMap { Int($0) } ?? 0
        return try Self.group(try context.graph().fetch(fetch), as: .list, in: context)
    }

    private func group(_ objects: [Object], as form: ObjectGroup, of object: Object) throws -> Any {
        try Self.group(objects, as: form, in: objects.isEmpty ? context : liveContext(object))
    }

    // MARK: - Validation

    private var isBeingSaved: Bool { context?.state.withLock { $0.isSaving } ?? false }

    /// Runs a validation of the model, unless a save is running, which validates anyway.
    package func validate(_ check: (Object) throws -> Void) throws {
        guard let storedObject, !isBeingSaved else { return }
        try publicErrors { try check(storedObject) }
    }

    /// Validates a value with the model's rules for an attribute.
    package func validate(_ value: Any?, _ key: String) throws {
        guard let object = storedObject, case .attribute(_, let attribute)? = object.shape[key] else { return }
        try validate { try $0.validate(conversion(of: attribute, key, of: object).attributeValue(value), for: key) }
    }

    /// Returns the validation failures that the class reports for the current values.
    func ownFailures() -> [ManagedObjectValidationError.Failure] {
        guard let object = storedObject else { return [] }
        var failures: [ManagedObjectValidationError.Failure] = []
        func check(_ key: String, _ body: () throws -> Void) {
            do {
                try body()
            } catch let error as ManagedObjectValidationError {
                failures += error.failures
            } catch {
                failures.append(.init(error, of: object.id, key: key))
            }
        }
        if object.isDeleted {
            check("") { try validateForDelete() }
            return failures
        }
        for property in object.shape.properties {
            check(property.name) {
                let value: Any?
                do { value = try access { try read(property.name, of: object) } } catch let error as MigrationError
                    where error.code == .dataConflict || object.isInFile(property.name)
                {
                    // Leave an unreadable value to the store until another value is set.
                    return
                }
                try validateValue(value, forKey: property.name)
            }
        }
        check("") { object.isInserted ? try validateForInsert() : try validateForUpdate() }
        return failures
    }
}
