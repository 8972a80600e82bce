#if os(Linux)
    import MoultBasics
    import MoultNSCoreData

    /// One piece of work of the group "names", done through an `NSManagedObjectContext` in a process of its own.
    struct NamesWork: ContextWork {
        private let context: NSManagedObjectContext
        let rows: Int

        /// Does it and prints the seconds of the work alone and the peak memory; "make" makes the store instead.
        static func run(_ work: String, _ store: String, _ rows: Int) throws {
            if work == "make" { return try NamesData.makeStore(at: store) }
            if work == "relational" || work == "flat" {
                return try makeSchools(at: store, rows, areLinked: work != "flat")
            }
            let side = NamesWork(context: try NamesData.context(NamesData.items(), at: store), rows: rows)
            try side.show(work)
        }

        private static func makeSchools(at path: String, _ rows: Int, areLinked: Bool) throws {
            let context = try NamesData.context(NamesData.schools(), at: path)
            try ChildWork.show {
                let counts = SchoolsData.Counts(rows)
                let schools = (0..<counts.schools).map { number in
                    let school = NamedSchool(context: context)
                    school.name = "school \(number)"
                    return school
                }
                let courses = (0..<counts.courses).map { number in
                    let course = NamedCourse(context: context)
                    course.name = "course \(number)"
                    return course
                }
                for number in 0..<counts.students {
                    let student = NamedStudent(context: context)
                    student.name = "student \(number)"
                    student.age = Int64(6 + number % 13)
                    guard areLinked else { continue }
                    student.school = schools[number % schools.count]
                    student.courses = Set(SchoolsData.courses(of: number, of: courses.count).map { courses[$0] })
                }
                try context.save()
            }
        }

        private func request(_ format: String? = nil, _ value: String = "") -> NSFetchRequest<NamedItem> {
            let request = NSFetchRequest<NamedItem>(entityName: "Item")
            request.predicate = format.map { NSPredicate(format: $0, value) }
            return request
        }

        private func owners() throws -> [NamedOwner] {
            let request = NSFetchRequest<NamedOwner>(entityName: "Owner")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request)
        }

        // MARK: - The work

        static func values(_ number: Int) -> ModelsData.ItemValues { ModelsData.ItemValues(number) }

        func insert(_ given: [ModelsData.ItemValues]) throws {
            let owners = try owners()
            for (row, values) in given.enumerated() {
                let item = NamedItem(context: context)
                item.amount = NSDecimalNumber(decimal: values.amount)
                item.count = values.count
                item.createdAt = values.createdAt
                item.identifier = values.identifier
                item.isDone = values.isDone
                item.note = values.note
                item.payload = values.payload
                item.price = values.price
                item.rank = values.rank
                item.title = values.title
                item.owner = owners[row % owners.count]
            }
            try context.save()
        }

        func fetch() throws {
            let items = try context.fetch(request())
            let total = items.reduce(0) { $0 + Double($1.count) + $1.price + Double($1.title?.utf8.count ?? 0) }
            try ChildWork.check(items.count == rows && total > 0, "What was fetched")
        }

        func lookup() throws {
            for row in stride(from: 0, to: rows, by: max(rows / 1000, 1)) {
                let items = try context.fetch(request("title == %@", ObjectsData.title(row)))
                try ChildWork.check(items.count == 1 && Int(items[0].count) == row, "What was found")
            }
        }

        func scan() throws {
            let request = request("price > 100000 AND isDone == YES AND note CONTAINS %@", "item")
            request.sortDescriptors = [NSSortDescriptor(key: "createdAt", ascending: true)]
            try ChildWork.check(try context.fetch(request).count > rows / 20, "What was found")
        }

        func update() throws {
            for item in try context.fetch(request()) {
                item.price += 1
                item.rank += 1
            }
            try context.save()
        }

        func toOne(ahead: Bool) throws {
            let request = request()
            if ahead { request.relationshipKeyPathsForPrefetching = ["owner"] }
            let total = try context.fetch(request).reduce(0) { $0 + ($1.owner?.name?.utf8.count ?? 0) }
            try ChildWork.check(total == rows * 10, "What was reached")
        }

        func toMany() throws {
            var count = 0
            for owner in try owners() {
                for item in owner.items ?? [] where item.rank >= 0 { count += 1 }
            }
            try ChildWork.check(count == rows, "What was reached")
        }
    }
#endif
