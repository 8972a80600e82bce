/// Rows under a heading, each column as wide as its widest cell.
package struct TextTable: Sendable {
    package enum Alignment: Sendable { case left, right }

    package struct Column: Sendable {
        var title: String
        var alignment: Alignment

        package static func left(_ title: String) -> Column { Column(title: title, alignment: .left) }
        package static func right(_ title: String) -> Column { Column(title: title, alignment: .right) }
    }

    private let columns: [Column]
    private var rows: [[String]] = []

    package init(_ columns: [Column]) { self.columns = columns }

    package var isEmpty: Bool { rows.isEmpty }

    /// Adds one row; missing cells are empty, cells beyond the last column are left out.
    package mutating func add(_ cells: String...) {
        let padded = cells.prefix(columns.count).map(\.printable)
        rows.append(padded + [String](repeating: "", count: columns.count - padded.count))
    }

    /// The lines of the table, two spaces between columns, no space at the end of a line.
    package func lines(style: TextStyle = .plain) -> [String] {
        let titles = columns.map(\.title)
        let widths = columns.indices.map { column in
            ([titles] + rows).map { $0[column].columns }.max() ?? 0
        }
        let heading = titles.allSatisfy(\.isEmpty) ? [] : [style.dim(line(titles, widths))]
        return heading + rows.map { line($0, widths) }
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let isEnd = column == cells.count - 1 && columns[column].alignment == .left
            let gap = isEnd ? "" : String(repeating: " ", count: widths[column] - cell.columns)
            line += (column == 0 ? "" : "  ") + (columns[column].alignment == .left ? cell + gap : gap + cell)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
