import Moult
import MoultBasics
import MoultModel
import MoultTools

/// The names that a shell offers for an argument: those of versions, entities and backups, which only the files know.
///
/// The completion scripts call the program itself for them: `moult __complete KIND WORD…`, with the words that stand
/// before the cursor.
enum NameCompletion {
    static let verb = "__complete"

    /// The kinds of names.
    enum Kind: String, CaseIterable, Sendable {
        case versions, entities, backups
        /// A backup, or a version.
        case restorable
    }

    /// Prints the names, one on each line. A fault prints nothing: a shell has no place for a message.
    static func run(_ words: [String], _ registry: MigrationRegistry, _ console: Console) -> ExitCode {
        guard let kind = words.first.flatMap(Kind.init), let line = CommandLineWords(Array(words.dropFirst())) else {
            return .done
        }
        let quiet = Console(isJSON: true, tellsEvents: false, output: -1)
        var names: [String] = []
        if kind == .backups || kind == .restorable { names += (try? line.backups()) ?? [] }
        if kind != .backups, let versions = try? line.versions(registry, quiet) {
            names +=
                kind == .entities
                ? versions.versions.flatMap { $0.model.entities.map(\.name) } : versions.versions.flatMap(\.names)
        }
        var seen: Set<String> = []
        // A name of several lines cannot be offered.
        console.lines(names.filter { !$0.contains(where: \.isNewline) && seen.insert($0).inserted })
        return .done
    }
}

/// The words of an unfinished command.
private struct CommandLineWords {
    private let verb: Verb
    private let path: String
    private var operands: [String] = []
    private var values: [String: String] = [:]

    /// - Parameter words: the words after the program's name; nil is returned if they begin with no verb.
    init?(_ words: [String]) {
        guard let first = words.first else { return nil }
        var rest = words.dropFirst()
        var (verb, path) = (Verb.overview, Verb.overview.name)
        if let named = Verb.all.first(where: { $0.name == first }) {
            (verb, path) = (named, first)
            if let next = rest.first, let below = named.subverbs.first(where: { $0.name == next }) {
                (verb, path) = (below, "\(first) \(next)")
                rest = rest.dropFirst()
            }
        } else {
            operands.append(first)
        }
        (self.verb, self.path) = (verb, path)
        while let word = rest.popFirst() {
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let name = String(parts[0].drop { $0 == "-" })
            if parts.count > 1 {
                values[name] = parts[1]
            } else if verb.options.contains(where: { $0.name == name && $0.value != nil }) {
                values[name] = rest.popFirst()
            }
        }
    }

    private func operand(_ operand: Operand) -> String? {
        guard let place = verb.operands.firstIndex(where: { $0.name == operand.name }) else { return nil }
        return operands.indices.contains(place) ? operands[place] : nil
    }

    func backups() throws -> [String] {
        guard let store = operand(.store) else { return [] }
        var options = RunOptions()
        options.backupFolder = values["backups"]
        return try StoreKeeper(store, options).backups().backups.map(\.name)
    }

    /// Returns the versions that the command is about: those of the model it names, of the configuration, of the one
    /// nearby, or of its store.
    func versions(_ registry: MigrationRegistry, _ console: Console) throws -> ModelVersions? {
        let options = ["config", "order"].flatMap { name in values[name].map { ["--\(name)", $0] } ?? [] }
        let invocation = try Invocation(Verb.names, path: Verb.names.name, arguments: options, registry: registry)
        if let path = values["model"] ?? operand(.model) { return try invocation.versions(at: path, console) }
        if let versions = try invocation.versionsIfKnown(console) { return versions }
        let store = operand(.store)
        let nearby = NearbyModels(store: store)
        if let path = store.flatMap({ nearby.choice(for: $0, .comparing).path }) ?? nearby.paths.only {
            return try invocation.versions(at: path, console)
        }
        return try store.map { try invocation.versions(at: $0, console) }
    }
}

extension Verb {
    /// A verb without an operand, which finds the configured model.
    fileprivate static let names = Verb(NameCompletion.verb, "", options: [.model, .order], examples: []) { _, _ in
        .done
    }
}

extension Array {
    /// The only element; nil if there are none or several.
    fileprivate var only: Element? { count == 1 ? first : nil }
}

extension Option {
    /// The names that the value can have.
    var names: NameCompletion.Kind? {
        guard completion == .nothing else { return nil }
        switch (name, value) {
        case ("to", "BACKUP|VERSION"): return .restorable
        case (_, "VERSION"), ("version", "NAME"), ("difference", _), ("order", _): return .versions
        case ("entity", _): return .entities
        default: return nil
        }
    }
}

extension Operand {
    /// The names that the operand can have.
    var names: NameCompletion.Kind? {
        switch name {
        case "BACKUP": .backups
        case "OLD", "NEW": help.contains("version") ? .versions : nil
        default: nil
        }
    }
}
