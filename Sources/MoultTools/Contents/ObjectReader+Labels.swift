import MoultModel
import MoultSQLite

extension ObjectReader {
    /// The name of an object: its own entity, and the value of the attribute that names its objects.
    package struct Label: Sendable, Hashable {
        package let entity: String
        /// Nil if the entity has no such attribute, or the object no value of it.
        package let text: String?
    }

    /// Returns the label of each object of an entity or of its sub-entities. Objects that do not exist are left out.
    package func labels(of entityName: String, keys: some Collection<Int64>) throws -> [Int64: Label] {
        guard !keys.isEmpty, let whole = contents.whole(entityName) else { return [:] }
        let list = Set(keys).sorted().map(String.init).joined(separator: ", ")
        let named = contents.entities.filter {
            $0.table == whole.table && Set(whole.numbers).isSuperset(of: $0.numbers)
        }
        var labels: [Int64: Label] = [:]
        // One statement for each attribute: sub-entities may have names of their own.
        let groups = Dictionary(grouping: named) { labelColumn(of: $0.name, in: entityName)?.name }
        for (column, entities) in groups {
            let names = Dictionary(
                entities.flatMap { entity in entity.numbers.map { ($0, entity.name) } },
                uniquingKeysWith: { first, _ in first })
            var columns: [EntityContents.Column] = [
                .init(name: "Z_PK", source: .key("Z_PK"), meaning: ""),
                .init(name: "entity", source: .entity(names), meaning: ""),
            ]
            if let column = column.flatMap({ entities.first?.column($0) }) { columns.append(column) }
            let some = EntityContents(
                name: entityName, table: whole.table, numbers: names.keys.sorted(), sharesTable: true, columns: columns)
            let part = ExportPart(
                some, columns: columns, keys: list, name: entityName, contents.externalFolder, isWhole: false)
            try probe.connection.forEachRow(part.sql) { row in
                let values = part.row(of: row)
                guard let key = values[0].integer, let entity = values[1].text else { return }
                labels[key] = Label(entity: entity, text: values.count > 2 ? values[2].label : nil)
            }
        }
        return labels
    }

    /// Returns the column that names an entity's objects: the one that a person has chosen for the entity or for one
    /// that it inherits from, or else the automatic one. Nil if there is none.
    ///
    /// - Parameter root: the entity that a relationship leads to, whose column its sub-entities have too if they can.
    package func labelColumn(of name: String, in root: String? = nil) -> EntityContents.Column? {
        guard let own = contents.whole(name) else { return nil }
        let model = contents.layout?.model
        let lineage = model?.entity(name).flatMap { model?.lineage(of: $0).map(\.name) } ?? [name]
        if let chosen = lineage.lazy.compactMap({ labels[$0] }).first { return own.column(chosen) }
        let common = root.flatMap { contents.whole($0)?.automaticLabel }.flatMap { own.column($0.name) }
        return common ?? own.automaticLabel
    }

    /// Returns the columns of an entity that can name its objects.
    package func labelChoices(of name: String) -> [EntityContents.Column] {
        contents.whole(name)?.columns.filter(\.canBeLabel) ?? []
    }
}

extension EntityContents {
    /// The column whose text best names an object: of the usual names the first, then a name that ends with one of them,
    /// then the first string that is neither an identifier nor an address.
    package var automaticLabel: Column? {
        let texts = columns.filter {
            if case .attribute(_, .string, _) = $0.source { !$0.name.contains(".") } else { false }
        }
        for word in Self.usual {
            if let text = texts.first(where: { $0.name.lowercased() == word }) { return text }
        }
        for word in Self.usual {
            if let text = texts.first(where: { $0.name.lowercased().hasSuffix(word) }) { return text }
        }
        return texts.first { text in !Self.unfit.contains { text.name.lowercased().hasSuffix($0) } } ?? texts.first
    }

    private static let usual = [
        "name", "title", "displayname", "fullname", "label", "caption", "subject", "headline", "text",
    ]
    private static let unfit = [
        "id", "identifier", "uuid", "guid", "url", "uri", "link", "path", "hash", "token", "key", "type", "kind",
        "state",
        "status", "color", "colour", "locale", "currency", "raw",
    ]
}

extension EntityContents.Column {
    /// Whether the column's values can name objects.
    fileprivate var canBeLabel: Bool {
        guard case .attribute(_, let type, _) = source else { return false }
        return ![.binary, .transformable, .composite, .boolean, .undefined, .objectID].contains(type)
    }
}

extension SQLiteValue {
    /// The value on one line of limited length; nil for an empty one, and for bytes.
    fileprivate var label: String? {
        let text: String
        switch self {
        case .null, .blob: return nil
        case .integer(let number): text = String(number)
        case .real(let number): text = number.description
        case .text(let long): text = long
        }
        let line = String(text.prefix(400)).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? nil : line.count > 80 ? line.prefix(80) + "…" : line
    }
}
