import MoultModel

/// One line that says how far a run is.
package struct ProgressLine: Sendable, Hashable {
    /// The work that is being done, in a word.
    package var phase: String
    /// Of the whole run, 0 to 1.
    package var fraction: Double
    package var rows: Int
    package var totalRows: Int
    package var bytes: Int
    /// Seconds since the run began, and since its first row.
    package var elapsed: Double
    package var elapsedOnRows: Double
    /// Seconds that the run still takes, where that is known.
    package var remaining: Double?

    package init(
        phase: String, fraction: Double, rows: Int = 0, totalRows: Int = 0, bytes: Int = 0, elapsed: Double,
        elapsedOnRows: Double = 0, remaining: Double? = nil
    ) {
        self.phase = phase
        self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        self.rows = rows
        self.totalRows = totalRows
        self.bytes = bytes
        self.elapsed = elapsed
        self.elapsedOnRows = elapsedOnRows
        self.remaining = remaining
    }

    /// `change: 61 %, 460,900 of 752,865 rows, 120,000 rows/s, 3.9 s left`
    package var text: String { "\(phase): " + ([percent] + facts).joined(separator: ", ") }

    /// The line with a bar, no wider than `columns`.
    package func bar(columns: Int, style: TextStyle) -> String {
        let tail = "  " + ([percent] + facts).joined(separator: "  ")
        let head = phase + String(repeating: " ", count: max(0, 7 - phase.count)) + " "
        let width = min(30, columns - head.count - tail.count - 1)
        guard width >= 5 else { return String((head + tail.dropFirst(2)).prefix(max(0, columns - 1))) }
        let done = Int((fraction * Double(width)).rounded(.down))
        let bar = String(repeating: "█", count: done) + style.dim(String(repeating: "░", count: width - done))
        return head + bar + tail
    }

    private var percent: String { "\(Int((fraction * 100).rounded(.down))) %" }

    private var facts: [String] {
        var facts: [String] = []
        if totalRows > 0, rows > 0 {
            facts.append("\(Quantity.count(min(rows, totalRows))) of \(Quantity.count(totalRows, "row"))")
            if elapsedOnRows >= 0.2 {
                facts.append("\(Quantity.count(Int((Double(rows) / elapsedOnRows).rounded()))) rows/s")
            }
        } else if bytes > 0 {
            facts.append(Quantity.bytes(bytes))
        }
        // What takes less than that needs no guess, and before one percent it would be worth nothing.
        if let remaining, fraction >= 0.01, fraction < 1, elapsed >= 0.5 {
            facts.append("\(Quantity.duration(remaining)) left")
        }
        return facts
    }
}
