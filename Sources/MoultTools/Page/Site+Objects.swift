import Moult
import MoultBasics
import MoultModel
import MoultSQLite

extension Site {
    /// The time limit of a search before it shows its results so far, in nanoseconds.
    private static let searchTime: UInt64 = 1_000_000_000

    /// Returns a page with objects of an entity, including those of its sub-entities.
    func objectsPage(_ request: Request) throws -> HTML {
        let name = request.query["entity"] ?? ""
        let text = request.query["find"] ?? ""
        let format = request.query["where"] ?? ""
        let after = request.query["after"].flatMap { Int64($0) }
        return try read { reader in
            let entity = try reader.entity(name)
            let start = system.monotonicNanoseconds
            let found: HTML
            do {
                let predicate = try predicate(finding: text, matching: format, of: name, reader)
                let page = try reader.page(of: entity, after: after, matching: predicate) {
                    system.monotonicNanoseconds - start > Self.searchTime
                }
                found = try self.found(page, of: entity, text, format, isFirst: after == nil, reader)
            } catch let error as MigrationError
                where [.invalidPredicate, .fetchUnsupported, .modelNotFound].contains(error.code)
            {
                found = errorWords(error)
            }
            let model = reader.contents.layout?.model
            let children: [HTML] = (model?.entity(name).map { model?.subentities(of: $0) ?? [] } ?? []).map {
                "<li><a href=\"\(Self.objects($0.name))\"><bdi>\($0.name)</bdi></a></li>"
            }
            let kinds: HTML =
                children.isEmpty
                ? "" : "<nav aria-label=\"Sub-entities\"><ul class=\"entities\">\(children)</ul></nav>"
            let isOpen: HTML = format.isEmpty ? "" : " open"
            return page(
                name, at: .store,
                """
                <p class="trail"><a href="/">Store</a></p>
                <h1><bdi>\(name)</bdi></h1>\(kinds)
                <form method="get" action="/objects" role="search"><input type="hidden" name="entity" value="\(name)">
                <label for="find">Find a text or a number</label>
                <input id="find" type="search" name="find" value="\(text)">
                <details\(isOpen)><summary>By a predicate</summary>
                <label for="where">Predicate, in Core Data's format</label>
                <input id="where" name="where" value="\(format)" placeholder="name BEGINSWITH 'A'"></details>
                <button>Find</button></form>
                \(found)
                """)
        }
    }

    private func found(
        _ page: ObjectReader.Page, of entity: EntityContents, _ text: String, _ format: String, isFirst: Bool,
        _ reader: ObjectReader
    ) throws -> HTML {
        // Show the name of the entity only if there are several.
        let shown = entity.columns.filter { column in
            if case .entity(let names) = column.source { return names.count > 1 }
            return column.name != "Z_PK"
        }
        let columns = shown.filter { !$0.isBytes } + shown.filter(\.isBytes)
        let heads: [HTML] = ["Key"] + columns.map { "<bdi>\($0.name)</bdi> <small>\($0.type)</small>" as HTML }
        let rows: [HTML] = page.objects.map { object in
            let key: HTML = "<th scope=\"row\">\(Self.link(entity.name, object.key, "\(object.key)"))</th>"
            let cells: [HTML] = columns.map { column in
                let value = object.value(of: column.name) ?? .null
                return "<td>\(cell(value, column, of: entity.name, reader))</td>"
            }
            return "\(key)\(cells)"
        }
        var result: HTML =
            rows.isEmpty ? "<p>No object was found.</p>" : table("Objects of \(entity.name)", heads, rows)
        var links: [HTML] = []
        if !isFirst {
            let first = address("/objects", ["entity": entity.name, "find": text, "where": format])
            links.append("<a href=\"\(first)\">First page</a>")
        }
        if let next = page.next {
            let more = address(
                "/objects", ["entity": entity.name, "find": text, "where": format, "after": String(next)])
            let label = page.objects.count < 50 ? "Continue searching" : "Next page"
            links.append("<a rel=\"next\" href=\"\(more)\">\(label)</a>")
            if page.objects.count < 50 { result = "\(result)<p>Read up to key \(next).</p>" }
        }
        return "\(result)<p class=\"pages\">\(links)</p>"
    }

