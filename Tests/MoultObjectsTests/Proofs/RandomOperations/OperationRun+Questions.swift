import MoultModel

@testable import MoultObjects

extension OperationRun {
    /// A question about attributes of the objects themselves, which unsaved changes take part in.
    private struct Question {
        var entity: String
        var predicate: Predicate?
        var holds: (Reference.Record) -> Bool
    }

    private func question(_ operation: Operation) -> Question {
        let age = Int64(operation.number(1, below: 100))
        func atLeast(_ record: Reference.Record) -> Bool {
            if case .integer(let value)? = record.values["age"] { value >= age } else { false }
        }
        func compared(_ name: String, _ kind: Predicate.Operator, _ value: ExpressionValue) -> Predicate {
            .comparison(.init(.keyPath(name), kind, .constant(value)))
        }
        let old = compared("age", .greaterThanOrEqual, .integer(age))
        let unnamed = compared("name", .equal, .null)
        switch operation.number(0, below: 7) {
        case 0: return Question(entity: "Person", predicate: old, holds: atLeast)
        case 1: return Question(entity: "Manager", predicate: old, holds: atLeast)
        case 2: return Question(entity: "Person", predicate: unnamed) { $0.values["name"] == nil }
        case 3:
            let active = compared("isActive", .equal, .boolean(true))
            return Question(entity: "Person", predicate: .and([old, active])) {
                atLeast($0) && $0.values["isActive"] == .boolean(true)
            }
        case 4:
            return Question(entity: "Person", predicate: .or([.not(old), compared("name", .beginsWith, .string("A"))]))
            {
                guard case .string(let name)? = $0.values["name"] else { return !atLeast($0) }
                return !atLeast($0) || name.hasPrefix("A")
            }
        case 5:
            let rank = Int64(operation.number(1, below: 20_000))
            return Question(entity: "Task", predicate: compared("rank", .lessThan, .integer(rank))) {
                if case .integer(let value)? = $0.values["rank"] { value < rank } else { false }
            }
        default:
            let entity = operation.pick(2, Company.entities) ?? "Team"
            return Question(entity: entity, predicate: nil) { _ in true }
        }
    }

    private func answer(_ question: Question) -> [Int] {
        current.refs(of: question.entity).filter { current.records[$0].map(question.holds) ?? false }
    }

    func fetch(_ operation: Operation) throws {
        let question = question(operation)
        let isAscending = operation.numbers[3] % 2 == 0
        var fetch = ObjectFetch(
            entityName: question.entity, predicate: question.predicate,
            sort: [.init("ref", isAscending: isAscending)])
        var expected = isAscending ? answer(question) : answer(question).reversed()
        if operation.numbers[4] % 3 == 0 {
            (fetch.offset, fetch.limit) = (operation.number(4, below: 5), 1 + operation.number(2, below: 10))
            expected = Array(expected.dropFirst(fetch.offset).prefix(fetch.limit))
        }
        fetch.batchSize = operation.number(5, below: 3) * 4
        note("fetch \(question.entity) \(operation.number(0, below: 7)) offset \(fetch.offset) limit \(fetch.limit)")
        let found = try context.fetch(fetch).map(ref)
        guard found == expected else { throw Mismatch(description: "fetched \(found), expected \(expected)") }
    }

    func count(_ operation: Operation) throws {
        let question = question(operation)
        note("count \(question.entity) \(operation.number(0, below: 7))")
        let found = try context.count(ObjectFetch(entityName: question.entity, predicate: question.predicate))
        let expected = answer(question).count
        guard found == expected else { throw Mismatch(description: "counted \(found), expected \(expected)") }
    }

    /// Questions across relationships, asked when everything is saved.
    func fetchSaved(_ operation: Operation) throws {
        guard actor != .child else { return }
        if !isClean { try save() }
        let (entity, predicate, expected) = relationshipQuestion(operation)
        note("fetchSaved \(entity) \(operation.number(0, below: 5))")
        let found = try context.fetch(
            ObjectFetch(entityName: entity, predicate: predicate, sort: [.init("ref")])
        ).map(ref)
        guard found == expected else { throw Mismatch(description: "fetched \(found), expected \(expected)") }
    }

    private func relationshipQuestion(_ operation: Operation) -> (String, Predicate, [Int]) {
        func refs(_ entity: String, _ holds: (Int) -> Bool) -> [Int] { current.refs(of: entity).filter(holds) }
        let limit = operation.number(1, below: 4)
        let title = operation.value(for: .string, 2)
        func count(_ path: String) -> Predicate {
            .comparison(.init(.keyPath(path), .greaterThan, .constant(.integer(Int64(limit)))))
        }
        switch operation.number(0, below: 5) {
        case 0:
            return ("Team", count("members.@count"), refs("Team") { current.destinations($0, "members").count > limit })
        case 1:
            return ("Task", count("people.@count"), refs("Task") { current.destinations($0, "people").count > limit })
        case 2:
            let equal = Predicate.comparison(
                .init(.keyPath("tags.label"), .equal, .constant(ExpressionValue(title)), modifier: .any))
            return (
                "Task", equal,
                refs("Task") {
                    current.destinations($0, "tags").contains { current.records[$0]?.values["label"] == title }
                }
            )
        case 3:
            let equal = Predicate.comparison(.init(.keyPath("team.title"), .equal, .constant(ExpressionValue(title))))
            return (
                "Person", equal,
                refs("Person") { ref in
                    let team = current.destinations(ref, "team").first
                    return team.flatMap { current.records[$0]?.values["title"] } == title
                }
            )
        default:
            let none = Predicate.comparison(.init(.keyPath("mentor"), .equal, .constant(.null)))
            return ("Person", none, refs("Person") { current.destinations($0, "mentor").isEmpty })
        }
    }
}
