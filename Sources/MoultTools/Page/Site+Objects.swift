import Moult
import MoultBasics
import MoultModel
import MoultSQLite

extension Site {
    /// The time limit of a search before it shows its results so far, in nanoseconds.
    private static let searchTime: UInt64 = 1_000_000_000
    /// The number of objects of a page.
    static let pageSize = 50

    /// Returns a page with objects of an entity, including those of its sub-entities.
    func objectsPage(_ request: Request) throws -> HTML {
        let query = try ListQuery(request)
        let place = PagePlace(request) { $0 }
        return try read { reader in
            let entity = try reader.entity(query.entity)
            let found: HTML
            do {
                found = try self.found(query, entity, at: place, reader)
            } catch let error as MigrationError
                where [.invalidPredicate, .fetchUnsupported, .modelNotFound, .usage].contains(error.code)
            {
                found = errorWords(error)
            }
            let model = reader.contents.layout?.model
            let children: [HTML] = (model?.entity(query.entity).map { model?.subentities(of: $0) ?? [] } ?? []).map {
                "<li><a href=\"\(Self.objects($0.name))\"><bdi>\($0.name)</bdi></a></li>"
            }
            let kinds: HTML =
                children.isEmpty
                ? "" : "<nav aria-label=\"Sub-entities\"><ul class=\"entities\">\(children)</ul></nav>"
            return page(
                query.entity, at: .store,
                """
                <p class="trail"><a href="/">Store</a></p>
                <h1><bdi>\(query.entity)</bdi></h1>\(kinds)
                \(searchForm(query, entity, reader))
                \(found)
                \(model == nil ? "" : labelForm(query.entity, reader))
                """)
        }
    }

    private func found(
        _ query: ListQuery, _ entity: EntityContents, at place: PagePlace<Int64>, _ reader: ObjectReader
    ) throws -> HTML {
        let predicate = try query.predicate(reader)
        func read(_ place: PagePlace<Int64>) throws -> ObjectReader.Page {
            if let order = query.order {
                return try reader.page(of: entity, in: order, at: place, matching: predicate, limit: Self.pageSize)
            }
            let start = system.monotonicNanoseconds
            return try reader.page(of: entity, at: place, matching: predicate, limit: Self.pageSize) {
                system.monotonicNanoseconds - start > Self.searchTime
            }
        }
        let (place, page) = try filled(place, read) { $0.previous == nil }
        let shown = try query.shown(of: entity)
        let isEmpty = Set(
            shown.filter { column in page.objects.allSatisfy { ($0.value(of: column.name) ?? .null) == .null } }
                .map(\.name))
        // A column that a person has named is shown whatever it holds.
        let named = Set(query.columns + query.filters.map(\.column) + (query.order.map { [$0.column] } ?? []))
        let hidden = query.showsEmpty || page.objects.isEmpty ? [] : isEmpty.subtracting(named)
        let columns = shown.filter { !hidden.contains($0.name) }
        let note: HTML =
            hidden.isEmpty
            ? ""
            : """
            <p class="hint">Hidden, because they are empty on this page: \
            \(shown.filter { hidden.contains($0.name) }.map(\.name).joined(separator: ", ")). \
            <a href="\(query.with { $0.showsEmpty = true }.address(at: place))">Show empty columns</a></p>
            """
        return """
            \(filterList(query))\(try countLine(query, entity, predicate, reader))
            \(page.objects.isEmpty ? "<p>No object was found.</p>" : try objectTable(page, query, entity, columns, reader))
            \(note)\(pageLinks(page, query, at: place))
            """
    }

