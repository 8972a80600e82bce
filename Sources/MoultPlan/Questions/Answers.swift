import MoultBasics
import MoultModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The recorded answers, in the form of a file: `{"format": 1, "answers": [...]}`.
package struct Answers: Sendable, Equatable {
    package let list: [Answer]

    package static let none = Answers(unchecked: [])

    private init(unchecked list: [Answer]) { self.list = list }

    /// - Throws: `usage` if two answers contradict each other or one lacks what its verdict needs.
    package init(_ list: [Answer]) throws(MigrationError) {
        var verdicts: [Key: Answer] = [:]
        var heirs: [Key: Answer] = [:]
        for answer in list {
            try answer.checkShape()
            let key = Key(answer, name: answer.property)
            if let other = verdicts.updateValue(answer, forKey: key), other != answer {
                throw .contradiction(other, answer)
            }
            guard answer.is == .rename else { continue }
            // Two properties of one entity, or two entities, cannot both be renamed from the same one.
            var heir = Key(answer, name: answer.old)
            if answer.property == nil { heir.entity = "" }
            if let other = heirs.updateValue(answer, forKey: heir), other != answer {
                throw .contradiction(other, answer)
            }
        }
        self.list = list
    }

    /// Returns the answers with this one in place of an earlier answer about the same place.
    ///
    /// - Throws: `usage` if it contradicts an answer about another place.
    package func replacing(with answer: Answer) throws(MigrationError) -> Answers {
        try Answers(list.filter { !$0.isAboutTheSame(as: answer) } + [answer])
    }

    /// Returns the answers without some of them. Removing answers cannot cause a contradiction.
    package func removing(where isRemoved: (Answer) -> Bool) -> Answers {
        Answers(unchecked: list.filter { !isRemoved($0) })
    }

    /// Returns these answers and others, which are about other versions.
    package func joined(with others: Answers) -> Answers { Answers(unchecked: list + others.list) }

    private struct Key: Hashable {
        var from: String, to: String, entity: String, isEntity: Bool, name: String?

        init(_ answer: Answer, name: String?) {
            from = answer.fromChecksum ?? answer.from
            to = answer.toChecksum ?? answer.to
            entity = answer.entity
            isEntity = answer.property == nil
            self.name = name
        }
    }

    /// Returns the answers about the change from one version to another, identified by any of their names or by hashes.
    package func about(_ from: ModelVersion, _ to: ModelVersion) -> [Answer] {
        list.filter { from.isMeant(by: $0.from, $0.fromChecksum) && to.isMeant(by: $0.to, $0.toChecksum) }
    }
}

// MARK: - JSON

extension Answers {
    private struct File: Codable {
        var format: Int
        var answers: [Answer]
    }

    /// - Parameter place: the name of the text in errors, such as the file's path.
    /// - Throws: `usage` if the text is not an answers file of format 1, or its answers contradict each other.
    package init(json: [UInt8], place: String = "the answers file") throws(MigrationError) {
        let file: File
        do {
            // This reader names the line and column of a fault.
            _ = try JSONValue(parsing: json, place: place, code: .usage)
            file = try JSONDecoder().decode(File.self, from: Data(json))
        } catch {
            let reason = (error as? MigrationError)?.message ?? (error as? DecodingError)?.sentence ?? ""
            throw MigrationError(
                .usage, "The answers file cannot be read\(reason.isEmpty ? "." : ": \(reason)")", place: place,
                remedy: "Write it as {\"format\": 1, \"answers\": [ ... ]}, with the answers that Moult printed.")
        }
        guard file.format == 1 else {
            throw MigrationError(
                .usage, "The answers file has format \(file.format). This version of Moult reads format 1.",
                place: place, remedy: "Use the version of Moult that wrote it, or write it again.")
        }
        try self.init(file.answers)
    }

    /// The file's text, with one answer per line.
    package var json: [UInt8] {
        let lines = list.map { "    \($0.json)" }.joined(separator: ",\n")
        return Array("{\n  \"format\": 1,\n  \"answers\": [\n\(lines)\n  ]\n}\n".utf8)
    }
}

extension DecodingError {
    /// A sentence that names the answer and the key.
    fileprivate var sentence: String {
        let (path, key, what): ([any CodingKey], String?, String) =
            switch self {
            case .keyNotFound(let key, let context): (context.codingPath, key.stringValue, "is missing")
            case .valueNotFound(_, let context): (context.codingPath, nil, "is null")
            case .typeMismatch(_, let context): (context.codingPath, nil, "has a value of the wrong type")
            case .dataCorrupted(let context): (context.codingPath, nil, "has a value that Moult does not know")
            @unknown default: ([], nil, "cannot be read")
            }
        let names = path.compactMap { $0.intValue == nil ? $0.stringValue : nil } + [key].compactMap { $0 }
        let number = path.compactMap(\.intValue).first.map { " of answer \($0 + 1)" } ?? ""
        return "\(names.last ?? "The document")\(number) \(what)."
    }
}

extension Answer {
    /// Whether both answers are about the same place. An answer without hashes is about every store with these names.
    fileprivate func isAboutTheSame(as other: Answer) -> Bool {
        guard (entity, property) == (other.entity, other.property) else { return false }
        guard isBound, other.isBound else { return (from, to) == (other.from, other.to) }
        return (fromChecksum, toChecksum) == (other.fromChecksum, other.toChecksum)
    }

