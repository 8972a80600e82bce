/// The stores that wait for their turn: the largest of each device first, and those that were worked on when a run died
/// last and alone.
struct FleetQueue {
    private var first: [[UInt64: [FleetTask]]] = []
    private var suspects: [FleetTask]
    private(set) var count: Int

    /// - Parameter isCanaryFirst: whether the canary's stores come before all others.
    init(_ tasks: [FleetTask]) {
        count = tasks.count
        suspects = tasks.filter(\.isSuspect).sorted { $0.entry.number > $1.entry.number }
        let others = tasks.filter { !$0.isSuspect }.sorted {
            ($0.entry.estimate, $1.entry.number) < ($1.entry.estimate, $0.entry.number)
        }
        first = [Dictionary(grouping: others) { $0.entry.device }]
    }

    /// The next store, given how many of each device are being worked on.
    ///
    /// - Returns: nil if none may be started now.
    mutating func next(running: [UInt64: Int], ofDevice limit: Int) -> FleetTask? {
        for place in first.indices {
            let free = first[place].filter { !$0.value.isEmpty && running[$0.key, default: 0] < limit }
            // The device with the least to do, then the largest store.
            let chosen = free.min { left, right in
                let (fewer, more) = (running[left.key, default: 0], running[right.key, default: 0])
                return fewer != more
                    ? fewer < more : (left.value.last?.entry.estimate ?? 0) > (right.value.last?.entry.estimate ?? 0)
            }
            if let device = chosen?.key {
                count -= 1
                return first[place][device]?.popLast()
            }
            if first[place].contains(where: { !$0.value.isEmpty }) { return nil }
        }
        guard running.values.allSatisfy({ $0 == 0 }), let suspect = suspects.popLast() else { return nil }
        count -= 1
        return suspect
    }

    /// Puts a store back whose process has died: after all that have not been tried.
    mutating func returnLater(_ task: FleetTask) {
        count += 1
        if first.count == 1 { first.append([:]) }
        first[1][task.entry.device, default: []].insert(task, at: 0)
    }
}
