import MoultBasics
import MoultModel

/// A place at which a project leaves out the findings of a rule, with the reason.
package struct LintException: Sendable {
    /// The code of the rule.
    package let rule: String
    /// An entity, a property, a version or a model, as ``LintExceptionPlaces`` lists them.
    package let place: String
    /// The reason, for people.
    package let why: String
    /// The file and line that declare the exception.
    package let source: (file: String, line: Int)

    package init(rule: String, place: String, why: String, source: (file: String, line: Int)) {
        (self.rule, self.place, self.why, self.source) = (rule, place, why, source)
    }

    var document: JSONValue {
        [
            "rule": .string(rule), "place": .string(place), "why": .string(why), "file": .string(source.file),
            "line": JSONValue(source.line),
        ]
    }

    /// The location of the declaration, such as `moult.json:12`.
    var location: String { "\(source.file):\(source.line)" }

    /// A sentence for an exception that no finding needs.
    var unusedMessage: String { "The exception of \(rule) for \(place) matches no finding." }

    static let unusedRemedy: Remedy = "Remove it from the configuration."
}

/// The places of a model that an exception can name: `Entity.property`, `Entity` with its properties, a version, or
/// `Version/Entity.property`; and the same below the model's path or name, or the model as a whole.
struct LintExceptionPlaces: Sendable {
    private var versions: Set<String> = []
    private var entities: Set<String> = []
    private var members: Set<String> = []
    /// The path of the model and its last part.
    private let models: [String]

    /// Creates the places of a model that cannot be read, whose entities are unknown.
    init(ofModelAt path: String) { models = path == "." ? [] : [path, Path.name(of: path)] }

    init(_ subject: LintSubject, path: String) {
        self.init(ofModelAt: path)
        versions = Set(subject.versions.map(\.name) + subject.releases.flatMap { $0.versions.map(\.name) })
        let released = subject.releases.flatMap(\.versions)
        let models = subject.versions.map(\.model) + released.compactMap { $0.model?.model }
        entities = Set(models.flatMap { $0.entities.map(\.name) } + released.flatMap { $0.entities.keys })
        for model in models {
            members.formUnion(model.configurations.map(\.name))
            members.formUnion(model.fetchRequestTemplates.map(\.name))
            for entity in model.entities {
                let constraints = entity.uniquenessConstraints + entity.compoundIndexes
                let names =
                    entity.propertyNames + entity.fetchIndexes.map(\.name)
                    + constraints.flatMap { [$0.joined(separator: ", "), $0.joined(separator: "+")] }
                members.formUnion(names.map { "\(entity.name).\($0)" })
            }
        }
    }

    /// Whether the model has the place.
    func contain(_ place: String) -> Bool {
        for model in models {
            if place == model { return true }
            if place.hasPrefix(model + "/") { return isInside(String(place.dropFirst(model.count + 1))) }
        }
        return isInside(place)
    }

    private func isInside(_ place: String) -> Bool {
        if versions.contains(place) || isElement(place) { return true }
        let parts = place.split(separator: "/", maxSplits: 1).map(String.init)
        return parts.count == 2 && versions.contains(parts[0]) && isElement(parts[1])
    }

    private func isElement(_ place: String) -> Bool {
        // A composite attribute's elements follow its name.
        let parts = place.split(separator: ".", omittingEmptySubsequences: false)
        return entities.contains(place) || members.contains(place)
            || parts.count > 2 && members.contains(parts.prefix(2).joined(separator: "."))
    }

    /// The place that is spelt most like another; nil if none is.
    func nearest(to place: String) -> String? {
        Suggestion.nearest(to: place, among: (entities.union(members).union(versions)).sorted())
    }

    /// Returns every way to name the place of a match.
    func names(of match: LintMatch) -> Set<String> {
        var elements: [String] = []
        if let entity = match.entity { elements.append(entity) }
        if let member = match.member {
            let whole = [match.entity, member].compactMap { $0 }.joined(separator: ".")
            elements += [whole, match.place]
            let root = member.split(separator: ".").first.map(String.init) ?? member
            if root != member, let entity = match.entity { elements.append("\(entity).\(root)") }
        }
        var names = elements
        if !match.version.isEmpty {
            // An entity's name means the entity, even if a version has the same name.
            if !entities.contains(match.version) { names.append(match.version) }
            names += elements.map { "\(match.version)/\($0)" }
        }
        return Set(names + models.flatMap { model in [model] + names.map { "\(model)/\($0)" } })
    }
}

extension [LintException] {
    /// The exception for a match of a rule; nil if there is none.
    func first(for match: LintMatch, of rule: LintRule, in places: LintExceptionPlaces) -> LintException? {
        let own = filter { $0.rule == rule.code }
        guard !own.isEmpty else { return nil }
        let names = places.names(of: match)
        return own.first { names.contains($0.place) }
    }
}
