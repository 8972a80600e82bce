import MoultModel

extension Site.Settings {
    /// The settings as JSON, which `moult browse` hands to the program that serves the page.
    package var document: JSONValue {
        [
            "store": .string(store), "models": JSONValue(models),
            "order": order.map { .array($0.map { .string($0) }) } ?? .null,
            "answers": JSONValue(answers), "rules": JSONValue(rules), "backups": JSONValue(backups),
            "allowsChanges": .bool(allowsChanges),
        ]
    }

    /// Nil for a document that names no store.
    package init?(_ document: JSONValue) {
        guard let store = document["store"]?.string else { return nil }
        self.init(store: store)
        models = document["models"]?.string
        order = document["order"]?.array?.compactMap(\.string)
        answers = document["answers"]?.string
        rules = document["rules"]?.string
        backups = document["backups"]?.string
        allowsChanges = document["allowsChanges"]?.bool ?? false
    }
}
