import CoreData

enum LibraryModel {
    static let version1 = make(hasRating: false)
    static let version2 = make(hasRating: true)

    private static func make(hasRating: Bool) -> NSManagedObjectModel {
        let author = NSEntityDescription()
        author.name = "Author"
        author.managedObjectClassName = NSStringFromClass(Author.self)
        let book = NSEntityDescription()
        book.name = "Book"
        book.managedObjectClassName = NSStringFromClass(Book.self)
        let loan = NSEntityDescription()
        loan.name = "Loan"
        loan.managedObjectClassName = NSStringFromClass(Loan.self)

        let books = relationship("books", to: book, toMany: true, deleteRule: .cascadeDeleteRule)
        let writer = relationship("author", to: author, deleteRule: .nullifyDeleteRule)
        books.inverseRelationship = writer
        writer.inverseRelationship = books
        let loans = relationship("loans", to: loan, toMany: true, deleteRule: .denyDeleteRule)
        let lent = relationship("book", to: book, deleteRule: .nullifyDeleteRule)
        loans.inverseRelationship = lent
        lent.inverseRelationship = loans

        author.properties = [attribute("name", .stringAttributeType), books]
        let title = attribute("title", .stringAttributeType)
        title.setValidationPredicates(
            [NSPredicate(format: "length > 0")], withValidationWarnings: ["A title has at least one letter"])
        let isbn = attribute("isbn", .stringAttributeType)
        let pages = attribute("pages", .integer32AttributeType)
        pages.defaultValue = 0
        let price = attribute("price", .decimalAttributeType, isOptional: true)
        let published = attribute("published", .dateAttributeType, isOptional: true)
        let isbns = NSFetchIndexElementDescription(property: isbn, collationType: .binary)
        book.indexes = []
        book.properties = [title, isbn, pages, price, published, writer, loans]
        if hasRating {
            let rating = attribute("rating", .integer16AttributeType)
            rating.defaultValue = 3
            book.properties.append(rating)
        }
        book.indexes = [NSFetchIndexDescription(name: "byISBN", elements: [isbns])]
        book.uniquenessConstraints = [["isbn"]]
        loan.properties = [
            attribute("reader", .stringAttributeType), attribute("due", .dateAttributeType, isOptional: true), lent,
        ]

        let model = NSManagedObjectModel()
        model.entities = [author, book, loan]
        model.versionIdentifiers = [hasRating ? "2" : "1"]
        return model
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, isOptional: Bool = false
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        return attribute
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, toMany: Bool = false, deleteRule: NSDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.minCount = 0
        relationship.maxCount = toMany ? 0 : 1
        relationship.deleteRule = deleteRule
        relationship.isOptional = true
        return relationship
    }
}
