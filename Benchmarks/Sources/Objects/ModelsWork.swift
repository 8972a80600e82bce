import Foundation
import MoultBasics
import MoultData
import MoultModel

/// One piece of work of the group "models", done through a `ModelContext` in a process of its own.
struct ModelsWork: ContextWork {
    typealias Item = ModelsData.Item
    typealias Owner = ModelsData.Owner

    private let context: ModelContext
    let rows: Int

    /// Does it and prints the seconds of the work alone and the peak memory; "make" makes the store instead.
    static func run(_ work: String, _ store: String, _ rows: Int) throws {
        if work == "make" { return try ModelsData.makeStore(at: store) }
        if work == "relational" || work == "flat" { return try makeSchools(at: store, rows, areLinked: work != "flat") }
        let container = try ModelsData.container(at: store)
        let side = ModelsWork(context: ModelContext(container), rows: rows)
        try side.show(work)
    }

    /// Makes the objects of ``SchoolsData`` in a new store, and saves them in one go.
    private static func makeSchools(at path: String, _ rows: Int, areLinked: Bool) throws {
        let container = try ModelContainer(
            for: ModelsData.Student.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
        let context = ModelContext(container)
        try ChildWork.show {
            let counts = SchoolsData.Counts(rows)
            let schools = (0..<counts.schools).map { ModelsData.School(name: "school \($0)") }
            let courses = (0..<counts.courses).map { ModelsData.Course(name: "course \($0)") }
            for school in schools { context.insert(school) }
            for course in courses { context.insert(course) }
            for number in 0..<counts.students {
                let student = ModelsData.Student(name: "student \(number)", age: 6 + number % 13)
                context.insert(student)
                guard areLinked else { continue }
                student.school = schools[number % schools.count]
                student.courses = SchoolsData.courses(of: number, of: courses.count).map { courses[$0] }
            }
            try context.save()
        }
    }

    // MARK: - The work

    static func values(_ number: Int) -> ModelsData.ItemValues { ModelsData.ItemValues(number) }

    func insert(_ given: [ModelsData.ItemValues]) throws {
        let owners = try context.fetch(FetchDescriptor<Owner>(sortBy: [SortDescriptor(\.name)]))
        for (row, values) in given.enumerated() {
            context.insert(Item(values, owner: owners[row % owners.count]))
        }
        try context.save()
    }

    func fetch() throws {
        let items = try context.fetch(FetchDescriptor<Item>())
        let total = items.reduce(0) { $0 + Double($1.count) + $1.price + Double($1.title.utf8.count) }
        try ChildWork.check(items.count == rows && total > 0, "What was fetched")
    }

    func lookup() throws {
        for row in stride(from: 0, to: rows, by: max(rows / 1000, 1)) {
            let title = ObjectsData.title(row)
            let items = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.title == title }))
            try ChildWork.check(items.count == 1 && Int(items[0].count) == row, "What was found")
        }
    }

    func scan() throws {
        let predicate = #Predicate<Item> { $0.price > 100_000 && $0.isDone && $0.note?.contains("item") == true }
        let items = try context.fetch(
            FetchDescriptor<Item>(predicate: predicate, sortBy: [SortDescriptor(\.createdAt)]))
        try ChildWork.check(items.count > rows / 20, "What was found")
    }

    func update() throws {
        for item in try context.fetch(FetchDescriptor<Item>()) {
            item.price += 1
            item.rank += 1
        }
        try context.save()
    }

    func toOne(ahead: Bool) throws {
        var fetch = FetchDescriptor<Item>()
        if ahead { fetch.relationshipKeyPathsForPrefetching = [\.owner] }
        let total = try context.fetch(fetch).reduce(0) { $0 + ($1.owner?.name.utf8.count ?? 0) }
        try ChildWork.check(total == rows * 10, "What was reached")
    }

    func toMany() throws {
        var count = 0
        for owner in try context.fetch(FetchDescriptor<Owner>()) {
            for item in owner.items where item.rank >= 0 { count += 1 }
        }
        try ChildWork.check(count == rows, "What was reached")
    }
}