    private func objectTable(
        _ page: ObjectReader.Page, _ query: ListQuery, _ entity: EntityContents, _ columns: [EntityContents.Column],
        _ reader: ObjectReader
    ) throws -> HTML {
        let order = query.order ?? ObjectOrder("Z_PK")
        func head(_ name: String, _ words: HTML, _ type: String, _ isSortable: Bool) -> HTML {
            let small: HTML = type.isEmpty ? "" : " <small>\(type)</small>"
            guard isSortable else { return "<bdi>\(words)</bdi>\(small)" }
            let sign: HTML =
                order.column != name
                ? "" : " <span aria-hidden=\"true\">\(order.isDescending ? "▼" : "▲")</span>"
            return "<a href=\"\(query.sorted(by: name).address())\"><bdi>\(words)</bdi>\(sign)</a>\(small)"
        }
        func sorting(_ name: String) -> HTML {
            order.column != name
                ? "" : " aria-sort=\"\(order.isDescending ? "descending" : "ascending")\""
        }
        let heads =
            [head("Z_PK", "Key", "", true)]
            + columns.map { head($0.name, "\($0.name)", $0.type, reader.isSortable($0)) }
        let labels = try toOneLabels(of: page.objects, columns, entity.name, reader)
        let rows: [HTML] = try page.objects.map { object in
            let cells: [HTML] = try columns.map { column in
                let value = object.value(of: column.name) ?? .null
                return """
                    <td>\(try cell(value, column, of: entity.name, object.key, reader, labels[column.name] ?? [:]))</td>
                    """
            }
            return "<th scope=\"row\">\(Self.link(entity.name, object.key, "\(object.key)"))</th>\(cells)"
        }
        return table(
            "Objects of \(entity.name)", heads, rows, attributes: (["Z_PK"] + columns.map(\.name)).map(sorting))
    }

    /// Returns the names of the destinations that a list or an object leads to, by column and key.
    func toOneLabels(
        of objects: [ObjectReader.Object], _ columns: [EntityContents.Column], _ entity: String, _ reader: ObjectReader
    ) throws -> [String: [Int64: ObjectReader.Label]] {
        var labels: [String: [Int64: ObjectReader.Label]] = [:]
        for column in columns {
            guard let destination = reader.destination(of: column, in: entity) else { continue }
            let keys = objects.compactMap { $0.value(of: column.name)?.integer }
            labels[column.name] = try reader.labels(of: destination, keys: keys)
        }
        return labels
    }

    /// Returns how many objects match, and the links to them as files.
    private func countLine(
        _ query: ListQuery, _ entity: EntityContents, _ predicate: MoultModel.Predicate?, _ reader: ObjectReader
    ) throws -> HTML {
        let count = try reader.count(of: entity, matching: predicate, seconds: query.countsAll ? 60 : 0.5)
        let noun = query.isSelective ? "object matches" : "object"
        let words: HTML =
            if let count {
                "\(Quantity.count(count, noun, plural: query.isSelective ? "objects match" : "objects"))"
            } else if query.countsAll {
                "Counting takes more than a minute"
            } else {
                "Many objects · <a href=\"\(query.address())&amp;count=all\">Count them</a>"
            }
        return """
            <p class="count"><span role="status" id="count">\(words)</span> · \
            <a href="\(query.address("/objects.csv"))" download>CSV</a> · \
            <a href="\(query.address("/objects.jsonl"))" download>JSON Lines</a></p>
            """
    }

    private func pageLinks(_ page: ObjectReader.Page, _ query: ListQuery, at place: PagePlace<Int64>) -> HTML {
        let end = place.isBackward ? page.previous : page.next
        let isUnfinished = page.objects.count < Self.pageSize && end != nil
        let note: HTML =
            isUnfinished ? "<p>Read \(place.isBackward ? "down" : "up") to key \(end ?? 0).</p>" : ""
        let links = pageLinks(at: place, page.previous, page.next, isUnfinished: isUnfinished) { query.address(at: $0) }
        return "\(note)\(links)"
    }

    static func link(_ entity: String, _ key: Int64, _ words: HTML) -> HTML {
        "<a href=\"\(address("/object", ["entity": entity, "key": String(key)]))\">\(words)</a>"
    }
}
