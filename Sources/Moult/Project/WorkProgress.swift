import MoultBasics
import MoultSession

/// The progress of a call that reads or writes many rows and is not a run: a check, a diagnosis, a salvage, an export.
///
/// A run reports a ``RunProgress`` by its ``StoreTask``.
public struct WorkProgress: Sendable, Hashable {
    /// The part of the whole call that is done, 0 to 1, never less than before.
    public let fraction: Double
    /// Rows done so far; 0 if the call does not go row by row.
    public let rows: Int64
    /// All rows that the call is expected to read or write; 0 if it does not go row by row.
    public let totalRows: Int64
    /// The estimated time left; nil before enough was measured.
    public let timeLeft: Duration?

    init(_ report: WorkMeter.Report) {
        (fraction, rows, totalRows) = (report.fraction, report.rows, report.totalRows)
        timeLeft = report.remaining.map { .seconds($0) }
    }
}

extension Project {
    /// Makes calls, and reports the progress of each that reads or writes many rows.
    ///
    ///     let validation = try await Project.withProgress { print($0.fraction) } of: {
    ///         try await project.validate("app.sqlite")
    ///     }
    ///
    /// - Parameters:
    ///   - onProgress: receives the progress at most twenty times a second, on the thread of the work.
    ///   - body: makes the calls.
    public static func withProgress<Value>(
        _ onProgress: @escaping @Sendable (WorkProgress) -> Void,
        isolation: isolated (any Actor)? = #isolation, of body: () async throws -> Value
    ) async rethrows -> Value {
        let meter = WorkMeter { onProgress(WorkProgress($0)) }
        return try await WorkMeter.$current.withValue(meter, operation: body, isolation: isolation)
    }
}
