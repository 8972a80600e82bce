import CoreData
import Foundation

public class Book: NSManagedObject {
    public class func fetchRequest() -> NSFetchRequest<Book> { NSFetchRequest<Book>(entityName: "Book") }

    public var title: String {
        get { value(forKey: "title") as? String ?? "" }
        set { setValue(newValue, forKey: "title") }
    }
    public var isbn: String {
        get { value(forKey: "isbn") as? String ?? "" }
        set { setValue(newValue, forKey: "isbn") }
    }
    public var pages: Int32 {
        get { (value(forKey: "pages") as? NSNumber)?.int32Value ?? 0 }
        set { setValue(NSNumber(value: newValue), forKey: "pages") }
    }
    public var price: NSDecimalNumber? {
        get { value(forKey: "price") as? NSDecimalNumber }
        set { setValue(newValue, forKey: "price") }
    }
    public var published: Date? {
        get { value(forKey: "published") as? Date }
        set { setValue(newValue, forKey: "published") }
    }
    public var author: Author? {
        get { value(forKey: "author") as? Author }
        set { setValue(newValue, forKey: "author") }
    }
    public var loans: NSSet? { value(forKey: "loans") as? NSSet }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(UUID().uuidString, forKey: "isbn")
    }

    public override func validateForDelete() throws {
        try super.validateForDelete()
        if pages == 666 {
            throw NSError(
                domain: "Library", code: 1, userInfo: [NSLocalizedDescriptionKey: "This book cannot be deleted."])
        }
    }
}
