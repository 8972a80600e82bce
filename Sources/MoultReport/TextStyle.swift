import MoultModel

/// Colours for a terminal; without them every function gives back its text.
package struct TextStyle: Sendable, Hashable {
    package let hasColour: Bool

    package static let plain = TextStyle(hasColour: false)

    package init(hasColour: Bool) { self.hasColour = hasColour }

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
    /// The text without control characters but line breaks and tabs, and the colours that ``TextStyle`` sets: the last
    /// barrier before a stream, whatever a report has put into it.
    package func safeForTerminal(style: TextStyle) -> String {
        guard steersTerminal else { return self }
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

    /// The number of columns of a terminal that the text fills.
    package var columns: Int {
        reduce(0) { $0 + ($1.unicodeScalars.first.map(\.columns) ?? 0) }
    }
}

extension Unicode.Scalar {
    /// East Asian wide characters and emoji fill two columns.
    fileprivate var columns: Int {
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
        ]
        return value >= 0x1100 && wide.contains { $0.contains(value) } ? 2 : 1
    }
}

extension Substring.UnicodeScalarView {
    /// A colour as ``TextStyle`` writes it, such as `[31m`, without the escape.
    fileprivate var colourCode: String? {
        guard first == "[", let end = prefix(4).firstIndex(of: "m") else { return nil }
        let code = self[...end]
        return code.dropFirst().dropLast().allSatisfy { ("0"..."9").contains($0) } ? String(code) : nil
    }
}
