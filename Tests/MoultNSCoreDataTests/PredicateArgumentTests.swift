import MoultNSCoreData
import TestSupport
import Testing

/// Values that Core Data takes as arguments of a predicate. If one of them ended the program, the test run would end.
@Suite struct PredicateArgumentTests {
    let folder: ScratchFolder
    let url: URL
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    let id = UUID()
    let home = URL(string: "https://example.com/ann")!
    let photo = Data([1, 2, 3])
    let born = Date(timeIntervalSinceReferenceDate: 86_400)

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
        container = try Library.container(at: url)
        context = container.viewContext
        let ann = Library.person("Ann", 30, in: context)
        (ann.identifier, ann.home, ann.photo, ann.born) = (id, home, photo, born)
        ann.balance = NSDecimalNumber(string: "1.5")
        Library.person("Bob", 20, in: context)
        let post = Post(context: context)
        post.author = ann
        try context.save()
    }

    /// The names that the store finds; the same ones must be found in memory.
    private func names(_ predicate: NSPredicate) throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let all = try context.fetch(request)
        request.predicate = predicate
        let found = try context.fetch(request).map(\.name)
        #expect(all.filter { predicate.evaluate(with: $0) }.map(\.name) == found)
        return found
    }

    @Test func `Foundation's classes stand for values of attributes`() throws {
        let values: [(String, Any)] = [
            ("identifier", id as NSUUID), ("home", home as NSURL), ("photo", photo as NSData), ("born", born as NSDate),
            ("balance", NSDecimalNumber(string: "1.5")), ("age", NSNumber(value: 30)), ("name", NSString("Ann")),
            ("name", NSMutableString(string: "Ann")),
        ]
        for (key, value) in values {
            #expect(try names(NSPredicate(format: "%K == %@", key, value)) == ["Ann"])
            #expect(try names(NSPredicate(format: "%K == %@", argumentArray: [key, value])) == ["Ann"])
            #expect(try names(NSPredicate(format: "%K IN %@", key, NSArray(array: [value]))) == ["Ann"])
            let constant = MoultNSCoreData.NSExpression(forConstantValue: value)
            #expect(try names(NSPredicate(format: "%K == %@", key, constant)) == ["Ann"])
            let variable = NSPredicate(format: "%K == $value", key)
            #expect(try names(variable.withSubstitutionVariables(["value": value])) == ["Ann"])
        }
        let stored = try SQLiteShell.rows("SELECT hex(ZIDENTIFIER) FROM ZPERSON WHERE ZNAME = 'Ann'", of: url)
        #expect(stored == [id.uuidString.replacingOccurrences(of: "-", with: "")])
    }

    /// `NSString.range(of:)`: not found if the string to find is empty. Core Data's store agrees (realm-swift, *Empty string
    /// shouldn't match anything*).
    @Test(arguments: ["CONTAINS", "BEGINSWITH", "ENDSWITH"], ["", "[cd]"])
    func `An empty text is found nowhere`(comparison: String, options: String) throws {
        let compare = "name \(comparison)\(options)"
        #expect(try names(NSPredicate(format: "\(compare) ''")) == [])
        #expect(try names(NSPredicate(format: "\(compare) %@", "")) == [])
        #expect(try names(NSPredicate(format: "NOT \(compare) %@", "")) == ["Ann", "Bob"])
        let variable = NSPredicate(format: "\(compare) $part").withSubstitutionVariables(["part": ""])
        #expect(try names(variable) == [])
        let posts = NSFetchRequest<Post>(entityName: "Post")
        // The title of a new post is empty: its path is the pattern.
        posts.predicate = NSPredicate(format: "author.\(compare) title")
        #expect(try context.count(for: posts) == 0)
        posts.predicate = NSPredicate(format: "title \(comparison)\(options) title")
        #expect(try context.count(for: posts) == 0)
        let people = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        people.predicate = NSPredicate(format: "\(compare) %@", "")
        try context.execute(NSBatchDeleteRequest(fetchRequest: people))
        #expect(try SQLiteShell.rows("SELECT count(*) FROM ZPERSON", of: url) == ["2"])
    }

    /// SQLite gives a text that is compared with a column of numbers the type of the column
    /// (*Datatypes In SQLite*, section 4.2), in Core Data's stores too.
    @Test(arguments: ["saved", "unsaved"])
    func `A text that is compared with a number is read as one`(state: String) throws {
        if state == "unsaved" { Library.person("Ann", 30, in: context) }
        func found(_ format: String, _ arguments: Any...) throws -> Set<String> {
            let request = NSFetchRequest<Person>(entityName: "Person")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return Set(try context.fetch(request).map(\.name))
        }
        #expect(try SQLiteShell.rows("SELECT ZNAME FROM ZPERSON WHERE ZAGE = '30'", of: url) == ["Ann"])
        #expect(try found("age == %@", "30") == ["Ann"])
        #expect(try found("'30' == age") == ["Ann"])
        #expect(try found("age != %@", "30") == ["Bob"])
        #expect(try found("age > '20.5' AND age < '3e1'") == [])
        #expect(try found("age IN %@", ["30", "x"]) == ["Ann"])
        #expect(try found("age BETWEEN {'15', '25'}") == ["Bob"])
        #expect(try found("balance == '1.5' OR posts.@count == '1' OR ANY posts.pages == '7'") == ["Ann"])
        #expect(try found("isActive == '1' AND name != '30'") == ["Ann", "Bob"])
        #expect(try found("SUBQUERY(posts, $post, $post.pages == '0').@count == 1") == ["Ann"])
        #expect(try found("SUBQUERY(posts, $post, $post.author.age == '30' AND age == '30').@count > 0") == ["Ann"])
        #expect(try found("SUBQUERY(posts, $post, $post.title == '').@count == 1") == ["Ann"])
        #expect(try found("TERNARY(age == '20', 1, 0) == 1") == ["Bob"])
        #expect(try found("age == 'thirty'") == [])
        #expect(try found("age == '30 '") == [])
        #expect(throws: (any Error).self) { try found("age < 'thirty'") }
        let update = NSBatchUpdateRequest(entityName: "Person")
        (update.predicate, update.propertiesToUpdate) = (NSPredicate(format: "age == '30'"), ["name": "Cid"])
        update.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 1)
    }

    @Test func `Values are passed as CVarArg`() throws {
        #expect(try names(NSPredicate(format: "identifier == %@", id as CVarArg)) == ["Ann"])
        #expect(try names(NSPredicate(format: "born == %@", born as CVarArg)) == ["Ann"])
        #expect(try names(NSPredicate(format: "home == %@", home as CVarArg)) == ["Ann"])
        #expect(try names(NSPredicate(format: "photo == %@", photo as CVarArg)) == ["Ann"])
        #expect(try names(NSPredicate(format: "name IN %@", ["Ann", "Eve"] as CVarArg)) == ["Ann"])
        #expect(try names(NSPredicate(format: "age IN %@", Set([30, 40]) as CVarArg)) == ["Ann"])
        #expect(try names(NSPredicate(format: "identifier == %@", (id as NSUUID) as CVarArg)) == ["Ann"])
        func list(_ arguments: any CVarArg...) -> [any CVarArg] { arguments }
        let arguments = list(id, "Ann")
        #expect(
            try names(NSPredicate(format: "identifier == %@ AND name == %@", argumentArray: arguments)) == ["Ann"])
        #expect(String(format: "%@ %@ %d", id as CVarArg, ["a"] as CVarArg, 3) == "\(id) [\"a\"] 3")
    }

    @Test func `An entity, an identity, an object and a set of objects are arguments`() throws {
        let entity = try #require(container.managedObjectModel.entitiesByName["Person"])
        #expect(try names(NSPredicate(format: "entity == %@", entity)) == ["Ann", "Bob"])
        #expect(try names(NSPredicate(format: "entity != %@", entity)) == [])
        #expect(try names(NSPredicate(format: "entity IN %@", [entity])) == ["Ann", "Bob"])
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == 'Ann'")
        let ann = try #require(try context.fetch(request).first)
        for value in [ann.objectID, ann] as [Any] {
            #expect(try names(NSPredicate(format: "SELF == %@", value)) == ["Ann"])
            #expect(try names(NSPredicate(format: "SELF IN %@", [value])) == ["Ann"])
            #expect(try names(NSPredicate(format: "SELF IN %@", argumentArray: [[value]])) == ["Ann"])
        }
        #expect(try names(NSPredicate(format: "SELF IN %@", Set([ann]))) == ["Ann"])
        #expect(try names(NSPredicate(format: "SELF IN %@", Set([ann.objectID]))) == ["Ann"])
        #expect(try names(NSPredicate(format: "SELF IN %@", NSSet(object: ann))) == ["Ann"])
        #expect(try names(NSPredicate(format: "ANY posts IN %@", ann.postSet ?? [])) == ["Ann"])
    }

    @Test func `Any other argument equals only its own value`() throws {
        final class Plain: NSObject {}
        struct Point: Hashable { var x = 1 }
        let plain = Plain()
        for value in [plain, Point(), Locale(identifier: "en"), 1...2, NSDictionary()] as [Any] {
            #expect(try names(NSPredicate(format: "name == %@", value)) == [])
            #expect(try names(NSPredicate(format: "name != %@", argumentArray: [value])) == ["Ann", "Bob"])
            _ = MoultNSCoreData.NSExpression(forConstantValue: value)
        }
        #expect(NSPredicate(format: "owner == %@", plain).evaluate(with: ["owner": plain]))
        #expect(!NSPredicate(format: "owner == %@", plain).evaluate(with: ["owner": Plain()]))
        #expect(NSPredicate(format: "SELF IN %@", [Point()]).evaluate(with: Point()))
        let bounds = [25, 40].map { MoultNSCoreData.NSExpression(forConstantValue: $0) }
        #expect(try names(NSPredicate(format: "age BETWEEN %@", bounds)) == ["Ann"])
        // Nil inside Any, NSNull, and arguments for which there is no placeholder.
        let nothing: Any = String?.none as Any
        #expect(try names(NSPredicate(format: "identifier == %@", argumentArray: [nothing])) == ["Bob"])
        #expect(try names(NSPredicate(format: "identifier == %@", NSNull())) == ["Bob"])
        #expect(try names(NSPredicate(format: "name == '%@'", "Ann")) == [])
        #expect(try names(NSPredicate(format: "age == 20", argumentArray: ["Ann"])) == ["Bob"])
        #expect(try names(NSPredicate(format: "age < %lu", UInt64.max)) == ["Ann", "Bob"])
        #expect(try names(NSPredicate(format: "age > %f AND age > %@", CGFloat(25), Float(25))) == ["Ann"])
    }
}
