/// The name of what a deferred migration leaves behind for later where its own would stand in the way:
/// `Z_DEFERRED_<n>_<name>`.
///
/// The table of a removed entity always gets one, so that it differs from a table of another program; a column
/// only where a new one takes its name. Nothing that Core Data or a model names begins like that.
enum DeferredName {
    private static let prefix = "Z_DEFERRED_"

    static func isOne(_ name: String) -> Bool { original(of: name) != nil }

    /// Returns the original name of a leftover; nil for a name that is none of these.
    static func original(of name: String) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let rest = name.dropFirst(prefix.count)
        guard let end = rest.firstIndex(of: "_"), Int(rest[..<end]) != nil else { return nil }
        let original = rest[rest.index(after: end)...]
        return original.isEmpty ? nil : String(original)
    }

    /// A name for a leftover called `name` that is not in use.
    ///
    /// - Parameter taken: in capitals, for SQLite's names ignore case.
    static func make(for name: String, avoiding taken: Set<String>) -> String {
        let original = original(of: name) ?? name
        var number = 1
        while taken.contains("\(prefix)\(number)_\(original)".uppercased()) { number += 1 }
        return "\(prefix)\(number)_\(original)"
    }
}
