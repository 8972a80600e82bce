extension String {
    /// As one word for a shell. Control characters are spelled out, as bash, zsh and POSIX.1-2024 read them (`$'…'`).
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
            // Three octal digits each: no digit that follows can belong to one.
            return String(self).utf8.map { byte in
                "\\" + [byte >> 6, byte >> 3 & 7, byte & 7].map(String.init).joined()
            }.joined()
        }
    }
}
