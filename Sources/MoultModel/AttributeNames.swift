extension [String] {
    /// The names of stored attributes as a person calls them, in the same order: an enum of SwiftData is a composite whose
    /// only element has the name of the attribute, so `ice.ice` is `ice`.
    package var withoutRepetition: [String] {
        let beginnings = Dictionary(grouping: self) { name in
            name.split(separator: ".").dropLast().joined(separator: ".")
        }
        let all = Set(self)
        return map { name in
            let parts = name.split(separator: ".")
            let short = parts.dropLast().joined(separator: ".")
            guard parts.count > 1, parts[parts.count - 1] == parts[parts.count - 2], beginnings[short]?.count == 1,
                !all.contains(short)
            else { return name }
            return short
        }
    }
}
