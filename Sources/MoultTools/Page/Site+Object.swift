import Moult
import MoultBasics
import MoultModel
import MoultSQLite

extension Site {
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
            let columns = ListQuery.choices(of: entity)
            let empty = columns.filter { (object.value(of: $0.name) ?? .null) == .null }.map(\.name)
            let labels = try toOneLabels(of: [object], columns, entity.name, reader)
            let rows: [HTML] = try columns.filter { !empty.contains($0.name) }.map { column in
                let value = object.value(of: column.name) ?? .null
                let words = try cell(
                    value, column, of: entity.name, key, reader, labels[column.name] ?? [:], isWhole: true)
                return """
                    <th scope="row"><bdi>\(column.name)</bdi> <small>\(reader.kind(of: column, in: entity.name))</small></th>\
                    <td class="value">\(words)</td>
                    """
            }
            let values: HTML = rows.isEmpty ? "" : table("Values", ["Property", "Value"], rows)
            let nils: HTML =
                empty.isEmpty ? "" : "<p id=\"nil\">nil: \(empty.map { "<bdi>\($0)</bdi> " as HTML })</p>"
            let label = try reader.labels(of: entity.name, keys: [key])[key]?.text
            let lists: [HTML] = try reader.joins(of: entity.name).map { join in
                let links = try reader.links(join, of: key, limit: 20)
                let more: HTML =
                    links.next.map { next in
                        "<p><a href=\"\(Self.links(entity.name, key, join.relationship, .after(next)))\">More</a></p>"
                    } ?? ""
                return """
                    <h2><bdi>\(join.relationship)</bdi> <small>to-many <bdi>\(join.destination)</bdi></small></h2>
                    \(try list(links, to: join.destination, reader))\(more)
                    """
            }
            return page(
                "\(label ?? entity.name) \(key)", at: .store,
                """
                <p class="trail"><a href="/">Store</a> › <a href="\(Self.objects(entity.name))">\
                <bdi>\(entity.name)</bdi></a></p>
                <h1><bdi>\(entity.name)</bdi> \(key)</h1>\(label.map { "<p class=\"label\"><bdi>\($0)</bdi></p>" })
                \(values)\(nils)
                \(lists)
                <p class="hint">objectID <code>\(reader.uri(of: key, entity.name))</code></p>
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
            let order = request.query["order"].flatMap { Int64($0) } ?? 0
            let asked = PagePlace(request) { ObjectReader.Position(order: order, key: $0) }
            let (place, links) = try filled(asked) {
                try reader.links(join, of: key, at: $0, limit: Self.pageSize)
            } isFirst: {
                $0.previous == nil
            }
            let others = pageLinks(at: place, links.previous, links.next) { Self.links(name, key, relationship, $0) }
            return page(
                "\(name) \(key) \(relationship)", at: .store,
                """
                <p class="trail"><a href="/">Store</a> › <a href="\(Self.objects(name))"><bdi>\(name)</bdi></a> › \
                \(Self.link(name, key, "\(key)"))</p>
                <h1><bdi>\(relationship)</bdi> <small>of \(name) \(key)</small></h1>
                \(try list(links, to: join.destination, reader))\(others)
                """)
        }
    }

    private func list(_ links: ObjectReader.Links, to entity: String, _ reader: ObjectReader) throws -> HTML {
        guard !links.keys.isEmpty else { return "<p>None.</p>" }
        let labels = try reader.labels(of: entity, keys: links.keys)
        let items: [HTML] = links.keys.map { key in
            let label: HTML = labels[key]?.text.map { " <bdi>\($0)</bdi>" } ?? ""
            return "<li>\(Self.link(labels[key]?.entity ?? entity, key, "\(key)"))\(label)</li>"
        }
        return "<ul class=\"links\">\(items)</ul>"
    }

    private static func links(
        _ entity: String, _ key: Int64, _ relationship: String, _ place: PagePlace<ObjectReader.Position>
    ) -> String {
        let fields = place.fields { [($0, String($1.key)), ("order", String($1.order))] }
        return address("/links", [("entity", entity), ("key", String(key)), ("relationship", relationship)] + fields)
    }
}

extension ObjectReader {
    /// The words for a property in Core Data's terms: its type, and whether it is optional.
    fileprivate func kind(of column: EntityContents.Column, in name: String) -> String {
        let (model, property) = (contents.layout?.model, column.property ?? column.name)
        guard let model, let entity = model.entity(name) else { return column.meaning }
        switch column.source {
        case .attribute(_, let type, let isExternal):
            let isOptional = model.attribute(property, of: entity)?.isOptional ?? false
            return (isOptional ? "optional " : "") + type.name + (isExternal ? ", external storage allowed" : "")
        case .toOne:
            guard let relationship = model.relationship(property, of: entity) else { return "to-one" }
            return (relationship.isOptional ? "optional " : "") + "to-one \(relationship.destinationEntityName)"
        case .key, .entity, .toOneEntity, .raw: return column.meaning
        }
    }

    /// The URI of an object's identity, as Core Data writes it.
    fileprivate func uri(of key: Int64, _ entity: String) -> String {
        ObjectID(store: uuid, entityName: entity, key: key).description
    }
}
