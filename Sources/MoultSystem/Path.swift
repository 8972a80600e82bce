/// The parts of a path, by its text alone.
package enum Path {
    /// The last part: `b.sqlite` of `/a/b.sqlite`.
    package static func name(of path: String) -> String {
        let trimmed = withoutTrailingSlashes(path)
        guard trimmed != "/", let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return trimmed }
        return String(trimmed[trimmed.utf8.index(after: slash)...])
    }

    /// All but the last part: `/a` of `/a/b.sqlite`, `.` of `b.sqlite`.
    package static func folder(of path: String) -> String {
        let trimmed = withoutTrailingSlashes(path)
        guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == trimmed.startIndex ? "/" : withoutTrailingSlashes(String(trimmed[..<slash]))
    }

    /// The name without its extension: `b` of `/a/b.sqlite`, `.b` of `.b`.
    package static func stem(of path: String) -> String {
        let name = name(of: path)
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    package static func join(_ folder: String, _ name: String) -> String {
        folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// The ending of the folder next to a store where Moult keeps what is not the store.
    package static let sidecarEnding = ".moult"

    /// Of a path inside such a folder, the folder and the names below it; nil for any other path.
    static func belowSidecar(_ path: String) -> (folder: String, names: [String])? {
        guard let range = path.firstRange(of: sidecarEnding + "/") else { return nil }
        let names = path[range.upperBound...].split(separator: "/").map(String.init)
        return names.isEmpty ? nil : (String(path[..<range.upperBound].dropLast()), names)
    }

    private static func withoutTrailingSlashes(_ path: String) -> String {
        var text = Substring(path)
        while text.utf8.count > 1, text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
        return String(text)
    }
}
