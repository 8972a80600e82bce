import CoreData
import Foundation
import Testing

final class Book: NSManagedObject {
    @Managed var title: String
    @Managed var pages: Int32
}

@Suite struct BookTests {
    private func model() -> NSManagedObjectModel {
        let (title, pages) = (NSAttributeDescription(), NSAttributeDescription())
        title.name = "title"
        title.attributeType = .stringAttributeType
        pages.name = "pages"
        pages.attributeType = .integer32AttributeType
        pages.defaultValue = 0
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = NSStringFromClass(Book.self)
        book.properties = [title, pages]
        let model = NSManagedObjectModel()
        model.entities = [book]
        return model
    }

    @Test func `a container, an object and a fetch beside Foundation's own import`() throws {
        let container = NSPersistentContainer(name: "Books", managedObjectModel: model())
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.viewContext
        for (title, pages) in [("Emma", 474), ("Persuasion", 249)] as [(String, Int32)] {
            let book = Book(context: context)
            book.title = title
            book.pages = pages
        }
        try context.save()
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages > %d AND title BEGINSWITH[c] %@", 300, "e")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try context.fetch(request).map(\.title) == ["Emma"])
    }
}
