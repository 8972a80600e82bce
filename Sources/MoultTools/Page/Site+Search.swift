import MoultBasics
import MoultModel

extension Site {
    /// Returns the form that chooses the objects and the columns of a list. It works without a script.
    func searchForm(_ query: ListQuery, _ entity: EntityContents, _ reader: ObjectReader) -> HTML {
        let hasModel = reader.contents.layout != nil
        let hidden: [HTML] = ([("entity", query.entity)] + query.orderFields).map {
            "<input type=\"hidden\" name=\"\($0.0)\" value=\"\($0.1)\">"
        }
        let find: HTML =
            !hasModel
            ? ""
            : """
            <label for="find">Find a text or a number</label>
            <input id="find" type="search" name="find" value="\(query.find)">
            \(filterFields(query, entity))
            <details\(query.format.isEmpty ? "" : " open")><summary>By a predicate</summary>
            <label for="where">Predicate, in Core Data's format</label>
            <input id="where" name="where" value="\(query.format)" placeholder="name BEGINSWITH 'A'"></details>
            """
        let hint: HTML =
            hasModel
            ? ""
            : "<p class=\"hint\">The store has no model that can be read: search it with <a href=\"/sql\">SQL</a>.</p>"
        return """
            <form method="get" action="/objects" role="search">\(hidden)
            \(find)\(columnFields(query, entity))
            <button>\(hasModel ? "Find" : "Show")</button></form>\(hint)
            """
    }

    /// Returns the fields of the filters, and those of one more.
    private func filterFields(_ query: ListQuery, _ entity: EntityContents) -> HTML {
        let names = entity.columns.filter(ColumnFilter.applies).map(\.name)
        guard !names.isEmpty else { return "" }
        let rows: [HTML] = (query.filters.map { Optional($0) } + [nil]).enumerated().map { place, filter in
            let columns: [HTML] = ([""] + names).map { Self.option($0, $0.isEmpty ? "–" : $0, filter?.column ?? "") }
            let operators: [HTML] = ColumnFilter.Operator.allCases.map {
                Self.option($0.rawValue, $0.words, filter?.operator.rawValue ?? "")
            }
            return """
                <div class="filter"><select name="on" aria-label="Property of filter \(place + 1)">\(columns)</select>
                <select name="is" aria-label="Operator of filter \(place + 1)">\(operators)</select>
                <input name="value" value="\(filter?.value ?? "")" aria-label="Value of filter \(place + 1)"></div>
                """
        }
        return """
            <details\(query.filters.isEmpty ? "" : " open")><summary>Filter by property</summary>\(rows)</details>
            """
    }

    /// Returns the boxes of the columns, all of them off until columns are chosen.
    private func columnFields(_ query: ListQuery, _ entity: EntityContents) -> HTML {
        let chosen = Set(query.columns)
        let boxes: [HTML] = ListQuery.choices(of: entity).map { column in
            let state: HTML = chosen.contains(column.name) ? " checked" : ""
            return """
                <label><input type="checkbox" name="column" value="\(column.name)"\(state)> <bdi>\(column.name)</bdi></label>
                """
        }
        guard !boxes.isEmpty else { return "" }
        let state: HTML = query.showsEmpty ? " checked" : ""
        return """
            <details\(chosen.isEmpty ? "" : " open")><summary>Columns</summary>
            <fieldset><legend>Only these; all if none is chosen</legend>\(boxes)</fieldset>
            <label><input type="checkbox" name="empty" value="show"\(state)> Show columns that are empty on a page</label>
            </details>
            """
    }

    /// Returns the filters of a list, each with a link that removes it.
    func filterList(_ query: ListQuery) -> HTML {
        guard !query.filters.isEmpty else { return "" }
        let items: [HTML] = query.filters.indices.map { place in
            let rest = query.with { _ = $0.filters.remove(at: place) }
            let sentence = query.filters[place].sentence
            return """
                <li><bdi>\(sentence)</bdi> <a href="\(rest.address())" aria-label="Remove the filter: \(sentence)">×</a></li>
                """
        }
        return "<ul class=\"filters\" aria-label=\"Filters\">\(items)</ul>"
    }

    /// Returns the form that chooses the attribute by which links name the objects of an entity.
    func labelForm(_ entity: String, _ reader: ObjectReader) -> HTML {
        let choices = reader.labelChoices(of: entity)
        guard !choices.isEmpty else { return "" }
        let automatic = reader.contents.whole(entity)?.automaticLabel?.name
        let chosen = reader.labels[entity] ?? "-"
        let options: [HTML] =
            [Self.option("-", "chosen by itself: \(automatic ?? "the key")", chosen)]
            + choices.map { Self.option($0.name, $0.name, chosen) } + [Self.option("", "the key", chosen)]
        return """
            <details class="names"><summary>Names in links</summary>\
            \(form("/label", ["entity": entity], button: "Use", """
                <label for="label">Links name the objects of \(entity) by</label> \
                <select id="label" name="label">\(options)</select>
                """))</details>
            """
    }

    private static func option(_ value: String, _ words: String, _ chosen: String) -> HTML {
        "<option value=\"\(value)\"\(value == chosen ? " selected" : "")>\(words)</option>"
    }
}
