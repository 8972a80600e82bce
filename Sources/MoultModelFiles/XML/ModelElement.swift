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

    func required(_ key: ModelKey) throws(MigrationError) -> String {
        guard let text = text(key) else {
            throw invalid("The element <\(node.name)> has no \(key).", remedy: "Give it the attribute \(key).")
        }
        return text
    }

    /// `YES` or `NO`, in any case; nil if the attribute is absent. Any other text means `NO`, and is a finding.
    func switchIfPresent(_ key: ModelKey, noting unknown: inout UnknownMarkup) -> Bool? {
        guard let text = node[key] else { return nil }
        switch text.lowercased() {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default:
            unknown.add(
                "switch-not-read", self, "\(key) is \"\(text)\", which is neither YES nor NO; it is read as NO.",
                remedy: "Write YES or NO.")
            return false
        }
    }

    func flag(_ key: ModelKey, noting unknown: inout UnknownMarkup) -> Bool {
        switchIfPresent(key, noting: &unknown) ?? false
    }

    /// A count; nil if the attribute is absent or, which is a finding, is no count.
    func count(_ key: ModelKey, noting unknown: inout UnknownMarkup) -> Int? {
        guard let text = text(key) else { return nil }
        if let number = Int32(text), number >= 0 { return Int(number) }
        unknown.add(
            "count-not-read", self, "\(key) is \"\(text)\", which is not a count; it is not read.",
            remedy: "Write a whole number, or remove \(key).")
        return nil
    }

    /// `<userInfo><entry key="…" value="…"/></userInfo>`
    func userInfo(noting unknown: inout UnknownMarkup) -> [String: String] {
        var entries: [String: String] = [:]
        guard !node.children.isEmpty else { return entries }
        for entry in children("userInfo").flatMap({ $0.children("entry") }) {
            guard let key = entry.node[.key] else {
                unknown.add(
                    "user-info-not-read", entry, "A userInfo entry has no key; it is not read.",
                    remedy: "Give it the attribute key.")
                continue
            }
            entries[key] = entry.node[.value] ?? ""
        }
        return entries
    }
}
