import MoultEngine
import MoultModel

/// Completes the command lines in a remedy, so that each runs as it is printed: with the store, the model and the files
/// that the person has named.
///
/// The layers below know nothing of a command line: they write `moult rollback`, `moult repair STORE`, or
/// `--model MODEL`.
package struct Advice: Sendable {
    /// As they were typed, each as one word for a shell.
    private let store: String?
    private let model: String?
    /// The other named options that decide what a command does, by the option's name.
    private let named: [(option: String, text: String)]
    /// Whether the app whose tool this is has a model.
    private let hasOwnModel: Bool

    package init(_ invocation: Invocation) {
        store = invocation[Operand.store]?.pathTyped
        model = (invocation[value: .model] ?? invocation[Operand.model])?.pathTyped
        hasOwnModel = invocation.registry.models != nil
        named = [Option.backups, .order].compactMap { option in
            invocation[value: option].map { (option.name, "--\(option.name) \($0.pathTyped)") }
        }
        func typed(_ option: Option) -> String {
            invocation[value: option].map { " --\(option.name) \($0.pathTyped)" } ?? ""
        }
        way = (store.map { " --for \($0)" } ?? "") + typed(.target)
        answering = typed(.order) + typed(.answers)
    }

    /// The options that find the questions on the store's way again.
    private let way: String
    /// The options that find the model and the answers file again.
    private let answering: String

    /// The text with every command line complete.
    package func filled(_ text: String) -> String {
        guard text.contains("moult ") else { return text }
        let text = withModel(text)
        var pieces = text.split(separator: "moult ", omittingEmptySubsequences: false)
        for position in pieces.indices.dropFirst() { pieces[position] = completed(pieces[position])[...] }
        return pieces.joined(separator: "moult ")
    }

    private func withModel(_ text: String) -> String {
        if let model { return text.replacing("--model MODEL", with: "--model \(model)") }
        return hasOwnModel ? text.replacing(" --model MODEL", with: "") : text
    }

    /// Completes the text after `moult ` with the arguments that are missing there.
    private func completed(_ piece: Substring) -> String {
        guard let (words, verb) = Self.verbs.first(where: { piece.begins(with: $0.words) }) else {
            return String(piece)
        }
        var rest = piece.dropFirst(words.count)
        var command = words
        if rest.begins(with: " --help") { return String(piece) }
        switch verb.operands.first {
        case Operand.store:
            guard let store else { return String(piece) }
            for place in [" STORE", " \(store)"] where rest.begins(with: place) { rest = rest.dropFirst(place.count) }
            command += " \(store)"
        case Operand.model:
            // What was named as a store is a model.
            if let store, rest.begins(with: " \(store)") { return String(piece) }
            if rest.begins(with: " MODEL") { rest = rest.dropFirst(" MODEL".count) }
            if let model { command += " \(model)" } else if !hasOwnModel { command += " MODEL" }
            // An answer is removed from any edge of the model.
            if words == Verb.answer.name { command += (rest.contains("--set ") ? way : "") + answering }
            return command + rest
        default: return String(piece)
        }
        if verb.operands.count > 1, let place = Self.newPlaces[words], !rest.begins(with: " \(place)") {
            command += " \(place)"
        }
        if verb.has(.model), let model, !rest.contains("--model ") { command += " --model \(model)" }
        for (option, text) in named where verb.options.contains(where: { $0.name == option }) {
            if !rest.contains("--\(option) ") { command += " \(text)" }
        }
        return command + rest
    }

    /// The paths of things that a verb makes, where the advice names none.
    private static let newPlaces = ["salvage": "SAVED.sqlite"]

    /// Every verb as it is typed, those of several words first.
    private static let verbs: [(words: String, verb: Verb)] =
        Verb.all.flatMap(\.leaves).sorted { $0.words.count > $1.words.count }
        .map { ($0.words.joined(separator: " "), $0.verb) }
}

extension Verb {
    fileprivate func has(_ option: Option) -> Bool { options.contains { $0.name == option.name } }
}

extension Substring {
    /// Whether the text begins with these words, and not with longer ones.
    fileprivate func begins(with words: String) -> Bool {
        guard hasPrefix(words) else { return false }
        return dropFirst(words.count).first.map { !$0.isLetter && !$0.isNumber && $0 != "-" && $0 != "/" } ?? true
    }
}

extension String {
    /// As one word for a shell, which no program takes for an option.
    fileprivate var pathTyped: String { (hasPrefix("-") ? "./" + self : self).shellQuoted }
}

// MARK: - In what is printed

extension MigrationError {
    func advised(by advice: Advice?) -> MigrationError {
        guard let advice else { return self }
        var error = self
        error.remedy = advice.filled(remedy)
        // Each reason has a remedy of its own.
        if code == .cannotInfer { error.message = advice.filled(message) }
        return error
    }
}

extension JSONValue {
    /// The document with every `remedy` in it complete.
    func advised(by advice: Advice?) -> JSONValue {
        guard let advice else { return self }
        switch self {
        case .array(let elements): return .array(elements.map { $0.advised(by: advice) })
        case .object(let members):
            return .object(
                members.map { member in
                    guard member.key == "remedy", case .string(let text) = member.value else {
                        return .init(member.key, member.value.advised(by: advice))
                    }
                    return .init(member.key, .string(Program.named(advice.filled(text))))
                })
        default: return self
        }
    }
}
