import MoultNSCoreData
import TestSupport
import Testing

/// What a description says if nothing is set, and when two of them are equal.
@Suite struct DescriptionDefaultTests {
    @Test(
        arguments: [
            (.string, "NSString"), (.integer16, "NSNumber"), (.integer32, "NSNumber"), (.integer64, "NSNumber"),
            (.double, "NSNumber"), (.float, "NSNumber"), (.boolean, "NSNumber"), (.decimal, "NSDecimalNumber"),
            (.date, "NSDate"), (.binaryData, "NSData"), (.uuid, "NSUUID"), (.uri, "NSURL"), (.transformable, nil),
        ] as [(NSAttributeDescription.AttributeType, String?)])
    func `The class of the value follows from the type`(_ type: NSAttributeDescription.AttributeType, _ name: String?) {
        #expect(Library.attribute("value", type).attributeValueClassName == name)
    }

    @Test func `The renaming identifier is the name, and neither it nor the class changes the model`() throws {
        let plain = Library.model()
        let person = try #require(plain.entitiesByName["Person"])
        let name = try #require(person.attributesByName["name"])
        #expect(person.renamingIdentifier == "Person" && name.renamingIdentifier == "name")
        #expect(person.relationshipsByName["posts"]?.renamingIdentifier == "posts")
        name.attributeValueClassName = "NSString"
        #expect(plain == Library.model())
        name.renamingIdentifier = "title"
        #expect(name.renamingIdentifier == "title" && plain != Library.model())
        #expect(plain.entityVersionHashesByName == Library.model().entityVersionHashesByName)
        name.renamingIdentifier = nil
        #expect(name.renamingIdentifier == "name" && plain == Library.model())
    }

    @Test func `Models and entities are equal by their contents`() throws {
        let (one, other) = (Library.model(), Library.model())
        #expect(one !== other && one == other && Set([one, other]).count == 1)
        let (person, same) = try (#require(one.entitiesByName["Person"]), #require(other.entitiesByName["Person"]))
        #expect(person !== same && person == same && Set([person, same]).count == 1)
        #expect(person != one.entitiesByName["Post"])
        same.attributesByName["age"]?.defaultValue = 1
        #expect(person != same && one != other)
        let changed = Library.model { person, _ in person.properties.append(Library.attribute("extra", .string)) }
        #expect(one != changed && one != NSManagedObjectModel() && NSManagedObjectModel() == NSManagedObjectModel())
    }

    @Test func `An ordered relationship has the calls of a mutable ordered set`() throws {
        let container = try Library.container()
        let context = container.viewContext
        let person = Library.person("Ann", in: context)
        let posts = ["a", "b", "c", "d", "e"].map { title in
            let post = Post(context: context)
            post.title = title
            return post
        }
        let list = person.mutableOrderedSetValue(forKey: "favourites")
        // Foundation's class does the same, and is what is expected.
        let expected = NSMutableOrderedSet()
        func titles() -> [String] { list.array.compactMap { ($0 as? Post)?.title } }
        func check(_ call: Comment) { #expect(titles() == expected.array.compactMap { ($0 as? Post)?.title }, call) }
        list.addObjects(from: Array(posts[0...3]))
        expected.addObjects(from: Array(posts[0...3]))
        check("addObjects(from:)")
        list.exchangeObject(at: 0, withObjectAt: 3)
        expected.exchangeObject(at: 0, withObjectAt: 3)
        check("exchangeObject(at:withObjectAt:)")
        list.moveObjects(at: IndexSet([0, 2]), to: 2)
        expected.moveObjects(at: IndexSet([0, 2]), to: 2)
        check("moveObjects(at:to:)")
        list.replaceObject(at: 1, with: posts[4])
        #expect(titles() == ["b", "e", "d", "c"])
        list.insert([posts[0]], at: IndexSet(integer: 0))
        #expect(titles() == ["a", "b", "e", "d", "c"] && list.firstObject as? Post === posts[0])
        list.removeObjects(at: IndexSet([1, 2]))
        #expect(titles() == ["a", "d", "c"])
        list.sort { (($0 as? Post)?.title ?? "").compare(($1 as? Post)?.title ?? "") }
        #expect(titles() == ["a", "c", "d"])
        list.minus(NSOrderedSet(array: [posts[0]]))
        list.removeObjects(in: [posts[3]])
        list.union(NSOrderedSet(array: [posts[2], posts[1]]))
        #expect(titles() == ["c", "b"])
        try context.save()
        #expect(person.favourites?.array.compactMap { ($0 as? Post)?.title } == ["c", "b"])
    }
}
