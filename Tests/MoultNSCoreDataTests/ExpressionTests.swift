import MoultNSCoreData
import TestSupport
import Testing

/// `NSExpression` as Foundation documents it, and the format language of `NSPredicate` in a store.
@Suite struct ExpressionTests {
    let folder: ScratchFolder
    let url: URL
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path).appendingPathComponent("Library.sqlite")
        container = try Library.container(at: url)
        context = container.viewContext
        for (name, age) in [("Ann", 30), ("Ann", 5), ("Bob", 12), ("Cid", -3)] as [(String, Int16)] {
            let person = Library.person(name, age, in: context)
            let post = Post(context: context)
            (post.title, post.pages, post.author) = ("\(name) post", Int32(age), person)
        }
        try context.save()
    }

    @Test func `An expression gives back its parts`() throws {
        let path = NSExpression(forKeyPath: "author.name")
        #expect(path.expressionType == .keyPath && path.keyPath == "author.name")
        #expect(path.operand.expressionType == .evaluatedObject)
        #expect(NSExpression(forKeyPath: \Post.title).keyPath == "title")
        let constant = NSExpression(forConstantValue: "a")
        #expect(constant.expressionType == .constantValue && constant.constantValue as? String == "a")
        #expect(NSExpression(format: "1.5").constantValue as? Double == 1.5)
        let variable = NSExpression(forVariable: "x")
        #expect(variable.expressionType == .variable && variable.variable == "x")
        let sum = NSExpression(forFunction: "sum:", arguments: [path])
        #expect(sum.expressionType == .function && sum.function == "sum:" && sum.arguments == [path])
        let message = NSExpression(forFunction: variable, selectorName: "valueForKey:", arguments: [constant])
        #expect(message.function == "valueForKey:" && message.operand == variable && message.arguments == [constant])
        let list = NSExpression(forAggregate: [constant, path])
        #expect(list.expressionType == .aggregate && list.collection as? [NSExpression] == [constant, path])
        let some = NSExpression(
            forSubquery: NSExpression(forKeyPath: "posts"), usingIteratorVariable: "post",
            predicate: NSPredicate(format: "$post.pages > %d", 6))
        #expect(some == NSExpression(format: "SUBQUERY(posts, $post, $post.pages > 6)"))
        #expect(some.expressionType == .subquery && some.variable == "post")
        #expect((some.collection as? NSExpression)?.keyPath == "posts")
        let choice = NSExpression(
            forConditional: NSPredicate(format: "age > 10"), trueExpression: constant, falseExpression: path)
        #expect(choice.expressionType == .conditional && choice.true == constant && choice.false == path)
        #expect(choice.predicate.evaluate(with: ["age": 11]) && !choice.predicate.evaluate(with: ["age": 9]))
        #expect(NSExpression.expressionForEvaluatedObject().expressionType == .evaluatedObject)
        #expect(NSExpression(format: "%K + 1", argumentArray: ["age"]) == NSExpression(format: "age + 1"))
    }

    @Test func `An expression is evaluated`() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = NSPredicate(format: "age == 30")
        let ann = try #require(try context.fetch(request).first)
        func value(_ format: String, _ object: Any?, _ variables: NSMutableDictionary? = nil) -> Any? {
            NSExpression(format: format).expressionValue(with: object, context: variables)
        }
        #expect(value("age + 1", ann) as? Int == 31)
        #expect(value("uppercase:(name)", ann) as? String == "ANN")
        #expect(value("posts.@sum.pages", ann) as? Int == 30)
        #expect(value("$source.name", nil, ["source": ann]) as? String == "Ann")
        #expect(value("SELF", ann) as? Person === ann)
        #expect((value("posts", ann) as? [Any])?.first as? Post === ann.postSet?.first)
        #expect(value("sum({1, 2, 3})", nil) as? Int == 6)
        #expect(value("a.b", ["a": ["b": 2]]) as? Int == 2)
        #expect(value("owner.name", ["owner": ann, "name": "other"]) as? String == "Ann")
        #expect(value("name", ["other": 1]) == nil)
        let alone = Person(entity: ann.entity, insertInto: nil)
        alone.name = "Eve"
        #expect(NSPredicate(format: "name == 'Eve'").evaluate(with: alone))
        #expect(NSPredicate(format: "owner.name == 'Ann'").evaluate(with: ["owner": ann, "name": "other"]))
    }

    @Test(arguments: [
        ("(age & 1) != 0", "(ZAGE & 1) != 0"), ("age & 1 == 1", "(ZAGE & 1) = 1"),
        ("(age | 1) == 13", "(ZAGE | 1) = 13"),
        ("(age ^ 4) == 1", "(ZAGE = 5)"), ("~age == 2", "~ZAGE = 2"), ("age << 1 == 24", "(ZAGE << 1) = 24"),
        ("age >> 1 + 1 == 3", "(ZAGE >> (1 + 1)) = 3"), ("-~age == -2", "-(~ZAGE) = -2"),
        ("abs(age) == 3", "abs(ZAGE) = 3"), ("lowercase(name) == 'bob'", "lower(ZNAME) = 'bob'"),
        ("trunc(age) == 5", "ZAGE = 5"),
    ])
    func `Operators of bits and functions without a colon`(_ format: String, _ sql: String) throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let all = try context.fetch(request)
        let predicate = NSPredicate(format: format)
        request.predicate = predicate
        let found = try context.fetch(request).map { String($0.age) }
        #expect(try found == SQLiteShell.rows("SELECT ZAGE FROM ZPERSON WHERE \(sql) ORDER BY ZAGE", of: url))
        #expect(found == all.filter { predicate.evaluate(with: $0) }.map { String($0.age) })
    }

    @Test func `distinct: counts each value once, and having names a column`() throws {
        func column(_ name: String, _ format: String) -> NSExpressionDescription {
            let column = NSExpressionDescription()
            (column.name, column.expression) = (name, NSExpression(format: format))
            column.expressionResultType = .integer64AttributeType
            return column
        }
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [column("names", "count:(distinct:(name))"), column("all", "count:(name)")]
        let row = try #require(try context.fetch(request).first)
        let expected = try SQLiteShell.rows("SELECT count(DISTINCT ZNAME) || ' ' || count(ZNAME) FROM ZPERSON", of: url)
        #expect(["\(row["names"] ?? "") \(row["all"] ?? "")"] == expected)
        #expect(NSPredicate(format: "count:(distinct:({1, 1, 2})) == 2").evaluate(with: nil))
        let people = NSFetchRequest<Person>(entityName: "Person")
        people.predicate = NSPredicate(format: "count:(distinct:(posts.title)) == 1")
        #expect(try context.count(for: people) == 4)

        request.propertiesToFetch = ["name", column("count", "count:(name)")]
        request.propertiesToGroupBy = ["name"]
        request.havingPredicate = NSPredicate(format: "%@ > 1", NSExpression(forVariable: "count"))
        #expect(try context.fetch(request).map { $0["name"] as? String } == ["Ann"])
    }

    @Test func `The fetch that Xcode writes is a source expression`() throws {
        func fetch(_ entity: String, _ predicate: String = "TRUEPREDICATE", _ flag: String = "NO") -> NSExpression {
            NSExpression(
                format: """
                    FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:" , "\(entity)", \
                    "\(predicate)"), $manager.sourceContext, \(flag))
                    """)
        }
        let whole = try #require(fetch("Person") as? NSFetchRequestExpression)
        #expect(!whole.isCountOnlyRequest && whole.contextExpression.keyPath == "sourceContext")
        #expect(whole.requestExpression.function == "fetchRequestForSourceEntityNamed:predicateString:")
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        let newer = Library.model { person, _ in person.properties.append(Library.attribute("note", .string)) }
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: newer)
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        let person = try #require(mapping.entityMappings.first { $0.sourceEntityName == "Person" })
        let copy = url.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        func migrate() throws {
            try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: copy, type: .sqlite)
        }
        for wrong in [fetch("Post"), fetch("Person", "TRUEPREDICATE", "YES"), NSExpression(forConstantValue: 1)] {
            person.sourceExpression = wrong
            #expect(person.sourceExpression === wrong)
            #expect(throws: NSError.self) { try migrate() }
            #expect(!FileManager.default.fileExists(atPath: copy.path))
        }
        person.sourceExpression = whole
        try migrate()
        #expect(try SQLiteShell.rows("SELECT count(*) FROM ZPERSON", of: copy) == ["4"])
    }
}
