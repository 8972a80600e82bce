import CoreData
import Foundation

public class Loan: NSManagedObject {
    public var reader: String {
        get { value(forKey: "reader") as? String ?? "" }
        set { setValue(newValue, forKey: "reader") }
    }
    public var due: Date? {
        get { value(forKey: "due") as? Date }
        set { setValue(newValue, forKey: "due") }
    }
    public var book: Book? {
        get { value(forKey: "book") as? Book }
        set { setValue(newValue, forKey: "book") }
    }
}
