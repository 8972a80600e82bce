import Foundation
import MoultModel

extension ManagedObjectModel {
    /// A model of entities in ``MoultModel/EntityDescription/init(_:)``'s notation, one a line; a line that begins with a
    /// space continues the one before.
    package init(_ text: String) throws {
        var lines: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix(" "), let last = lines.popLast() {
                lines.append(last + line)
            } else {
                lines.append(String(line))
            }
        }
        try self.init(entities: lines.map { EntityDescription($0) })
    }
}

extension ModelVersions {
    /// The versions `1`, `2` and so on, each a model as text.
    package init(_ texts: String...) throws {
        self.init(
            versions: try texts.enumerated().map {
                ModelVersion(names: ["\($0 + 1)"], model: try ManagedObjectModel($1))
            })
    }

    /// The versions `1`, `2` and so on, each of these entities.
    package init(of models: [[EntityDescription]]) throws {
        self.init(
            versions: try models.enumerated().map {
                ModelVersion(names: ["\($0 + 1)"], model: try ManagedObjectModel(entities: $1))
            })
    }
}

extension EntityDescription {
    /// An entity on one line: its name and its parent, then, after `=`, its properties.
    ///
    ///     Book unique=title = title String required, pages Integer32 =0, shelf > Shelf.books, tags >> Tag.books
    ///     Novel (Book) was=Story = genre String indexed, cover Binary external
    ///
    /// An attribute has its type; a to-one relationship `>`, and a to-many one `>>`, before its destination and inverse.
    /// Everything is optional unless it is `required`. A word that is not known becomes part of the name, so that whatever
    /// uses the entity fails and says so.
    package init(_ text: String) {
        let parts = text.split(whereSeparator: \.isWhitespace).joined(separator: " ").components(separatedBy: " = ")
        let properties = parts.dropFirst().joined(separator: " = ").components(separatedBy: ", ").filter { !$0.isEmpty }
            .map { $0.components(separatedBy: " ") }
        let isLink = { (words: [String]) in words.count > 2 && [">", ">>"].contains(words[1]) }
        let head = parts[0].components(separatedBy: " ")
        self.init(
            name: head[0], attributes: properties.filter { !isLink($0) }.map { AttributeDescription($0) },
            relationships: properties.filter(isLink).map { RelationshipDescription($0) })
        for word in head.dropFirst() {
            let (key, value) = word.keyAndValue
            switch key {
            case "abstract": isAbstract = true
            case "was": renamingIdentifier = value
            case "modifier": versionHashModifier = value
            case "class": managedObjectClassName = value
            case "unique": uniquenessConstraints.append(value.components(separatedBy: "+"))
            case "index":
                let words = value.components(separatedBy: ":")
                fetchIndexes.append(
                    .init(name: words[0], elements: [.init(subject: .property(words[words.count - 1]))]))
            case _ where word.hasPrefix("(") && word.hasSuffix(")"):
                superentityName = String(word.dropFirst().dropLast())
            default: name += "?\(word)"
            }
        }
    }
}

extension RelationshipDescription {
    /// The words `name > Destination.inverse` with what else is said of the relationship.
    fileprivate init(_ words: [String]) {
        let ends = words[2].components(separatedBy: ".")
        self.init(
            name: words[0], destinationEntityName: ends[0], inverseName: ends.count > 1 ? ends[1] : nil,
            maxCount: words[1] == ">" ? 1 : 0)
        for word in words.dropFirst(3) {
            let (key, value) = word.keyAndValue
            switch key {
            case "required": isOptional = false
            case "ordered": isOrdered = true
            case "transient": isTransient = true
            case "cascade": deleteRule = .cascade
            case "deny": deleteRule = .deny
            case "noAction": deleteRule = .noAction
            case "was": renamingIdentifier = value
            case "modifier": versionHashModifier = value
            default: name += "?\(word)"
            }
        }
    }
}

extension AttributeDescription {
    /// The words `name Type` with what else is said of the attribute; `=5` is its default value.
    fileprivate init(_ words: [String]) {
        let type = AttributeType.storable.first { $0.word == words.dropFirst().first }
        self.init(name: type == nil ? words.joined(separator: "?") : words[0], type: type ?? .undefined)
        for word in words.dropFirst(2) {
            let (key, value) = word.keyAndValue
            switch key {
            case "": defaultValue = type?.value(value)
            case "required": isOptional = false
            case "indexed": isIndexed = true
            case "transient": isTransient = true
            case "external": allowsExternalBinaryDataStorage = true
            case "derived": derivation = .init(expression: value)
            case "filter": derivation?.filter = value
            case "min": validation.minimum = value
            case "max": validation.maximum = value
            case "was": renamingIdentifier = value
            case "modifier": versionHashModifier = value
            default: name += "?\(word)"
            }
        }
    }
}

extension AttributeType {
    /// The type in the notation.
    package var word: String { name.filter { $0 != " " } }

    fileprivate static let storable: [AttributeType] = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .boolean, .date, .binary, .uuid, .uri,
        .transformable,
    ]

    /// A default value as text; nil if the type has none, or the text is of another.
    fileprivate func value(_ text: String) -> AttributeValue? {
        switch self {
        case .integer16, .integer32, .integer64: Int64(text).map { .integer($0) }
        case .double, .float: Double(text).map { .double($0) }
        case .date: Double(text).map { .date($0) }
        case .boolean: Bool(text).map { .boolean($0) }
        case .decimal: .decimal(text)
        case .string: .string(text)
        default: nil
        }
    }
}

extension String {
    /// The parts of `key=value`; of a word without `=`, the word and nothing.
    fileprivate var keyAndValue: (key: String, value: String) {
        guard let place = firstIndex(of: "=") else { return (self, "") }
        return (String(self[..<place]), String(self[index(after: place)...]))
    }
}
