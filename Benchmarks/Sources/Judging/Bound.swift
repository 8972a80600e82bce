import MoultBasics

/// A limit that a figure must keep, as the file of bounds writes it: `<= 1.20`, `>= 0.80`, `<= 64 MiB`; `none` for a
/// figure that is reported and not judged.
enum Bound: Equatable {
    case atMost(Double, Figure.Unit?)
    case atLeast(Double, Figure.Unit?)
    case none

    /// Returns nil for a text that is no bound.
    init?(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        if words == ["none"] {
            self = .none
            return
        }
        guard (2...3).contains(words.count), let limit = Double(words[1]), limit.isFinite, limit >= 0 else {
            return nil
        }
        let unit = words.count == 3 ? Figure.Unit.allCases.first { $0.symbol == words[2] } : nil
        guard words.count == 2 || unit != nil else { return nil }
        switch words[0] {
        case "<=": self = .atMost(limit, unit)
        case ">=": self = .atLeast(limit, unit)
        default: return nil
        }
    }

    /// Whether the bound is about what the figure measures: a ratio has no unit.
    func fits(_ figure: Figure) -> Bool {
        switch self {
        case .atMost(_, let unit), .atLeast(_, let unit): unit == (figure.isRatio ? nil : figure.unit)
        case .none: true
        }
    }

    /// Whether a value keeps the bound, which an allowed spread makes wider.
    func isKept(by value: Double, spread: Double = 1) -> Bool {
        switch self {
        case .atMost(let limit, _): value <= limit * spread
        case .atLeast(let limit, _): value >= limit / spread
        case .none: true
        }
    }

    /// The best of the rounds: the value that is furthest from missing the bound.
    func best(of values: [Double]) -> Double? {
        if case .atLeast = self { values.max() } else { values.min() }
    }
}
