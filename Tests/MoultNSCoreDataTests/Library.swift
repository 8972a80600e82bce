import MoultNSCoreData
import TestSupport

/// The model of the idioms, and containers of it.
enum Library {
    static func model(_ change: (NSEntityDescription, NSEntityDescription) -> Void = { _, _ in })
        -> NSManagedObjectModel
    {
        let person = NSEntityDescription()
        person.name = "Person"
        person.managedObjectClassName = NSStringFromClass(Person.self)
        let post = NSEntityDescription()
        post.name = "Post"
        post.managedObjectClassName = NSStringFromClass(Post.self)

        let posts = NSRelationshipDescription()
        posts.name = "posts"
        posts.destinationEntity = post
        posts.deleteRule = .cascadeDeleteRule
        let favourites = NSRelationshipDescription()
        favourites.name = "favourites"
        favourites.destinationEntity = post
        favourites.isOrdered = true
        let fan = NSRelationshipDescription()
        fan.name = "fan"
        fan.destinationEntity = person
        fan.maxCount = 1
        let author = NSRelationshipDescription()
        author.name = "author"
        author.destinationEntity = person
        author.maxCount = 1
        (posts.inverseRelationship, author.inverseRelationship) = (author, posts)
        (favourites.inverseRelationship, fan.inverseRelationship) = (fan, favourites)

        person.properties = [
            attribute("name", .string, isOptional: false), attribute("age", .integer16, 0), attribute("born", .date),
            attribute("identifier", .uuid), attribute("home", .uri), attribute("photo", .binaryData),
            attribute("balance", .decimal), attribute("isActive", .boolean, true), attribute("tags", .transformable),
            posts, favourites,
        ]
        post.properties = [attribute("title", .string, ""), attribute("pages", .integer32, 0), author, fan]
        change(person, post)
        let model = NSManagedObjectModel()
        model.entities = [person, post]
        return model
    }

    static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType, _ value: Any? = nil, isOptional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        attribute.isOptional = isOptional
        attribute.defaultValue = value
        return attribute
    }

    static func container(
        _ model: NSManagedObjectModel = model(), at url: URL? = nil, history: Bool = false
    ) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        let description = container.persistentStoreDescriptions[0]
        if let url { description.url = url } else { description.type = NSInMemoryStoreType }
        if history { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        return container
    }

    static func context() throws -> NSManagedObjectContext { try container().viewContext.holding() }

    @discardableResult
    static func person(_ name: String, _ age: Int16 = 0, in context: NSManagedObjectContext) -> Person {
        let person = Person(context: context)
        person.name = name
        person.age = age
        return person
    }
}

extension NSManagedObjectContext {
    /// A view context does not keep its container, and needs none.
    fileprivate func holding() -> NSManagedObjectContext { self }
}

class Person: NSManagedObject {
    @Managed var name: String
    @Managed var age: Int16
    @Managed var born: Date?
    @Managed var identifier: UUID?
    @Managed var home: URL?
    @Managed var photo: Data?
    @Managed var balance: NSDecimalNumber?
    @Managed var isActive: Bool
    @Managed("isActive") var active: NSNumber?
    @Managed("posts") var posts: NSSet?
    @Managed("posts") var postSet: Set<Post>?
    @Managed var favourites: NSOrderedSet?
    @Managed var tags: NSArray?
    var calls: [String] = []

    override func awakeFromInsert() {
        super.awakeFromInsert()
        calls.append("awakeFromInsert")
    }
    override func willSave() {
        super.willSave()
        calls.append("willSave")
    }
    override func didSave() {
        super.didSave()
        calls.append("didSave")
    }
    override func prepareForDeletion() {
        super.prepareForDeletion()
        calls.append("prepareForDeletion")
    }
    override func willTurnIntoFault() { calls.append("willTurnIntoFault") }
    override func didTurnIntoFault() { calls.append("didTurnIntoFault") }

    override func validateForInsert() throws {
        try super.validateForInsert()
        if name == "nobody" {
            throw NSError(domain: "Library", code: 7, userInfo: [NSLocalizedDescriptionKey: "Nobody is no name."])
        }
    }

    func addToPosts(_ post: Post) { mutableSetValue(forKey: "posts").add(post) }
    func removeFromPosts(_ post: Post) { mutableSetValue(forKey: "posts").remove(post) }
}

extension Person {
    class func fetchRequest() -> NSFetchRequest<Person> { NSFetchRequest<Person>(entityName: "Person") }
}

class Post: NSManagedObject {
    @Managed var title: String
    @Managed var pages: Int32
    @Managed var author: Person?
}
