/// The results of the faults at the moments of a migration.
public struct FaultReport: Sendable, CustomStringConvertible {
    private let matrix: FaultMatrix

    init(_ matrix: FaultMatrix) { self.matrix = matrix }

    /// Faults that were tried.
    public var tried: Int { matrix.tried }
    /// Whether all were that there are.
    public var isComplete: Bool { matrix.rows.allSatisfy(\.isWhole) }
    /// The promises that were not kept, each with its fault; empty when nothing can be lost.
    public var broken: [String] { matrix.broken }
    /// The columns, as `ZTABLE.ZCOLUMN`, in which two undisturbed runs left other values, because the app's code asks the
    /// clock or makes identifiers: of these only whether a row has a value was compared.
    public var changingColumns: [String] { matrix.changing.sorted().map(\.place) }
    /// A table of the kinds of fault, as Markdown, and what was not compared.
    public var description: String {
        ([matrix.markdown] + [ChangingColumn.sentence(matrix.changing)].compactMap { $0 }).joined(separator: "\n\n")
    }
}
