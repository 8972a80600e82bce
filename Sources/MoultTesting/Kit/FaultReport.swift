/// What the faults at the moments of a migration have shown.
public struct FaultReport: Sendable, CustomStringConvertible {
    private let matrix: FaultMatrix

    init(_ matrix: FaultMatrix) { self.matrix = matrix }

    /// Faults that were tried.
    public var tried: Int { matrix.tried }
    /// Whether all were that there are.
    public var isComplete: Bool { matrix.rows.allSatisfy(\.isWhole) }
    /// What was promised and not kept, each with its fault; empty when nothing can be lost.
    public var broken: [String] { matrix.broken }
    /// A table of the kinds of fault, as Markdown.
    public var description: String { matrix.markdown }
}