    /// Returns the predicate for a user's search; nil for all objects.
    private func predicate(
        finding text: String, matching format: String, of name: String, _ reader: ObjectReader
    ) throws -> MoultModel.Predicate? {
        var parts: [MoultModel.Predicate] = []
        if !format.isEmpty { parts.append(try MoultModel.Predicate(parsing: format)) }
        if !text.isEmpty, let model = reader.contents.layout?.model, let entity = model.entity(name) {
            let any: [MoultModel.Predicate] = model.storedAttributes(of: entity).compactMap { stored in
                let path = Expression.keyPath(stored.name)
                switch stored.description.type {
                case .string:
                    return .comparison(
                        .init(
                            path, .contains, .constant(.string(text)),
                            options: [.caseInsensitive, .diacriticInsensitive]))
                case .integer16, .integer32, .integer64:
                    return Int64(text).map { .comparison(.init(path, .equal, .constant(.integer($0)))) }
                default: return nil
                }
            }
            parts.append(any.isEmpty ? .constant(false) : .or(any))
        }
        return parts.isEmpty ? nil : parts.count == 1 ? parts[0] : .and(parts)
    }

    // MARK: - One object

    /// Returns the page of an object, with its values and the objects that it is linked to.
    func objectPage(_ request: Request) throws -> HTML {
        let name = request.query["entity"] ?? ""
        let key = request.query["key"].flatMap { Int64($0) } ?? 0
        return try read { reader in
            guard let (entity, object) = try reader.object(key, of: try reader.entity(name)) else {
                throw MigrationError(
                    .usage, "\(name) has no object with the key \(key).", place: name,
                    remedy: "Go back to its list: the object may have been deleted.")
            }
            let rows: [HTML] = object.columns.filter { !["Z_PK", "entity"].contains($0.name) }.map { column in
                let value = object.value(of: column.name) ?? .null
                return """
                    <th scope="row"><bdi>\(column.name)</bdi> <small>\(column.meaning)</small></th>\
                    <td>\(cell(value, column, of: entity.name, reader, isWhole: true))</td>
                    """
            }
            let lists: [HTML] = try reader.joins(of: entity.name).map { join in
                let links = try reader.links(join, of: key, limit: 20)
                let more: HTML =
                    links.next == nil
                    ? ""
                    : """
                    <p><a href="\(Self.links(entity.name, key, join.relationship, links.next))">More</a></p>
                    """
                return """
                    <h2><bdi>\(join.relationship)</bdi> <small>to-many <bdi>\(join.destination)</bdi></small></h2>
                    \(try list(links, to: join.destination, reader))\(more)
                    """
            }
            return page(
                "\(entity.name) \(key)", at: .store,
                """
                <p class="trail"><a href="/">Store</a> › <a href="\(Self.objects(entity.name))">\
                <bdi>\(entity.name)</bdi></a></p>
                <h1><bdi>\(entity.name)</bdi> \(key)</h1>
                \(table("Values", ["Property", "Value"], rows))
                \(lists)
                """)
        }
    }

    /// Returns a page with further destinations of a to-many relationship.
    func linksPage(_ request: Request) throws -> HTML {
        let (name, relationship) = (request.query["entity"] ?? "", request.query["relationship"] ?? "")
        let key = request.query["key"].flatMap { Int64($0) } ?? 0
        return try read { reader in
            guard let join = reader.joins(of: name).first(where: { $0.relationship == relationship }) else {
                throw MigrationError(
                    .usage, "\(name) has no to-many relationship \(relationship).", place: name,
                    remedy: "Go back to the object.")
            }
            var position: ObjectReader.Position?
            if let after = request.query["after"].flatMap({ Int64($0) }) {
                position = .init(order: request.query["order"].flatMap { Int64($0) } ?? 0, key: after)
            }
            let links = try reader.links(join, of: key, after: position)
            let more: HTML =
                links.next == nil
                ? "" : "<a rel=\"next\" href=\"\(Self.links(name, key, relationship, links.next))\">Next page</a>"
            return page(
                "\(name) \(key) \(relationship)", at: .store,
                """
                <p class="trail"><a href="/">Store</a> › <a href="\(Self.objects(name))"><bdi>\(name)</bdi></a> › \
                \(Self.link(name, key, "\(key)"))</p>
                <h1><bdi>\(relationship)</bdi> <small>of \(name) \(key)</small></h1>
                \(try list(links, to: join.destination, reader))<p class="pages">\(more)</p>
                """)
        }
    }

