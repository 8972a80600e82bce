import CoreData
import Foundation

public struct BookSearch {
    public var words: [String] = []
    public var authorName: String?
    public var minimumPages: Int?

    public init(words: [String] = [], authorName: String? = nil, minimumPages: Int? = nil) {
        self.words = words
        self.authorName = authorName
        self.minimumPages = minimumPages
    }

    public var predicate: NSPredicate {
        var parts = words.map { NSPredicate(format: "title CONTAINS[cd] %@", $0) }
        if let authorName { parts.append(NSPredicate(format: "author.name == %@", authorName)) }
        if let minimumPages { parts.append(NSPredicate(format: "pages >= %d", minimumPages)) }
        return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    }

    public func request() -> NSFetchRequest<Book> {
        let request: NSFetchRequest<Book> = Book.fetchRequest()
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        request.fetchBatchSize = 20
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = ["author"]
        return request
    }

    public static func pagesByAuthor(in context: NSManagedObjectContext) throws -> [String: Int] {
        let total = NSExpressionDescription()
        total.name = "total"
        total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
        total.expressionResultType = .integer64AttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = ["author.name"]
        request.propertiesToFetch = ["author.name", total]
        return try context.fetch(request).reduce(into: [:]) { sums, row in
            guard let name = row["author.name"] as? String, let sum = row["total"] as? NSNumber else { return }
            sums[name] = sum.intValue
        }
    }
}
