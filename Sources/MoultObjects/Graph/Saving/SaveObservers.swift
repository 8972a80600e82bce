/// Whom to tell of saves; one that is told by number leaves by the same number.
struct SaveObservers {
    typealias Observer = @Sendable (SavedChanges) -> Void

    private var observers: [(number: Int, body: Observer)] = []
    private var next = 0

    mutating func add(_ body: @escaping Observer) -> Int {
        next += 1
        observers.append((next, body))
        return next
    }

    mutating func remove(_ number: Int) { observers.removeAll { $0.number == number } }

    var bodies: [Observer] { observers.map(\.body) }
}
