import MoultBasics
import MoultModel
import MoultObjects
import MoultStore

/// One piece of work of the group "objects", done through a context in a process of its own.
struct ObjectsWork: ContextWork {
    private let context: ObjectContext
    let rows: Int

    /// Does it and prints the seconds of the work alone and the peak memory; "make" makes the store instead.
    static func run(_ work: String, _ store: String, _ rows: Int) throws {
        if work == "make" { return try ObjectsData.makeStore(at: store) }
        if work == "relational" || work == "flat" { return try makeSchools(at: store, rows, areLinked: work != "flat") }
        let side = try ObjectsWork(store, rows)
        try side.show(work)
    }

    private init(_ store: String, _ rows: Int) throws {
        let model = try ObjectsData.model()
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(store, model: model))
        context = ObjectContext(coordinator: coordinator)
        self.rows = rows
    }

    /// Makes the objects of ``SchoolsData`` in a new store, and saves them in one go.
    private static func makeSchools(at path: String, _ rows: Int, areLinked: Bool) throws {
        let model = try SchoolsData.model()
        try StoreCreator(ModelVersion(names: ["1"], model: model)).make(at: path)
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(path, model: model))
        let context = ObjectContext(coordinator: coordinator)
        try ChildWork.show {
            let counts = SchoolsData.Counts(rows)
            func make(_ entity: String, _ name: String) throws -> Object {
                let object = try context.insert(entity)
                try object.setAttribute("name", .string(name))
                return object
            }
            let schools = try (0..<counts.schools).map { try make("School", "school \($0)") }
            let courses = try (0..<counts.courses).map { try make("Course", "course \($0)") }
            for number in 0..<counts.students {
                let student = try make("Student", "student \(number)")
                try student.setAttribute("age", .integer(Int64(6 + number % 13)))
                guard areLinked else { continue }
                try student.setToOne("school", schools[number % schools.count])
                try student.setToMany("courses", SchoolsData.courses(of: number, of: courses.count).map { courses[$0] })
            }
            try context.save()
        }
    }

    // MARK: - The work

    static func values(_ number: Int) -> [AttributeValue?] { ObjectsData.values(number) }

    func insert(_ given: [[AttributeValue?]]) throws {
        let owners = try context.fetch(ObjectFetch(entityName: "Owner", sort: [.init("name")]))
        for (row, values) in given.enumerated() {
            let item = try context.insert("Item")
            for (name, value) in zip(ObjectsData.names, values) { try item.setAttribute(name, value) }
            try item.setToOne("owner", owners[row % owners.count])
        }
        try context.save()
    }

    func fetch() throws {
        let items = try context.fetch(ObjectFetch(entityName: "Item"))
        var total = 0.0
        for item in items {
            guard case .integer(let count)? = try item.attribute("count"),
                case .double(let price)? = try item.attribute("price"),
                case .string(let title)? = try item.attribute("title")
            else { throw MigrationError(.internal, "A value is missing.", remedy: "") }
            total += Double(count) + price + Double(title.utf8.count)
        }
        try ChildWork.check(items.count == rows && total > 0, "What was fetched")
    }

    func lookup() throws {
        for row in stride(from: 0, to: rows, by: max(rows / 1000, 1)) {
            let title = Predicate.comparison(
                .init(.keyPath("title"), .equal, .constant(.string(ObjectsData.title(row)))))
            let items = try context.fetch(ObjectFetch(entityName: "Item", predicate: title))
            try ChildWork.check(
                try items.count == 1 && items[0].attribute("count") == .integer(Int64(row)), "What was found")
        }
    }

    func scan() throws {
        let predicate = Predicate.and([
            .comparison(.init(.keyPath("price"), .greaterThan, .constant(.real(100_000)))),
            .comparison(.init(.keyPath("isDone"), .equal, .constant(.boolean(true)))),
            .comparison(
                .init(.keyPath("note"), .contains, .constant(.string("item")), options: [.caseInsensitive])),
        ])
        let items = try context.fetch(
            ObjectFetch(entityName: "Item", predicate: predicate, sort: [.init("createdAt")]))
        try ChildWork.check(items.count > rows / 20, "What was found")
    }

    func update() throws {
        for item in try context.fetch(ObjectFetch(entityName: "Item")) {
            guard case .integer(let rank)? = try item.attribute("rank"),
                case .double(let price)? = try item.attribute("price")
            else { throw MigrationError(.internal, "A value is missing.", remedy: "") }
            try item.setAttribute("price", .double(price + 1))
            try item.setAttribute("rank", .integer(rank + 1))
        }
        try context.save()
    }

    func toOne(ahead: Bool) throws {
        var fetch = ObjectFetch(entityName: "Item")
        if ahead { fetch.prefetched = ["owner"] }
        var total = 0
        for item in try context.fetch(fetch) {
            if case .string(let name)? = try item.toOne("owner")?.attribute("name") { total += name.utf8.count }
        }
        try ChildWork.check(total == rows * 10, "What was reached")
    }

    func toMany() throws {
        var count = 0
        for owner in try context.fetch(ObjectFetch(entityName: "Owner")) {
            for item in try owner.toMany("items") {
                if case .integer? = try item.attribute("rank") { count += 1 }
            }
        }
        try ChildWork.check(count == rows, "What was reached")
    }
}
