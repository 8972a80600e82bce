import MoultBasics

/// Colours for a terminal, and its width; without colour, every function returns its text unchanged.
package struct TextStyle: Sendable, Hashable {
    package let hasColour: Bool
    /// The number of columns that lines may fill; nil for lines of any length.
    package let width: Int?

    package static let plain = TextStyle(hasColour: false)

    package init(hasColour: Bool, width: Int? = nil) { (self.hasColour, self.width) = (hasColour, width) }

    package func bold(_ text: String) -> String { paint(text, "1") }
    package func dim(_ text: String) -> String { paint(text, "2") }
    package func red(_ text: String) -> String { paint(text, "31") }
    package func green(_ text: String) -> String { paint(text, "32") }
    package func yellow(_ text: String) -> String { paint(text, "33") }
    package func cyan(_ text: String) -> String { paint(text, "36") }

    private func paint(_ text: String, _ code: String) -> String {
        hasColour && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// Returns the text with only line breaks, tabs and the colours that ``TextStyle`` sets as control characters: the
    /// last barrier before a stream, whatever a report contains.
    package func safeForTerminal(style: TextStyle) -> String {
        guard isControl else { return self }
        var safe = ""
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "\u{1B}", style.hasColour, let colour = rest.colourCode {
                safe += "\u{1B}\(colour)"
                rest = rest.dropFirst(colour.unicodeScalars.count)
            } else if scalar == "\n" || scalar == "\t" {
                safe.unicodeScalars.append(scalar)
            } else {
                safe += String(scalar).printable
            }
        }
        return safe
    }

    /// The number of terminal columns that the text fills.
    package var columns: Int {
        utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? utf8.count : reduce(0) { $0 + $1.columns }
    }
}

extension Character {
    /// The number of terminal columns that the character fills.
    var columns: Int { unicodeScalars.first.map(\.columns) ?? 0 }
}

extension Unicode.Scalar {
    /// East Asian wide characters and emoji fill two columns.
    fileprivate var columns: Int {
        value >= 0x1100 && Self.wide.contains { $0.contains(value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
        0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
    ]
}

extension Substring.UnicodeScalarView {
    /// A colour code as ``TextStyle`` writes it, such as `[31m`, without the escape.
    fileprivate var colourCode: String? {
        guard first == "[", let end = prefix(4).firstIndex(of: "m") else { return nil }
        let code = self[...end]
        return code.dropFirst().dropLast().allSatisfy { ("0"..."9").contains($0) } ? String(code) : nil
    }
}

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

    /// Adds one row. Missing cells are empty, and extra cells are left out.
    package mutating func add(_ cells: String...) {
        let padded = cells.prefix(columns.count).map(\.printable)
        rows.append(padded + [String](repeating: "", count: columns.count - padded.count))
    }

    /// Returns the lines of the table, with two spaces between columns and none at the end of a line. If the terminal is
    /// too narrow, the last column continues on further lines; if that leaves it too little room, each row becomes a list
    /// of its cells.
    package func lines(style: TextStyle = .plain) -> [String] {
        let titles = columns.map(\.title)
        let widths = columns.indices.map { column in
            ([titles] + rows).map { $0[column].columns }.max() ?? 0
        }
        let heading = titles.allSatisfy(\.isEmpty) ? [] : [style.dim(line(titles, widths))]
        guard let width = style.width, widths.reduce(0, +) + 2 * (widths.count - 1) > width else {
            return heading + rows.map { line($0, widths) }
        }
        let start = widths.dropLast().reduce(0, +) + 2 * (widths.count - 1)
        let room = width - start
        // A name in a table of data stays whole.
        let words = heading.isEmpty ? [] : rows.flatMap { ($0.last ?? "").split(separator: " ") }
        let least = max(Self.leastRoom, words.map { String($0).columns }.max() ?? 0)
        guard columns.last?.alignment == .left, room >= least else { return list(style: style, width) }
        let wrap = TextWrap(width: room)
        return heading
            + rows.flatMap { cells in
                let parts = wrap.lines(cells.last ?? "")
                let first = line(cells.dropLast() + [parts.first ?? ""], widths)
                return [first] + parts.dropFirst().map { String(repeating: " ", count: start) + $0 }
            }
    }

    /// The least number of columns in which text can be read.
    private static let leastRoom = 16

    /// Returns the rows one below the other, each as a list of its cells.
    private func list(style: TextStyle, _ width: Int) -> [String] {
        let wrap = TextWrap(width: width)
        guard columns.contains(where: { !$0.title.isEmpty }) else {
            // A heading on a line of its own, with the text below it.
            return rows.flatMap { cells in
                wrap.lines(cells.first ?? "") + cells.dropFirst().flatMap { wrap.lines("      " + $0) }
            }
        }
        let names = columns.map(\.title.columns).max() ?? 0
        let blocks = rows.map { cells in
            zip(columns, cells).filter { !$1.isEmpty }.flatMap { column, cell in
                wrap.lines(
                    column.title + String(repeating: " ", count: names - column.title.columns + 2) + cell,
                    indent: names + 2)
            }
        }
        return Array(blocks.joined(separator: [""]))
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

/// One line about the progress of a run.
package struct ProgressLine: Sendable, Hashable {
    /// The present phase, in a word.
    package var phase: String
    /// The finished part of the whole run, 0 to 1.
    package var fraction: Double
    package var rows: Int
    package var totalRows: Int
    package var bytes: Int
    /// Seconds since the run began, and since its first row.
    package var elapsed: Double
    package var elapsedOnRows: Double
    /// The estimated seconds left, if known.
    package var remaining: Double?

    package init(
        phase: String, fraction: Double, rows: Int = 0, totalRows: Int = 0, bytes: Int = 0, elapsed: Double,
        elapsedOnRows: Double = 0, remaining: Double? = nil
    ) {
        self.phase = phase
        self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        (self.rows, self.totalRows, self.bytes) = (rows, totalRows, bytes)
        (self.elapsed, self.elapsedOnRows, self.remaining) = (elapsed, elapsedOnRows, remaining)
    }

    /// The line, such as `change: 61 %, 460,900 of 752,865 rows, 120,000 rows/s, 3.9 s left`.
    package var text: String { "\(phase): " + ([percent] + facts).joined(separator: ", ") }

    /// Returns the line with a bar, no wider than `columns`.
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
        // A shorter run needs no estimate, and before one percent it would be worthless.
        if let remaining, fraction >= 0.01, fraction < 1, elapsed >= 0.5 {
            facts.append("\(Quantity.duration(remaining)) left")
        }
        return facts
    }
}