    fileprivate func checkShape() throws(MigrationError) {
        let fault: String? =
            switch self.is {
            case _ where entity.isEmpty || property?.isEmpty == true: "names no entity or property"
            case .rename where old == nil: "is a rename and does not name the old one"
            case .value where value == nil || property == nil: "gives no value to an attribute"
            case .new where old != nil: "says new and names an old one"
            case _ where (fromChecksum == nil) != (toChecksum == nil): "has the checksum of only one version"
            default: nil
            }
        if let fault {
            let place = self.place.isEmpty ? "nothing" : self.place
            throw MigrationError(
                .usage, "The answer about \(place) \(fault).", place: place, remedy: "Correct it: \(json)")
        }
    }
}

extension MigrationError {
    fileprivate static func contradiction(_ first: Answer, _ second: Answer) -> MigrationError {
        MigrationError(
            .usage, "Two answers contradict each other: \(first.json) and \(second.json).", place: second.place,
            remedy: "Remove one of them.")
    }
}

/// The answers about one pair of versions, found by entity and property.
struct EdgeAnswers: Sendable {
    let all: [Answer]
    private let byEntity: [String: Answer]
    private let byProperty: [String: [String: Answer]]

    init(_ answers: [Answer] = []) {
        all = answers
        var byEntity: [String: Answer] = [:]
        var byProperty: [String: [String: Answer]] = [:]
        for answer in answers {
            if let property = answer.property {
                byProperty[answer.entity, default: [:]][property] = answer
            } else {
                byEntity[answer.entity] = answer
            }
        }
        self.byEntity = byEntity
        self.byProperty = byProperty
    }

    func entity(_ name: String) -> Answer? { byEntity[name] }

    /// Returns the answer about a property, by the entity that declares it.
    func property(_ name: String, declaredBy entity: String) -> Answer? { byProperty[entity]?[name] }

    /// The answers about the names of entities, for `NameMatching`.
    var entityNames: [String: String?] { byEntity.compactMapValues(\.decidedName) }

    func propertyNames(of entity: ResolvedEntity) -> [String: String?] {
        guard !byProperty.isEmpty else { return [:] }
        var names: [String: String?] = [:]
        for declaring in entity.lineage {
            for (property, answer) in byProperty[declaring.name] ?? [:] {
                if let decided = answer.decidedName { names[property] = .some(decided) }
            }
        }
        return names
    }
}

extension Answer {
    /// The old name of a rename, or an inner nil for something new; nil if the answer decides neither.
    fileprivate var decidedName: String?? {
        switch self.is {
        case .rename: .some(old)
        case .new: .some(nil)
        case .keep, .drop, .value: .none
        }
    }
}

extension EdgeAnswers {
    /// Refuses an answer about things that the two versions do not have.
    func check(from source: ResolvedModel, to destination: ResolvedModel, sourceOf entitySources: [String: String])
        throws(MigrationError)
    {
        for answer in all {
            guard let entity = destination[answer.entity] else {
                throw answer.refused("\(answer.to) has no entity \(answer.entity)")
            }
            guard let property = answer.property else {
                try answer.checkEntity(in: source)
                continue
            }
            guard entity.attributes[property] != nil || entity.relationships[property] != nil else {
                throw answer.refused("\(answer.entity) of \(answer.to) has no property \(property)")
            }
            let declaring = entity.declaringEntity(of: property)
            guard declaring == answer.entity else {
                throw answer.refused("\(property) is declared by \(declaring); answer for that entity")
            }
            guard answer.is == .rename, let old = answer.old else { continue }
            let isAttribute = entity.attributes[property] != nil
            let sources = destination.family(of: answer.entity).compactMap { entitySources[$0] }
            let exists = sources.contains { name in
                isAttribute ? source[name]?.attributes[old] != nil : source[name]?.relationships[old] != nil
            }
            guard exists else {
                throw answer.refused("\(answer.from) has no \(isAttribute ? "attribute" : "relationship") \(old) there")
            }
        }
    }
}

extension Answer {
    fileprivate func checkEntity(in source: ResolvedModel) throws(MigrationError) {
        switch self.is {
        case .rename:
            if let old, source[old] == nil { throw refused("\(from) has no entity \(old)") }
        case .new: break
        case .keep, .drop, .value: throw refused("an entity that is in only one of the versions is renamed or new")
        }
    }

    package func refused(_ reason: String) -> MigrationError {
        MigrationError(
            .usage, "\(refusal)\(reason).", place: place,
            remedy:
                "Remove it with \(.answer, .anyModel, .forget(place)), or correct it in the answers file."
        )
    }

    /// The error for the answer `keep`, if the values do not fit.
    package func refusedToKeep(in newer: ModelVersion, from older: ModelVersion) -> MigrationError {
        refused("the values that \(place) had in \(older.name) do not fit \(newer.name)")
    }

    private var refusal: String { "The answer \(json) fits no question: " }

    /// Whether the error is the refusal of this answer.
    package func isRefused(by error: MigrationError) -> Bool { error.message.hasPrefix(refusal) }
}
