import Foundation
import MoultCoreData

/// The object that a context of MoultCoreData holds for a ``NSManagedObject``; it passes everything on to that.
final class ObjectBase: ManagedObject {
    private weak var held: NSManagedObject?
    /// An object that is announced to others may be asked for on two threads at a time.
    private static let making = NSRecursiveLock()

    var context: NSManagedObjectContext? { managedObjectContext.map(NSManagedObjectContext.face) }

    /// The object that the program sees: the one that is in use, or a new one.
    var face: NSManagedObject {
        Self.making.lock()
        defer { Self.making.unlock() }
        if let held { return held }
        let type = context?.persistentStoreCoordinator?.classes.type(for: objectID.entityName) ?? NSManagedObject.self
        let made = type.init(NSManagedObjectHandle(base: self))
        show(made)
        return made
    }

    func show(_ face: NSManagedObject) {
        held = face
        context?.retained?.insert(face)
    }

    override func awakeFromInsert() {
        if context?.isMakingObject != true { face.awakeFromInsert() }
    }
    override func awakeFromFetch() { face.awakeFromFetch() }
    override func willSave() { face.willSave() }
    override func didSave() { face.didSave() }
    override func prepareForDeletion() { face.prepareForDeletion() }
    override func validateValue(_ value: Any?, forKey key: String) throws {
        try face.validateValue(face.publicValue(value), forKey: key)
    }
    override func validateForInsert() throws { try face.validateForInsert() }
    override func validateForUpdate() throws { try face.validateForUpdate() }
    override func validateForDelete() throws { try face.validateForDelete() }

    func checkValue(_ value: Any?, forKey key: String) throws { try super.validateValue(value, forKey: key) }
    func checkForInsert() throws { try super.validateForInsert() }
    func checkForUpdate() throws { try super.validateForUpdate() }
    func checkForDelete() throws { try super.validateForDelete() }
}

/// The handle that an object is made of, mostly by a context; an app cannot create one.
public struct NSManagedObjectHandle {
    /// Nil for an object that is only asked which keys it reads, or has no context yet.
    let base: ObjectBase?
    var entity: NSEntityDescription?
    var record: ManagedKey?

    init(base: ObjectBase?, entity: NSEntityDescription? = nil, record: ManagedKey? = nil) {
        self.base = base
        self.entity = entity
        self.record = record
    }
}
