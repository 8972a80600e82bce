import MoultNSCoreData
import TestSupport
import Testing

@Suite struct FetchIdioms {
    let context: NSManagedObjectContext

    init() throws {
        context = try Library.context()
        for (name, age) in [("Ann", 30), ("Bob", 20), ("cid", 40)] as [(String, Int16)] {
            let person = Library.person(name, age, in: context)
            for number in 1...2 {
                let post = Post(context: context)
                post.title = "\(name) \(number)"
                post.pages = Int32(age) * Int32(number)
                post.author = person
            }
        }
        try context.save()
    }

    private func names(_ predicate: NSPredicate?) throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.predicate = predicate
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        return try context.fetch(request).map(\.name)
    }

    @Test("NSFetchRequest<Person>(entityName:) with let")
    func letRequest() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.fetchLimit = 2
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
        #expect(try context.fetch(request).map(\.name) == ["cid", "Bob"])
    }

    @Test("Person.fetchRequest()")
    func classRequest() throws {
        let request: NSFetchRequest<Person> = Person.fetchRequest()
        #expect(try context.fetch(request).count == 3)
    }

    @Test("NSFetchRequest<NSFetchRequestResult>")
    func untypedRequest() throws {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Person")
        let people = try context.fetch(request) as? [Person]
        #expect(people?.count == 3)
        let other: NSFetchRequest<NSFetchRequestResult> = Post.fetchRequest()
        #expect(try context.count(for: other) == 6)
    }

    @Test("NSPredicate(format:) without try")
    func format() throws {
        #expect(try names(NSPredicate(format: "name BEGINSWITH[c] %@ AND age > %d", "C", 25)) == ["cid"])
    }

    @Test("NSPredicate(format:) that does not parse ends the program")
    func badFormat() async {
        await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "name = = 3") }
    }

    @Test("NSPredicate(format: \"%K == %@\", …)")
    func keyPathFormat() throws { #expect(try names(NSPredicate(format: "%K == %@", "name", "Bob")) == ["Bob"]) }

    @Test("NSPredicate(format:argumentArray:)")
    func argumentArray() throws {
        #expect(try names(NSPredicate(format: "age IN %@", argumentArray: [[20, 40]])) == ["Bob", "cid"])
    }

    @Test("NSCompoundPredicate(andPredicateWithSubpredicates:)")
    func compound() throws {
        let old = NSPredicate(format: "age > 25")
        let lower = NSPredicate(format: "name == 'cid'")
        #expect(try names(NSCompoundPredicate(andPredicateWithSubpredicates: [old, lower])) == ["cid"])
        #expect(
            try names(NSCompoundPredicate(orPredicateWithSubpredicates: [lower, NSPredicate(format: "age < 25")])) == [
                "Bob", "cid",
            ])
        #expect(try names(NSCompoundPredicate(notPredicateWithSubpredicate: lower)) == ["Bob", "Ann"])
        #expect(try names(NSCompoundPredicate(type: .and, subpredicates: [old, NSPredicate(value: false)])) == [])
    }

    @Test("NSPredicate(value: true)")
    func constant() throws {
        #expect(try names(NSPredicate(value: true)).count == 3)
        #expect(try names(NSPredicate(value: false)).isEmpty)
    }

    @Test("a block predicate is refused by a fetch, as in Core Data")
    func block() throws {
        #expect(throws: (any Error).self) { try names(NSPredicate { _, _ in true }) }
    }

    @Test("predicate.evaluate(with: object)")
    func evaluate() throws {
        let ann = try context.fetch(NSFetchRequest<Person>(entityName: "Person")).first { $0.name == "Ann" }
        let predicate = NSPredicate(format: "ANY posts.pages > 50")
        #expect(predicate.evaluate(with: ann))
        #expect(!NSPredicate(format: "age == 1").evaluate(with: ann))
        #expect(NSPredicate(format: "address.city == 'Bern'").evaluate(with: ["address": ["city": "Bern"]]))
        #expect(NSPredicate(format: "SELF MATCHES %@", "[a-z]+").evaluate(with: "abc"))
        #expect(NSPredicate(format: "age > $least").evaluate(with: ann, substitutionVariables: ["least": 29]))
    }

    @Test("NSSortDescriptor(key:ascending:)")
    func sortByKey() throws {
        #expect(NSSortDescriptor(key: "name", ascending: true).key == "name")
        #expect(try names(nil) == ["Bob", "Ann", "cid"])
    }

    @Test("NSSortDescriptor(keyPath: \\Person.name, ascending:)")
    func sortByKeyPath() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(keyPath: \Person.name, ascending: false)]
        #expect(try context.fetch(request).map(\.name) == ["cid", "Bob", "Ann"])
        #expect(NSSortDescriptor(keyPath: \Person.born, ascending: true).key == "born")
        #expect(NSSortDescriptor(keyPath: \Person.isActive, ascending: true).key == "isActive")
    }

    @Test("request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\\.name))]")
    func sortDescriptor() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.sortDescriptors = [NSSortDescriptor(SortDescriptor(\Person.age, order: .reverse))]
        #expect(try context.fetch(request).map(\.age) == [40, 30, 20])
    }

    @Test("context.fetch / count / existingObject / object(with:) / registeredObject, returnsObjectsAsFaults")
    func reading() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.returnsObjectsAsFaults = false
        let people = try context.fetch(request)
        #expect(people.map(\.isFault) == [false, false, false])
        let id = people[0].objectID
        #expect(try context.existingObject(with: id) === people[0])
        #expect(context.object(with: id) === people[0])
        #expect(context.registeredObject(for: id) === people[0])
        #expect(try context.count(for: request) == 3)
    }

    @Test("request.includesPropertyValues / shouldRefreshRefetchedObjects / affectedStores")
    func options() throws {
        let request = NSFetchRequest<Person>(entityName: "Person")
        request.includesPropertyValues = false
        request.shouldRefreshRefetchedObjects = true
        request.affectedStores = nil
        request.fetchBatchSize = 20
        request.relationshipKeyPathsForPrefetching = ["posts"]
        #expect(try context.fetch(request).count == 3)
    }

    @Test("request.includesPendingChanges")
    func pendingChanges() throws {
        Library.person("New", in: context)
        let request = NSFetchRequest<Person>(entityName: "Person")
        #expect(try context.count(for: request) == 4)
        request.includesPendingChanges = false
        #expect(try context.count(for: request) == 3)
    }

    @Test("request.havingPredicate, returnsDistinctResults")
    func having() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Post")
        let sum = NSExpressionDescription()
        sum.name = "sum"
        sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
        sum.expressionResultType = .integer32AttributeType
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["author.name", sum]
        request.propertiesToGroupBy = ["author.name"]
        request.havingPredicate = NSPredicate(format: "sum > 60")
        request.returnsDistinctResults = true
        let rows = try context.fetch(request) as? [[String: Any]]
        #expect(Set(rows?.compactMap { $0["author.name"] as? String } ?? []) == ["Ann", "cid"])
    }

    @Test("request.resultType = .dictionaryResultType")
    func dictionaries() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name", "age"]
        request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        let rows = try context.fetch(request)
        #expect(rows.compactMap { $0["name"] as? String } == ["Bob", "Ann", "cid"])
        #expect(rows.compactMap { $0["age"] as? Int } == [20, 30, 40])
    }

    @Test("request.entity =")
    func entity() throws {
        let request = NSFetchRequest<NSManagedObject>()
        request.entity = NSEntityDescription.entity(forEntityName: "Post", in: context)
        #expect(try context.fetch(request).count == 6)
    }

    @Test("NSExpressionDescription() with expression NSExpression(forFunction:arguments:)")
    func expression() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Post")
        let greatest = NSExpressionDescription()
        greatest.name = "greatest"
        greatest.expression = NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "pages")])
        greatest.resultType = .integer32
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [greatest]
        #expect(try context.fetch(request).first?["greatest"] as? Int == 80)
    }

    @Test("NSExpression(format: \"sum:(pages)\")")
    func expressionFormat() throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Post")
        let sum = NSExpressionDescription()
        sum.name = "all"
        sum.expression = NSExpression(format: "sum:(pages)")
        request.propertiesToFetch = [sum]
        #expect(try context.fetch(request).first?["all"] as? Int == 270)
    }

    @Test("NSComparisonPredicate from parts")
    func comparison() throws {
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: "ANN"),
            modifier: .direct, type: .equalTo, options: .caseInsensitive)
        #expect(try names(predicate) == ["Ann"])
    }

    @Test("NSAsynchronousFetchRequest")
    func asynchronous() async throws {
        let found = await withCheckedContinuation { done in
            let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Person>(entityName: "Person")) {
                done.resume(returning: $0.finalResult?.count)
            }
            do { try context.execute(request) } catch { done.resume(returning: nil) }
        }
        #expect(found == 3)
    }

    @Test("NSFetchRequest from template: model.fetchRequestTemplate(forName:)")
    func template() throws {
        let model = Library.model()
        let template = NSFetchRequest<NSFetchRequestResult>(entityName: "Person")
        template.predicate = NSPredicate(format: "age >= $least")
        model.setFetchRequestTemplate(template, forName: "grown")
        #expect(model.fetchRequestTemplate(forName: "grown")?.entityName == "Person")
        let request = try #require(
            model.fetchRequestFromTemplate(withName: "grown", substitutionVariables: ["least": 30]))
        #expect(try context.count(for: request) == 2)
    }

    @Test("fetchedProperty")
    func fetchedProperty() throws {
        let model = Library.model { person, _ in
            let long = NSFetchedPropertyDescription()
            long.name = "longPosts"
            let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Post")
            request.predicate = NSPredicate(format: "author == $FETCH_SOURCE AND pages > 10")
            long.fetchRequest = request
            person.properties.append(long)
        }
        let context = try Library.container(model).viewContext
        let ann = Library.person("Ann", in: context)
        for pages in [5, 15] as [Int32] {
            let post = Post(context: context)
            (post.pages, post.author) = (pages, ann)
        }
        try context.save()
        #expect((ann.value(forKey: "longPosts") as? [Post])?.map(\.pages) == [15])
    }
}
