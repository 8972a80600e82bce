/// One element of an XML model with everything below it.
struct MarkupElement: Sendable {
    let name: String
    /// In the order of the file.
    let attributes: [(key: ModelKey, value: String)]
    /// Those whose names are no `ModelKey`.
    let otherAttributes: [(name: String, value: String)]
    /// Where its start tag begins.
    let line: Int
    var children: [MarkupElement] = []
    /// What stands between its tags, all pieces joined; empty unless the parser was asked to keep it, because in a
    /// model it says nothing.
    var text = ""

    subscript(key: ModelKey) -> String? {
        for attribute in attributes where attribute.key == key { return attribute.value }
        return nil
    }

    /// Every attribute by name.
    var allAttributes: [String: String] {
        let known = attributes.map { (name: "\($0.key)", value: $0.value) }
        return Dictionary((known + otherAttributes).map { ($0.name, $0.value) }) { first, _ in first }
    }
}
