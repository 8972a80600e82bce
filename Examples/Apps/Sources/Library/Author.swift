import CoreData
import Foundation

public class Author: NSManagedObject {
    public class func fetchRequest() -> NSFetchRequest<Author> { NSFetchRequest<Author>(entityName: "Author") }

    public var name: String {
        get {
            willAccessValue(forKey: "name")
            defer { didAccessValue(forKey: "name") }
            return primitiveValue(forKey: "name") as? String ?? ""
        }
        set {
            willChangeValue(forKey: "name")
            setPrimitiveValue(newValue, forKey: "name")
            didChangeValue(forKey: "name")
        }
    }

    public var books: Set<Book> {
        get { value(forKey: "books") as? Set<Book> ?? [] }
        set { setValue(newValue, forKey: "books") }
    }

    public func addToBooks(_ book: Book) { mutableSetValue(forKey: "books").add(book) }
    public func removeFromBooks(_ book: Book) { mutableSetValue(forKey: "books").remove(book) }
}
