import MoultTesting

/// A column of the tables: a fault of the disk that fails on purpose, or something that befalls a real process.
enum TrialKind {
    case fault(Fault.Kind)
    case real(RealKind)

    /// In the order of Documentation/Safety.md.
    static var all: [TrialKind] { Fault.Kind.tried.map { .fault($0) } + RealKind.allCases.map { .real($0) } }

    var name: String {
        switch self {
        case .fault(let kind): kind.rawValue
        case .real(let kind): kind.rawValue
        }
    }

    func befalls(_ faultCase: FaultCase) -> Bool {
        if case .real(let kind) = self { kind.befalls(faultCase) } else { true }
    }

    var isOfMemory: Bool { if case .fault(let kind) = self { kind.isOfMemory } else { false } }
    var isReal: Bool { if case .real = self { true } else { false } }
}
