/// Kinds of migration × kinds of fault, with how many moments there are, how many were tried, and what was not kept.
package struct FaultMatrix: Sendable {
    package var rows: [FaultRow]
    /// The columns whose values an app's code rebuilds in each run, and which were not compared.
    package var changing: Set<ChangingColumn> = []

    package init(_ rows: [FaultRow] = []) { self.rows = rows }

    package var broken: [String] { rows.flatMap(\.broken) }
    package var tried: Int { rows.reduce(0) { $0 + $1.tried } }

    private var cases: [String] { rows.map(\.faultCase).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
    private var faults: [String] { rows.map(\.fault).reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }

    private func row(_ faultCase: String, _ fault: String) -> FaultRow? {
        rows.first { $0.faultCase == faultCase && $0.fault == fault }
    }

    /// `tried` alone where every moment was, otherwise `tried of moments`; then what was not kept.
    private static func cell(_ row: FaultRow?) -> String {
        guard let row else { return "" }
        let count = row.isWhole ? "\(row.taken)" : "\(row.taken) of \(row.moments)"
        return row.broken.isEmpty ? count : "\(count), **\(row.broken.count) broken**"
    }

    /// A line for each kind of migration, a column for each kind of fault.
    package var table: [[String]] {
        let head = ["migration"] + faults + ["old / new", "broken"]
        let body = cases.map { name in
            let own = rows.filter { $0.faultCase == name }
            let ends = "\(own.reduce(0) { $0 + $1.old }) / \(own.reduce(0) { $0 + $1.new })"
            return [name] + faults.map { Self.cell(row(name, $0)) } + [
                ends, "\(own.reduce(0) { $0 + $1.broken.count })",
            ]
        }
        return [head] + body
    }

    package var markdown: String {
        let lines = table.map { "| " + $0.joined(separator: " | ") + " |" }
        let rule = "|" + String(repeating: " --- |", count: table.first?.count ?? 0)
        return ([lines.first ?? "", rule] + lines.dropFirst()).joined(separator: "\n")
    }
}
