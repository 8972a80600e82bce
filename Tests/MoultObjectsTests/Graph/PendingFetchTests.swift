import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Fetching with unsaved changes")
struct PendingFetchTests {
    /// People P0 to P9 of age 0 to 9, tasks with owners; then every kind of change, unsaved.
    private func changedOffice() throws -> Office {
        let office = try Office()
        for number in 0..<10 {
            let person = try office.person("P\(number)")
            try person.setAttribute("age", .integer(Int64(number)))
            try office.insert("Task", "T\(number)").setToOne("owner", person)
        }
        try office.context.save()
        let people = try office.context.fetch(ObjectFetch(entityName: "Person", sort: [.init("name")]))
        try people[2].setAttribute("age", .integer(50))
        try people[8].setAttribute("age", .integer(-1))
        try people[3].setAttribute("name", .string("Q"))
        try office.context.delete(people[5])
        try office.person("New", entity: "Manager").setAttribute("age", .integer(6))
        try office.person("Newer").setAttribute("age", .integer(6))
        try office.insert("Task", "TN").setToOne("owner", people[9])
        return office
    }

    static let fetches: [(entity: String, predicate: String, sort: [ObjectFetch.SortTerm])] = [
        ("Person", "TRUEPREDICATE", []),
        ("Person", "TRUEPREDICATE", [.init("age")]),
        ("Person", "age > 5", [.init("age", isAscending: false), .init("name")]),
        ("Person", "name BEGINSWITH 'P' OR age == 6", [.init("name", isAscending: false)]),
        ("Person", "tasks.@count == 1", [.init("name")]),
        ("Person", "ANY tasks.name IN {'T1', 'TN'}", [.init("age")]),
        ("Task", "owner.age >= 6", [.init("owner.age"), .init("name")]),
        ("Task", "owner == nil", [.init("name")]),
        ("Task", "owner.name == 'Q'", []),
        ("Manager", "age == 6", []),
    ]

    @Test(arguments: fetches.indices)
    func `finds, orders and counts as it does after the save`(index: Int) throws {
        let (entity, predicate, sort) = Self.fetches[index]
        let office = try changedOffice()
        let fetches = try [(0, 0), (0, 3), (2, 4), (9, 5)].map { window in
            var fetch = ObjectFetch(entityName: entity, predicate: try Predicate(parsing: predicate), sort: sort)
            (fetch.offset, fetch.limit) = window
            return fetch
        }
        let found = try fetches.map { fetch in
            let objects = try office.context.fetch(fetch)
            let (ids, count) = (try office.context.fetchIDs(fetch), try office.context.count(fetch))
            #expect(ids == objects.map { $0.id } && count == objects.count)
            return try names(objects)
        }
        try office.context.save()
        let elsewhere = try office.elsewhere()
        for (fetch, before) in zip(fetches, found) {
            let after = try names(elsewhere.fetch(fetch))
            #expect(before == after)
            #expect(try names(office.context.fetch(fetch)) == after)
        }
    }

    @Test func `rows are of what is saved only, an object that was not changed is not read twice`() throws {
        let office = try changedOffice()
        var fetch = ObjectFetch(entityName: "Person", predicate: try Predicate(parsing: "age > 40"))
        fetch.columns = [.init("name", .keyPath("name"))]
        #expect(try office.context.fetchRows(fetch).isEmpty)
        try office.context.save()
        #expect(try office.context.fetchRows(fetch).map { $0["name"] } == [.string("P2")])
        let held = try office.context.fetch(ObjectFetch(entityName: "Person", sort: [.init("name")]))
        _ = try office.sql("UPDATE ZPERSON SET ZNAME = 'changed'")
        _ = try office.context.fetch(ObjectFetch(entityName: "Person"))
        #expect(try !names(held).contains("changed"))
    }

    @Test func `prefetched objects are there without another query`() throws {
        let office = try Office()
        let label = try office.insert("Label", "red")
        for number in 0..<5 {
            let task = try office.insert("Task", "T\(number)")
            try task.setToOne("owner", try office.person("P\(number)"))
            try task.add(label, to: "labels")
        }
        try office.context.save()
        let context = try office.elsewhere()
        var fetch = ObjectFetch(entityName: "Person", sort: [.init("name")])
        fetch.prefetched = ["tasks.labels"]
        let people = try context.fetch(fetch)
        // Nothing can be read any more.
        _ = try office.sql("DROP TABLE ZTASK")
        for (number, person) in people.enumerated() {
            let tasks = try person.toMany("tasks")
            #expect(try names(tasks) == ["T\(number)"])
            #expect(try names(tasks[0].toMany("labels")) == ["red"])
        }
        #expect(throws: MigrationError.self) {
            fetch.prefetched = ["nothing"]
            _ = try context.fetch(fetch)
        }
    }

    @Test func `a bad entity or predicate says so`() throws {
        let office = try changedOffice()
        #expect { try office.context.fetch(ObjectFetch(entityName: "Nobody")) } throws: {
            ($0 as? MigrationError)?.code == .unknownKey
        }
        let fetch = ObjectFetch(entityName: "Person", predicate: try Predicate(parsing: "nothing == 1"))
        #expect(throws: MigrationError.self) { try office.context.fetch(fetch) }
    }
}