    private func list(_ links: ObjectReader.Links, to entity: String, _ reader: ObjectReader) throws -> HTML {
        guard !links.keys.isEmpty else { return "<p>None.</p>" }
        let labels = try reader.labels(of: entity, keys: links.keys)
        let items: [HTML] = links.keys.map { key in
            let label: HTML = labels[key].map { " <bdi>\($0)</bdi>" } ?? ""
            return "<li>\(Self.link(entity, key, "\(key)"))\(label)</li>"
        }
        return "<ul class=\"links\">\(items)</ul>"
    }

    private static func link(_ entity: String, _ key: Int64, _ words: HTML) -> HTML {
        "<a href=\"\(address("/object", ["entity": entity, "key": String(key)]))\">\(words)</a>"
    }

    private static func links(
        _ entity: String, _ key: Int64, _ relationship: String, _ position: ObjectReader.Position?
    ) -> String {
        address(
            "/links",
            [
                "entity": entity, "key": String(key), "relationship": relationship,
                "after": position.map { String($0.key) } ?? "", "order": position.map { String($0.order) } ?? "",
            ])
    }

    // MARK: - Values

    /// Returns the value in the form of its type, shortened for a table.
    private func cell(
        _ value: SQLiteValue, _ column: EntityContents.Column, of entity: String, _ reader: ObjectReader,
        isWhole: Bool = false
    ) -> HTML {
        switch value {
        case .null: return "<span class=\"null\">NULL</span>"
        case .integer(let number):
            if let destination = reader.destination(of: column, in: entity) {
                return Self.link(destination, number, "\(destination) \(number)")
            }
            if case .attribute(_, .boolean, _) = column.source, number == 0 || number == 1 {
                return number == 1 ? "true" : "false"
            }
            return "\(String(number))"
        case .real(let number): return "\(number.description)"
        case .text(let text):
            if case .attribute(_, .date, _) = column.source {
                return isWhole ? "\(text)" : "<span class=\"one-line\">\(text.toMilliseconds)</span>"
            }
            return "<bdi class=\"text\">\(text.cut(at: isWhole ? 20_000 : 120))</bdi>"
        case .blob(let bytes):
            let hex = bytes.prefix(isWhole ? 64 : 8).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined()
            let end = bytes.count > (isWhole ? 64 : 8) ? "…" : ""
            return isWhole
                ? "<code>\(hex)\(end)</code> \(Quantity.bytes(bytes.count))"
                : "<span class=\"one-line\"><code>\(hex)\(end)</code> \(Quantity.bytes(bytes.count))</span>"
        }
    }
}

extension EntityContents.Column {
    /// Whether the values are binary. A list shows such columns last.
    fileprivate var isBytes: Bool {
        guard case .attribute(_, let type, _) = source else { return false }
        return type == .binary || type == .transformable
    }

    /// The name of the type, for the head of a table.
    fileprivate var type: String {
        switch source {
        case .attribute(_, let type, _): type.name
        case .toOne: "to-one"
        case .key, .entity, .toOneEntity, .raw: ""
        }
    }
}

extension String {
    /// The text with milliseconds if it is a date with nanoseconds. A date that would round up to the next second, and
    /// any other text, are unchanged.
    fileprivate var toMilliseconds: String {
        let parts = split(separator: ".")
        guard parts.count == 2, parts[1].count == 10, let nanoseconds = Int(parts[1].dropLast()),
            nanoseconds < 999_500_000
        else { return self }
        let digits = String((nanoseconds + 500_000) / 1_000_000)
        return parts[0] + "." + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }

    /// Returns the first characters, with the size of the rest.
    fileprivate func cut(at limit: Int) -> String {
        guard utf8.count > limit else { return self }
        let start = prefix(limit)
        let rest = utf8.count - start.utf8.count
        return rest == 0 ? self : "\(start)… (\(Quantity.bytes(rest)) more)"
    }
}
