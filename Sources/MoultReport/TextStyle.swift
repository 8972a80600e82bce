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
    /// The text with control characters spelled out, so that a name in a store cannot steer the terminal.
    package var printable: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? "\\u{\(String($0.value, radix: 16, uppercase: true))}" : String($0) }
            .joined()
    }

    /// How many columns of a terminal the text fills.
    package var columns: Int {
        reduce(0) { $0 + ($1.unicodeScalars.first.map(\.columns) ?? 0) }
    }
}

extension Unicode.Scalar {
    /// C0, DEL, C1, and the marks that turn the direction of writing.
    fileprivate var isControl: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value)
    }

    /// East Asian wide characters and emoji fill two columns.
    fileprivate var columns: Int {
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD,
        ]
        return value >= 0x1100 && wide.contains { $0.contains(value) } ? 2 : 1
    }
}
