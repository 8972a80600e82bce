import Foundation
import MoultCoreData
import MoultModel
import MoultObjects
import Synchronization

/// The state that a public object is created with: a stored object and its context, or contents without a context.
struct NSManagedObjectHandle {
    var object: Object?
    var context: ManagedObjectContext?
    var detached: DetachedObject?

    /// The handle of the object whose initializer runs. The initializer of ``NSManagedObject`` takes it; objects of
    /// other classes that an override creates before are new ones.
    final class Pending: @unchecked Sendable {
        @TaskLocal static var current: Pending?
        private let type: NSManagedObject.Type
        private var handle: NSManagedObjectHandle?

        init(_ handle: NSManagedObjectHandle, for type: NSManagedObject.Type) {
            (self.handle, self.type) = (handle, type)
        }

        static func take(for type: NSManagedObject.Type) -> NSManagedObjectHandle? {
            guard let current, current.type == type else { return nil }
            defer { current.handle = nil }
            return current.handle
        }
    }
}

/// The contents of an object without a context, in place of a stored object.
final class DetachedObject {
    let entity: NSEntityDescription?
    /// The values that were set.
    private(set) var values: [String: Any?] = [:]
    /// The temporary identity, which the object keeps when a context inserts it.
    private(set) lazy var objectID = ObjectContext.newTemporaryID(entity?.name ?? "")
    /// A recorder of the requested keys, if the object exists only for that purpose.
    var record: ManagedKey?
    /// The values of an object in a running migration.
    var migrated: MigratedValues?

    init(_ entity: NSEntityDescription? = nil) { self.entity = entity }

    func value(forKey key: String) -> Any? {
        record?.note(key)
        if let migrated { return migrated.value(forKey: key) }
        if let set = values[key] { return set }
        return entity?.attributesByName[key].flatMap(Self.defaultValue)
    }

    /// Returns the default of an attribute in the form of its type.
    private static func defaultValue(of attribute: NSAttributeDescription) -> Any? {
        guard let given = attribute.defaultValue, attribute.attributeType != .transformableAttributeType,
            let type = AttributeType(rawValue: Int32(attribute.attributeType.rawValue)),
            let value = try? attributeValue(given, type, attribute.name)
        else { return attribute.defaultValue }
        return foundationValue(value)
    }

    /// Whether the entity has a property, or an element of a composite attribute. An object without a known entity has
    /// any.
    func has(_ key: String) -> Bool {
        guard migrated == nil, record == nil, let properties = entity?.propertiesByName, !properties.isEmpty else {
            return true
        }
        return properties[key.split(separator: ".").first.map(String.init) ?? key] != nil
    }

    func setValue(_ value: Any?, forKey key: String) throws {
        if let migrated {
            try migrated.setValue(value, forKey: key)
        } else {
            values.updateValue(value, forKey: key)
        }
    }
}

/// The classes used so far and their modules, because a model names a class without its module.
private let used = Mutex<(classes: Set<ObjectIdentifier>, modules: Set<String>)>(([], []))

extension NSManagedObject: PublicObject {
    package static func make(_ object: Object, in context: ManagedObjectContext) -> AnyObject {
        let shown = context.publicContext as? NSManagedObjectContext
        let entity = shown?.persistentStoreCoordinator?.managedObjectModel.entitiesByName[object.entityName]
        let made = make(
            NSManagedObjectHandle(object: object, context: context), entity ?? NSEntityDescription(), shown)
        shown?.retained?.insert(made)
        return made
    }

    package static func group(_ objects: [Object], as form: ObjectGroup, in context: ManagedObjectContext?) throws
        -> Any
    {
        let shown = try context?.publicObjects(objects, as: NSManagedObject.self) ?? []
        return switch form {
        case .set: NSSet(array: shown)
        case .orderedSet: NSOrderedSet(array: shown)
        case .list: shown
        }
    }

    package static var base: any PublicObject.Type { NSManagedObject.self }

    package static var modules: Set<String> { used.withLock { $0.modules } }

    package static func noteModule() {
        used.withLock { used in
            guard used.classes.insert(ObjectIdentifier(self)).inserted,
                let module = NSStringFromClass(self).split(separator: ".").first
            else { return }
            used.modules.insert(String(module))
        }
    }

    package static func find(_ className: String, in modules: Set<String>) -> (any PublicObject.Type)? {
        let plain = className.hasPrefix(".") ? String(className.dropFirst()) : className
        if plain.contains("."), let type = NSClassFromString(plain) as? NSManagedObject.Type { return type }
        for module in modules.sorted() {
            if let type = NSClassFromString("\(module).\(plain)") as? NSManagedObject.Type { return type }
        }
        return nil
    }

    package static func storedObjects(_ value: Any) -> [Object]? {
        switch value {
        case let object as NSManagedObject: [object.storedObject].compactMap(\.self)
        case let set as NSSet: set.allObjects.compactMap { ($0 as? NSManagedObject)?.storedObject }
        case let list as NSOrderedSet: list.array.compactMap { ($0 as? NSManagedObject)?.storedObject }
        case let set as Set<NSManagedObject>: set.compactMap(\.storedObject)
        case let list as [NSManagedObject]: list.compactMap(\.storedObject)
        default: nil
        }
    }

    package static var takesFoundationClasses: Bool { true }

    package static func transformer(_ name: String?, in context: ManagedObjectContext?) -> AnyAttributeTransformer? {
        AnyAttributeTransformer(TransformerBridge(name))
    }
}
