extension LintExample {
    /// A block of an example, with a line that introduces it.
    package struct Part: Sendable {
        package let title: String
        /// The XML, Swift or JSON; nil for a sentence alone.
        package let code: String?
    }

    /// Returns the blocks of the example, for pages and `moult explain`.
    ///
    /// - Parameter other: an example that was shown before. Its versions are not repeated.
    package func parts(after other: LintExample? = nil) -> [Part] {
        if let swift { return [Part(title: "In the plan", code: swift)] }
        let isCompared = !released.isEmpty
        let unchanged = versions.filter { version in
            other?.versions.contains(version) ?? false
        }.map(\.name)
        var parts: [Part] = []
        if other.map({ $0.released != released }) ?? true {
            parts += released.map { Part(title: "\($0.name), as it was released", code: $0.xml?.shortened) }
            if let releasedCurrent {
                parts.append(
                    Part(title: "The current version was \(releasedCurrent) when it was released.", code: nil))
            }
        }
        if !unchanged.isEmpty {
            let names = unchanged.joined(separator: ", ")
            parts.append(Part(title: "\(names)\(isCompared ? " now" : ""): as above.", code: nil))
        }
        parts += versions.filter { !unchanged.contains($0.name) }.map {
            guard let xml = $0.xml else { return Part(title: "\($0.name) has no contents.", code: nil) }
            return Part(title: $0.name + (isCompared ? " now" : ""), code: xml.shortened)
        }
        if let schema, schema != other?.schema { parts.append(Part(title: "The schema in Production", code: schema)) }
        if !isMarked { parts.append(Part(title: "There is no .xccurrentversion.", code: nil)) }
        if let current { parts.append(Part(title: "The current version is \(current).", code: nil)) }
        for answer in answers { parts.append(Part(title: "An answer", code: answer.json)) }
        return parts
    }
}

extension String {
    /// A long list of lines with its middle left out.
    fileprivate var shortened: String {
        let lines = split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count > 40 else { return self }
        return (lines.prefix(4) + ["    …"] + lines.suffix(4)).joined(separator: "\n")
    }
}
