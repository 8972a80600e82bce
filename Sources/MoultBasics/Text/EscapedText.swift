extension Unicode.Scalar {
    /// Whether the scalar can control a terminal or change the display order of text: C0, DEL, C1, line separators, and
    /// marks of writing direction.
    package var isControl: Bool {
        value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0x061C || (0x200E...0x200F).contains(value)
            || (0x2028...0x202E).contains(value) || (0x2066...0x2069).contains(value)
    }

    /// The scalar as a JSON escape such as `\u009B`. All of these scalars are in the basic plane.
    package var jsonEscape: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension String {
    /// Whether the text contains a scalar that can control a terminal. Tests bytes first, because few texts do.
    package var isControl: Bool {
        utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }
            && unicodeScalars.contains(where: \.isControl)
    }

    /// The text with control characters escaped, so that a name in a store cannot control the terminal.
    package var printable: String {
        guard isControl else { return self }
        return unicodeScalars.map {
            $0.isControl ? "\\u{\(String($0.value, radix: 16, uppercase: true))}" : String($0)
        }
        .joined()
    }

    /// The text as one word of a shell command. Control characters are escaped as `$'…'` (bash, zsh, POSIX.1-2024).
    package var shellQuoted: String {
        let isPlain =
            !isEmpty
            && unicodeScalars.allSatisfy {
                $0.properties.isAlphabetic || ("0"..."9").contains($0) || "/._-=:,+@%".unicodeScalars.contains($0)
            }
        guard !isPlain else { return self }
        guard unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            return "$'" + unicodeScalars.map(\.inDollarQuotes).joined() + "'"
        }
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension Unicode.Scalar {
    fileprivate var inDollarQuotes: String {
        switch self {
        case "'", "\\": return "\\\(self)"
        case "\n": return "\\n"
        case "\t": return "\\t"
        default:
            guard properties.generalCategory == .control else { return String(self) }
            // Always three octal digits, so that a following digit is never taken for part of the escape.
            return String(self).utf8.map { byte in
                "\\" + [byte >> 6, byte >> 3 & 7, byte & 7].map(String.init).joined()
            }.joined()
        }
    }
}
