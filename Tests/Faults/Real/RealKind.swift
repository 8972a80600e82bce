import MoultTesting

/// What befalls a process on the machine as it is: nothing here is simulated.
enum RealKind: String, CaseIterable {
    /// SIGKILL at a random instant.
    case killed
    /// SIGSTOP at a random instant; meanwhile another process wants the store.
    case stopped
    /// Three processes begin at once.
    case together = "three at once"
    /// Another program has the store open: idle, reading, writing.
    case neighbour = "open in another program"
    /// A small volume with less and less room.
    case full = "volume full"
    /// The folder turns read-only at a random instant.
    case readOnly = "folder turns read-only"

    /// Whether it can befall a kind of migration at all.
    func befalls(_ faultCase: FaultCase) -> Bool { self != .neighbour || faultCase.opened("") != nil }

    /// How many trials of a kind of migration there are.
    func count(_ seeds: UInt64) -> Int {
        switch self {
        case .killed: 250 * Int(seeds)
        case .stopped, .readOnly: 20 * Int(seeds)
        case .together: 10 * Int(seeds)
        case .neighbour: 3
        case .full: 500
        }
    }
}
