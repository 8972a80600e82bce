import MoultNSCoreData
import TestSupport

/// What the methods of ``Row`` do in one context, and the calls that they have seen.
final class Hooks {
    var fetched: (Row) -> Void = { _ in }
    var saving: (Row) -> Void = { _ in }
    var inserting: (Row) throws -> Void = { _ in }
    var saved: (Row) -> Void = { _ in }
    var calls: [String] = []
}

class Row: NSManagedObject {
    @Managed var title: String?
    @Managed var n: Int32
    @Managed var scratch: String?
    @Managed var parent: Row?
    @Managed var children: Set<Row>?

    private var hooks: Hooks? { managedObjectContext?.userInfo["hooks"] as? Hooks }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        hooks?.fetched(self)
    }
    override func willSave() {
        super.willSave()
        hooks?.saving(self)
    }
    override func didSave() {
        super.didSave()
        hooks?.saved(self)
    }
    override func validateForInsert() throws {
        try super.validateForInsert()
        try hooks?.inserting(self)
    }
}

/// A class with the documented accessors of Core Data, in place of those for a single key.
final class Accessed: NSManagedObject {
    override func value(forKey key: String) -> Any? {
        willAccessValue(forKey: key)
        defer { didAccessValue(forKey: key) }
        return primitiveValue(forKey: key)
    }
    override func setValue(_ value: Any?, forKey key: String) {
        willChangeValue(forKey: key)
        setPrimitiveValue(value, forKey: key)
        didChangeValue(forKey: key)
    }
}

/// A class with computed keys: one of a transient attribute, one without a property, and undefined ones.
final class Computed: NSManagedObject {
    var undefined: [String: Any] = [:]

    override func value(forKey key: String) -> Any? {
        switch key {
        case "section", "initial": (super.value(forKey: "name") as? String).map { String($0.prefix(1)) }
        default: super.value(forKey: key)
        }
    }
    override func value(forUndefinedKey key: String) -> Any? { undefined[key] ?? "no \(key)" }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { undefined[key] = value }
}

/// A store of the classes above, with one context and the hooks of all its contexts.
struct Rows {
    let folder: ScratchFolder
    let url: URL
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    let hooks = Hooks()

    init(_ change: (NSEntityDescription) -> Void = { _ in }) throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Rows.sqlite")
        container = try Library.container(Self.model(change), at: url)
        context = container.viewContext
        context.userInfo["hooks"] = hooks
    }

    private static func model(_ change: (NSEntityDescription) -> Void) -> NSManagedObjectModel {
        let (row, accessed, computed) = (entity(Row.self), entity(Accessed.self), entity(Computed.self))
        let (children, parent) = (NSRelationshipDescription(), NSRelationshipDescription())
        (children.name, children.destinationEntity) = ("children", row)
        (parent.name, parent.destinationEntity, parent.maxCount) = ("parent", row, 1)
        (children.inverseRelationship, parent.inverseRelationship) = (parent, children)
        let box = NSCompositeAttributeDescription()
        box.name = "box"
        box.elements = [Library.attribute("width", .integer32), Library.attribute("label", .string)]
        row.properties = [
            Library.attribute("title", .string), Library.attribute("n", .integer32, 3), transient("scratch"), box,
            children, parent,
        ]
        accessed.properties = [Library.attribute("name", .string)]
        computed.properties = [Library.attribute("name", .string), transient("section")]
        change(row)
        let model = NSManagedObjectModel()
        model.entities = [row, accessed, computed]
        return model
    }

    private static func entity(_ type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = "\(type)"
        entity.managedObjectClassName = NSStringFromClass(type)
        return entity
    }

    private static func transient(_ name: String) -> NSAttributeDescription {
        let attribute = Library.attribute(name, .string)
        attribute.isTransient = true
        return attribute
    }

    /// Another context of the same store.
    func other() -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.userInfo["hooks"] = hooks
        return context
    }

    /// A row that is saved already.
    @discardableResult
    func saved(_ title: String, in parent: Row? = nil) throws -> Row {
        let row = Row(context: context)
        (row.title, row.parent) = (title, parent)
        try context.save()
        return row
    }

    func fetch(_ title: String, in context: NSManagedObjectContext) throws -> Row? {
        let request = NSFetchRequest<Row>(entityName: "Row")
        request.predicate = NSPredicate(format: "title == %@", title)
        return try context.fetch(request).first
    }

    func sql(_ text: String) throws -> [String] { try SQLiteShell.rows(text, of: url) }
}
