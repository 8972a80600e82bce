import Foundation
import MoultCoreData
import MoultNSCoreData
import Synchronization
import TestSupport

/// A model with Core Data's names: cards that lead to each other.
enum Cards {
    static func model(_ change: (NSEntityDescription) -> Void = { _ in }) -> NSManagedObjectModel {
        let card = NSEntityDescription()
        card.name = "Card"
        card.managedObjectClassName = NSStringFromClass(Card.self)
        let (parent, children) = (NSRelationshipDescription(), NSRelationshipDescription())
        (parent.name, parent.destinationEntity, parent.maxCount) = ("parent", card, 1)
        (children.name, children.destinationEntity) = ("children", card)
        (parent.inverseRelationship, children.inverseRelationship) = (children, parent)
        card.properties = [attribute("title"), parent, children]
        change(card)
        let model = NSManagedObjectModel()
        model.entities = [card]
        return model
    }

    static func attribute(_ name: String) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
        return attribute
    }

    /// A container over the store at a URL, or over one in memory.
    static func container(
        _ url: URL? = nil, model: NSManagedObjectModel = model(), options: [String] = []
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Cards", managedObjectModel: model)
        let description = container.persistentStoreDescriptions[0]
        if let url { description.url = url } else { description.type = NSInMemoryStoreType }
        for option in options { description.setOption(true as NSNumber, forKey: option) }
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    @discardableResult
    static func insert(_ title: String, in context: NSManagedObjectContext) -> NSManagedObject {
        let card = NSEntityDescription.insertNewObject(forEntityName: "Card", into: context)
        card.setValue(title, forKey: "title")
        return card
    }

    /// The titles in a store, as the sqlite3 shell reads them.
    static func titles(at url: URL) throws -> [String] {
        try SQLiteShell.run(url.path, "SELECT ZTITLE FROM ZCARD ORDER BY 1").split(separator: "\n").map(String.init)
    }
}

final class Card: NSManagedObject {}

/// A list that several threads may add to.
final class SharedList<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])
    var elements: [Element] { list.withLock { $0 } }
    func add(_ element: Element) { list.withLock { $0.append(element) } }
}
