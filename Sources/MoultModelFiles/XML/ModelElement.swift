import MoultModel

/// An element of a model file together with where it stands, so that every complaint can say it.
struct ModelElement {
    let node: MarkupElement
    let file: String
    /// The entity or composite it belongs to; empty at the top.
    let owner: String

    var name: String { node[.name] ?? "" }

    /// Such as `Model.xcdatamodel/contents:12: Post.title`.
    var place: String {
        let path = [owner, name].filter { !$0.isEmpty }.joined(separator: ".")
        return "\(file):\(node.line)" + (path.isEmpty ? "" : ": \(path)")
    }

    /// The elements of that name directly below.
    func children(_ name: String, owner: String? = nil) -> [ModelElement] {
        node.children.filter { $0.name == name }
            .map { ModelElement(node: $0, file: file, owner: owner ?? self.owner) }
    }

    func invalid(_ message: String, remedy: String) -> MigrationError {
        .modelInvalid(message, place: place, remedy: remedy)
    }
}

// MARK: - Attributes

extension ModelElement {
    /// An empty text says as much as an absent one.
    func text(_ key: ModelKey) -> String? {
        guard let text = node[key], !text.isEmpty else { return nil }
        return text
    }

    func required(_ key: ModelKey) throws -> String {
        guard let text = text(key) else {
            throw invalid("The element <\(node.name)> has no \(key).", remedy: "Give it the attribute \(key).")
        }
        return text
    }

    /// `YES` or `NO`; nil where the attribute is absent.
    func switchIfPresent(_ key: ModelKey) throws -> Bool? {
        switch node[key] {
        case nil: nil
        case "YES": true
        case "NO": false
        case let other?:
            throw invalid("\(key) is \"\(other)\", which is neither YES nor NO.", remedy: "Write YES or NO.")
        }
    }

    func flag(_ key: ModelKey) throws -> Bool { try switchIfPresent(key) ?? false }

    func integer(_ key: ModelKey) throws -> Int? {
        guard let text = text(key) else { return nil }
        guard let number = Int(text) else {
            throw invalid("\(key) is \"\(text)\", which is no integer.", remedy: "Write a whole number.")
        }
        return number
    }

    /// `<userInfo><entry key="…" value="…"/></userInfo>`
    func userInfo() throws -> [String: String] {
        var entries: [String: String] = [:]
        guard !node.children.isEmpty else { return entries }
        for entry in children("userInfo").flatMap({ $0.children("entry") }) {
            guard let key = entry.node[.key] else {
                throw entry.invalid("A userInfo entry has no key.", remedy: "Give it the attribute key.")
            }
            entries[key] = entry.node[.value] ?? ""
        }
        return entries
    }
}
