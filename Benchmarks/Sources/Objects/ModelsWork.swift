import Foundation
import MoultBasics
import MoultData
import MoultModel

/// One piece of work of the group "models", done through a `ModelContext` in a process of its own.
struct ModelsWork {
    typealias Item = ModelsData.Item
    typealias Owner = ModelsData.Owner

    private let context: ModelContext
    private let rows: Int

    /// Does it and prints the seconds of the work alone and the peak memory; "make" makes the store instead.
    static func run(_ work: String, _ store: String, _ rows: Int) throws {
        if work == "make" { return try ModelsData.makeStore(at: store) }
        if work == "relational" || work == "flat" { return try makeSchools(at: store, rows, areLinked: work != "flat") }
        let container = try ModelsData.container(at: store)
        let side = ModelsWork(context: ModelContext(container), rows: rows)
        let seconds = try side.seconds(of: work)
        print(
            JSONValue.object([.init("run", .double(seconds)), .init("peak", .integer(ChildWork.peakMemory))]).compact)
    }

    /// Makes the objects of ``SchoolsData`` in a new store, and saves them in one go.
    private static func makeSchools(at path: String, _ rows: Int, areLinked: Bool) throws {
        let container = try ModelContainer(
            for: ModelsData.Student.self, configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
        let context = ModelContext(container)
        try SchoolsData.show {
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

    private func seconds(of work: String) throws -> Double {
        switch work {
        case "insert":
            let given = (0..<rows).map(ModelsData.ItemValues.init)
            return try timed { try insert(given) }
        case "fetch": return try timed(fetch)
        case "lookup": return try timed(lookup)
        case "scan": return try timed(scan)
        case "update": return try timed(update)
        case "to_one": return try timed { try toOne(ahead: false) }
        case "to_one_ahead": return try timed { try toOne(ahead: true) }
        case "to_many": return try timed(toMany)
        default: throw MigrationError(.usage, "There is no work \(work).", remedy: "See ModelsWork.")
        }
    }

    private func timed(_ body: () throws -> Void) rethrows -> Double {
        let begun = Clock.now
        try body()
        return Clock.now - begun
    }

    private func check(_ isRight: Bool, _ what: String) throws {
        guard isRight else { throw MigrationError(.internal, "\(what) is not as it must be.", remedy: "") }
    }

    // MARK: - The work

    private func insert(_ given: [ModelsData.ItemValues]) throws {
        let owners = try context.fetch(FetchDescriptor<Owner>(sortBy: [SortDescriptor(\.name)]))
        for (row, values) in given.enumerated() {
            context.insert(Item(values, owner: owners[row % owners.count]))
        }
        try context.save()
    }

    private func fetch() throws {
        let items = try context.fetch(FetchDescriptor<Item>())
        let total = items.reduce(0) { $0 + Double($1.count) + $1.price + Double($1.title.utf8.count) }
        try check(items.count == rows && total > 0, "What was fetched")
    }

    private func lookup() throws {
        for row in stride(from: 0, to: rows, by: max(rows / 1000, 1)) {
            let title = ObjectsData.title(row)
            let items = try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.title == title }))
            try check(items.count == 1 && Int(items[0].count) == row, "What was found")
        }
    }

    private func scan() throws {
        let predicate = #Predicate<Item> { $0.price > 100_000 && $0.isDone && $0.note?.contains("item") == true }
        let items = try context.fetch(
            FetchDescriptor<Item>(predicate: predicate, sortBy: [SortDescriptor(\.createdAt)]))
        try check(items.count > rows / 20, "What was found")
    }

    private func update() throws {
        for item in try context.fetch(FetchDescriptor<Item>()) {
            item.price += 1
            item.rank += 1
        }
        try context.save()
    }

    private func toOne(ahead: Bool) throws {
        var fetch = FetchDescriptor<Item>()
        if ahead { fetch.relationshipKeyPathsForPrefetching = [\.owner] }
        let total = try context.fetch(fetch).reduce(0) { $0 + ($1.owner?.name.utf8.count ?? 0) }
        try check(total == rows * 10, "What was reached")
    }

    private func toMany() throws {
        var count = 0
        for owner in try context.fetch(FetchDescriptor<Owner>()) {
            for item in owner.items where item.rank >= 0 { count += 1 }
        }
        try check(count == rows, "What was reached")
    }
}
