import Foundation
import MoultBasics

/// The committed bounds of all figures: `Benchmarks/bounds.json`.
struct Bounds {
    /// The sizes of a store that a bound is for.
    enum Size: Hashable {
        /// Every size but that of a small run.
        case any
        case rows(Int)
        /// Every figure of a run with `--small`, without optimisation and on a busy machine.
        case small
    }

    /// The bound of one figure, or of all whose names match a pattern, in which `*` stands for any text.
    struct Entry {
        let group: String
        let figure: String
        let size: Size
        let text: String
        let bound: Bound
        /// What is wanted in the end.
        let goal: String
        /// How many times the bound a small run may reach.
        let spread: Double
        /// Why the bound is not the goal.
        let reason: String

        /// Whether it is about figures of that name, of whatever size.
        func names(_ figure: Figure) -> Bool {
            group == figure.group && figure.name.matches(pattern: self.figure)
        }

        func isFor(_ figure: Figure, isSmall: Bool) -> Bool {
            switch size {
            case .small: isSmall && names(figure)
            case .any: !isSmall && names(figure)
            case .rows(let rows): !isSmall && rows == figure.rows && names(figure)
            }
        }

        /// The entry with the most precise name holds, and of two with the same name the one for a size.
        fileprivate var precision: (Int, Int) {
            let length = figure.count { $0 != "*" }
            return (figure.contains("*") ? length : 10_000 + length, size == .any ? 0 : 1)
        }

        var title: String {
            switch size {
            case .any: "\(group): \(figure)"
            case .rows(let rows): "\(group): \(figure), \(Quantity.count(rows)) rows"
            case .small: "\(group): \(figure), small"
            }
        }
    }

    let entries: [Entry]

    /// - Throws: `usage` with the entry that is wrong: one whose bound is not its goal needs a reason.
    init(contentsOf path: String) throws {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw MigrationError(.usage, "The bounds \(path) cannot be read.", remedy: "Name a file with --bounds.")
        }
        let json = try JSONValue(parsing: Array(bytes), place: path, code: .usage)
        guard let members = json["bounds"]?.array else {
            throw MigrationError(
                .usage, "The file has no list \"bounds\".", place: path, remedy: "See Benchmarks/bounds.json.")
        }
        entries = try members.map { try Entry($0, place: path) }
        var seen: Set<String> = []
        for entry in entries where !seen.insert(entry.title).inserted {
            throw Entry.wrong(entry.title, "has two bounds", path)
        }
    }

    func entry(for figure: Figure, isSmall: Bool) -> Entry? {
        entries.filter { $0.isFor(figure, isSmall: isSmall) }.max { $0.precision < $1.precision }
    }
}

extension Bounds.Entry {
    fileprivate init(_ json: JSONValue, place: String) throws {
        guard let group = json["group"]?.string, let figure = json["figure"]?.string else {
            throw Self.wrong(json.compact, "names no group and figure", place)
        }
        let size: Bounds.Size
        switch json["rows"] {
        case nil: size = .any
        case .string("small"): size = .small
        case .integer(let rows) where rows > 0: size = .rows(Int(rows))
        default: throw Self.wrong("\(group): \(figure)", "has rows that are no number and not \"small\"", place)
        }
        guard let text = json["bound"]?.string, let bound = Bound(text) else {
            throw Self.wrong("\(group): \(figure)", "has no bound such as \"<= 1.2\", \">= 0.8\" or \"none\"", place)
        }
        guard let goal = json["goal"]?.string, let wanted = Bound(goal) else {
            throw Self.wrong("\(group): \(figure)", "has no goal such as \"<= 1.2\", \">= 0.8\" or \"none\"", place)
        }
        let reason = json["reason"]?.string ?? ""
        guard bound == wanted || reason.contains(where: { !$0.isWhitespace }) else {
            throw Self.wrong("\(group): \(figure)", "has a bound that is not its goal, and no reason", place)
        }
        let spread = json["spread"]?.double
        guard spread == nil || size == .small && (1...10).contains(spread ?? 0) else {
            throw Self.wrong("\(group): \(figure)", "has a spread that is not from 1 to 10, or is not small", place)
        }
        let known: Set = ["group", "figure", "rows", "bound", "goal", "spread", "reason"]
        for member in json.members ?? [] where !known.contains(member.key) {
            throw Self.wrong("\(group): \(figure)", "has an unknown field \"\(member.key)\"", place)
        }
        self.init(
            group: group, figure: figure, size: size, text: text, bound: bound, goal: goal, spread: spread ?? 1,
            reason: reason)
    }

    fileprivate static func wrong(_ title: String, _ message: String, _ place: String) -> MigrationError {
        MigrationError(.usage, "\(title) \(message).", place: place, remedy: "Correct the file.")
    }
}

extension String {
    /// Whether the text is the pattern, in which `*` stands for any text.
    fileprivate func matches(pattern: String) -> Bool {
        let parts = pattern.components(separatedBy: "*")
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return self == pattern }
        guard hasPrefix(first), count >= first.count + last.count, hasSuffix(last) else { return false }
        var rest = dropFirst(first.count).dropLast(last.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let range = rest.range(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
