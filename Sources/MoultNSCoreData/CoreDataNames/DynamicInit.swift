import Foundation
import MoultCoreData
import MoultObjects

// Core Data's classes come from Objective-C, where a class that is known only at run time can be created by any
// initializer of its superclass. Swift allows that for `required` initializers alone, which every subclass with an
// initializer of its own would have to repeat. Instead, each class here has a convenience initializer: it allocates the
// class it is called on, and runs that class's designated initializer. `make` calls it by its symbol, because the
// compiler accepts no such call on a metatype. A protocol's initializer may set `self`, and so gives the call its usual
// form: `T(context: context)` and `Self(context: context)`. There is one limit: of a value of type
// `NSManagedObject.Type`, `type.init(context:)` knows no more than that.

/// A class that creates its objects by `T(context:)` where `T` is known only at run time. `NSManagedObject` is the only
/// one.
public protocol _NSManagedObjectDynamicInit {}

extension NSManagedObject: _NSManagedObjectDynamicInit {
    convenience init(dynamic entity: NSEntityDescription, _ context: NSManagedObjectContext?) {
        self.init(entity: entity, insertInto: context)
    }

    // swift-format-ignore
    @_silgen_name("$s15MoultNSCoreData15NSManagedObjectC7dynamic_AcA19NSEntityDescriptionC_AA0dE7ContextCSgtcfC")
    fileprivate class func make(_ entity: __owned NSEntityDescription, _ context: __owned NSManagedObjectContext?) -> Self

    /// Creates the object of a handle. Its class is known only at run time.
    static func make(
        _ handle: NSManagedObjectHandle, _ entity: NSEntityDescription, _ context: NSManagedObjectContext?
    ) -> Self {
        NSManagedObjectHandle.Pending.$current.withValue(.init(handle, for: Self.self)) { make(entity, context) }
    }

    /// Creates a new object of the class's entity.
    fileprivate static func make(in context: NSManagedObjectContext) -> Self {
        make(context.entity(of: Self.self, call: "\(Self.self)(context:)"), context)
    }
}

extension _NSManagedObjectDynamicInit {
    /// Creates an object of the class's entity. Ends the program if the model has no such entity.
    public init(context: NSManagedObjectContext) {
        self = made(Self.self) { (type: NSManagedObject.Type) in type.make(in: context) }
    }

    /// Creates an object of an entity. If `context` is nil, it has no context until
    /// ``NSManagedObjectContext/insert(_:)``.
    public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        self = made(Self.self) { (type: NSManagedObject.Type) in type.make(entity, context) }
    }
}

/// A class that creates its objects by `T(concurrencyType:)` where `T` is known only at run time.
/// `NSManagedObjectContext` is the only one.
public protocol _NSManagedObjectContextDynamicInit {}

extension NSManagedObjectContext: _NSManagedObjectContextDynamicInit {
    convenience init(dynamic type: NSManagedObjectContextConcurrencyType) { self.init(concurrencyType: type) }

    @_silgen_name("$s15MoultNSCoreData22NSManagedObjectContextC7dynamicAcA0deF15ConcurrencyTypeO_tcfC")
    fileprivate class func make(_ type: NSManagedObjectContextConcurrencyType) -> Self
}

extension _NSManagedObjectContextDynamicInit {
    /// Creates a context that needs a coordinator or a parent before use.
    public init(concurrencyType type: NSManagedObjectContextConcurrencyType) {
        self = made(Self.self) { (context: NSManagedObjectContext.Type) in context.make(type) }
    }
}

/// A class that creates its objects by `T(managedObjectModel:)` where `T` is known only at run time.
/// `NSPersistentStoreCoordinator` is the only one.
public protocol _NSPersistentStoreCoordinatorDynamicInit {}

extension NSPersistentStoreCoordinator: _NSPersistentStoreCoordinatorDynamicInit {
    convenience init(dynamic model: NSManagedObjectModel) { self.init(managedObjectModel: model) }

    @_silgen_name("$s15MoultNSCoreData28NSPersistentStoreCoordinatorC7dynamicAcA20NSManagedObjectModelC_tcfC")
    fileprivate class func make(_ model: __owned NSManagedObjectModel) -> Self
}

extension _NSPersistentStoreCoordinatorDynamicInit {
    /// Creates a coordinator for a model, which becomes immutable. Ends the program if the model is invalid.
    public init(managedObjectModel model: NSManagedObjectModel) {
        self = made(Self.self) { (type: NSPersistentStoreCoordinator.Type) in type.make(model) }
    }
}

/// A class that creates its objects by `T(name:managedObjectModel:)` where `T` is known only at run time.
/// `NSPersistentContainer` is the only one.
public protocol _NSPersistentContainerDynamicInit {}

extension NSPersistentContainer: _NSPersistentContainerDynamicInit {
    convenience init(dynamic name: String, _ model: NSManagedObjectModel) {
        self.init(name: name, managedObjectModel: model)
    }

    @_silgen_name("$s15MoultNSCoreData21NSPersistentContainerC7dynamic_ACSS_AA20NSManagedObjectModelCtcfC")
    fileprivate class func make(_ name: __owned String, _ model: __owned NSManagedObjectModel) -> Self
}

extension _NSPersistentContainerDynamicInit {
    /// Creates a container with a model.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        self = made(Self.self) { (type: NSPersistentContainer.Type) in type.make(name, model) }
    }
}

/// Runs a maker of the one class that conforms to a protocol above.
private func made<Whole, Base: NSObject>(_ type: Whole.Type, by make: (Base.Type) -> Base) -> Whole {
    guard let base = type as? Base.Type, let made = make(base) as? Whole else {
        raise("\(type).init", "Only subclasses of \(Base.self) can be created this way.")
    }
    return made
}
