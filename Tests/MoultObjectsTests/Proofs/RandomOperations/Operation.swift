import MoultObjects

/// One thing that a program does with contexts. What exactly follows from its numbers and from the state it meets, so
/// that it means something after any others: a failing run can be shortened.
struct Operation: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        // Changes of objects.
        case insert, setAttribute, setToOne, clearToOne, add, remove, insertAt, move, setToMany, delete
        // What a context does with its changes.
        case save, rollback, refresh, refreshAll, reset, forget, obtainPermanentIDs, reopen
        // Questions.
        case fetch, count, fetchBySQL, look
        // Who is at work: another context, another coordinator, a child.
        case change, beginChild
        // Whole scenes with an end that the rules foresee.
        case denied, missing, conflict, duplicate
    }

    var kind: Kind
    var numbers: [UInt64]

    /// How often a kind comes, in relation to the others.
    private static let weights: [Kind: Int] = [
        .insert: 12, .setAttribute: 12, .setToOne: 10, .clearToOne: 3, .add: 12, .remove: 6, .insertAt: 5, .move: 5,
        .setToMany: 4, .delete: 6, .save: 9, .rollback: 2, .refresh: 3, .refreshAll: 1, .reset: 1, .forget: 3,
        .obtainPermanentIDs: 1, .reopen: 1, .fetch: 4, .count: 2, .fetchBySQL: 2, .look: 1, .change: 3,
        .beginChild: 1, .denied: 1, .missing: 1, .conflict: 2, .duplicate: 1,
    ]

    private static let deck: [Kind] = Kind.allCases.flatMap { Array(repeating: $0, count: weights[$0] ?? 1) }

    static func random(_ count: Int, seed: UInt64) -> [Operation] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            Operation(
                kind: deck[Int(generator.next() % UInt64(deck.count))],
                numbers: (0..<6).map { _ in generator.next() })
        }
    }
}

extension Operation {
    /// One of the elements; nil where there is none.
    func pick<Element>(_ position: Int, _ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[Int(numbers[position] % UInt64(elements.count))]
    }

    func number(_ position: Int, below limit: Int) -> Int { Int(numbers[position] % UInt64(max(limit, 1))) }
}
