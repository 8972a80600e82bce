import Moult
import MoultBasics
import MoultTools

extension Verb {
    /// The verbs that only read their store, with what they want a model for. They use the one nearby if none is named.
    private static let purposes: [String: NearbyModels.Purpose] = [
        "inspect": .reading, "browse": .reading, "dump": .reading, "views": .reading, "query": .reading,
        "export": .reading, "anonymise": .reading, "validate": .reading, "diagram": .reading,
        "status": .comparing, "plan": .comparing, "doctor": .diagnosing, "STORE": .diagnosing,
    ]

    fileprivate static func purpose(of path: String) -> NearbyModels.Purpose? { purposes[path] }
}

extension Invocation {
    /// The models nearby.
    var nearbyModels: NearbyModels { NearbyModels(store: self[Operand.store], on: system) }

    /// Whether the verb does more than read its store.
    var isWriting: Bool { Verb.purpose(of: path) == nil }

    /// Sets the model that a verb leaves out to the one nearby, if the verb only reads. A verb that writes never guesses
    /// its model.
    mutating func findModel(for verb: Verb) {
        guard registry.models == nil, verb.options.contains(where: { $0.name == Option.model.name }),
            self[value: .model] == nil
        else { return }
        if verb.name == Verb.diff.name { return findModelOfVersions(verb) }
        guard let purpose = Verb.purpose(of: path) else { return }
        // A picture is of a model, or of what a store's migration does. Its operand hides a configured model.
        let isOfStore =
            path != Verb.diagram.name
            || configuration == nil && !Set(typed).isDisjoint(with: ["--plan", "--history"])
        guard isOfStore, let store = self[Operand.store] ?? self[Operand.model] else { return }
        let nearby = NearbyModels(store: store, on: system)
        let choice = nearby.choice(for: store, purpose, order: list(.order))
        if let path = choice.path { give(path, for: Option.model) }
        // The one screen of a store names its model itself.
        let isSaid = path != Verb.overview.name || choice.path == nil || nearby.paths.count > 1
        if let notice = choice.notice, isSaid { notices.append(notice) }
    }

    /// Sets the model of names that are no paths, as in `moult diff 1 2`.
    private mutating func findModelOfVersions(_ verb: Verb) {
        let names = verb.operands.compactMap { self[$0] }
        let arePaths = names.allSatisfy { $0.contains(":") || (try? system.exists($0)) ?? true }
        let found = nearbyModels.paths
        guard !arePaths, found.count == 1 else { return }
        give(found[0], for: Option.model)
    }

    /// Returns the error for a command that needs a model: its remedy is the same command with the model nearby.
    func modelMissing(_ message: String, at place: String = "") -> MigrationError {
        let found = nearbyModels.paths
        var error = wrong(message)
        error.place = place
        if let first = found.first, found.count == 1 {
            error.advice =
                place.isEmpty
                ? "See `\(Program.name) \(path) --help`, or name the model nearby: `\(named(first))`"
                : "Name the model next to the store: `\(named(first))`"
        } else if !place.isEmpty || !found.isEmpty {
            let names = found.map { takesModelOperand ? $0.shellQuoted : "--model \($0.shellQuoted)" }
            error.advice =
                "Name the model with all its versions: \(found.isEmpty ? "`\(named("PATH"))`" : names.joined(separator: " or "))"
        }
        return error
    }

    /// Returns the command with a model.
    private func named(_ model: String) -> String {
        var words = typed.map(\.shellQuoted)
        let model = takesModelOperand ? [model.shellQuoted] : ["--model", model.shellQuoted]
        // After the store, or in front of everything; an option may not stand after "--".
        let store = typed.contains("--") ? nil : self[Operand.store].flatMap { typed.firstIndex(of: $0) }
        words.insert(contentsOf: model, at: store.map { $0 + 1 } ?? 0)
        return ([Program.name, path] + words).joined(separator: " ")
    }
}
