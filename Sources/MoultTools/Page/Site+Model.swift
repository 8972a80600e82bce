import Moult
import MoultBasics
import MoultModel
import MoultPlan

extension Site {
    /// The address of a version of the model, with what it has changed.
    static func model(_ version: String) -> String { address("/model", ["version": version]) }

    /// Returns the page of the store's model, or of one of its versions, or of one entity and its neighbours, as a
    /// picture and as text.
    func modelPage(_ request: Request) throws -> HTML {
        guard let shown = try shownModel(request) else {
            return page("Model", at: .model, "<h1>Model</h1><p>The store has no model that can be read.</p>")
        }
        let chosen = request.query["entity"]
        let entities = chosen.flatMap { shown.model.entity($0) }.map { [$0] } ?? shown.model.entities
        let links: [HTML] = shown.model.entities.map { entity in
            "<li><a href=\"\(shown.address(of: entity.name))\"><bdi>\(entity.name)</bdi></a></li>"
        }
        let trail: HTML =
            chosen.map { _ in "<p class=\"trail\"><a href=\"\(shown.address(of: nil))\">Model</a></p>" } ?? ""
        return page(
            "Model", at: .model,
            """
            \(trail)<h1>\(chosen ?? "Model")</h1>
            \(slider(shown, chosen))
            <div id="picture">\(figure(shown.picture(of: chosen), "The entities with their attributes and relationships. The text below says the same."))</div>
            <div id="text"><nav aria-label="Entities"><ul class="entities">\(links)</ul></nav>
            \(entities.map { section($0, shown) })</div>
            """)
    }

    /// Returns a picture in a frame of its own, in which it can be moved and zoomed.
    func figure(_ source: String, _ words: String) -> HTML {
        """
        <figure class="picture" data-source="\(source)" role="region" aria-label="Picture" tabindex="0">\
        <img src="\(source)" alt="\(words)"></figure>\(PictureViewer.signs)
        """
    }

    /// Returns a slider over the versions of the model, with what the shown one has changed.
    private func slider(_ shown: ShownModel, _ chosen: String?) -> HTML {
        guard shown.versions.count > 1, let place = shown.place else { return "" }
        let name = shown.versions[place]
        let change: HTML =
            shown.older.map { "<bdi>\(name)</bdi>, with what has changed since <bdi>\($0)</bdi>" }
            ?? "<bdi>\(name)</bdi>"
        let entity: HTML = chosen.map { "<input type=\"hidden\" name=\"entity\" value=\"\($0)\">" } ?? ""
        let fields: KeyValuePairs<String, String> = chosen.map { ["entity": $0, "place": ""] } ?? ["place": ""]
        return """
            <form class="version" method="get" action="/model"><label for="place">Version</label> \
            <input type="range" id="place" name="place" min="0" max="\(shown.versions.count - 1)" value="\(place)" \
            aria-valuetext="\(name)" data-address="\(address("/model", fields))" \
            data-names="\(shown.versions.joined(separator: "\n"))">\(entity) <button>Show</button> \
            <output id="version" for="place">\(change)</output></form>
            """
    }

    private func section(_ entity: EntityDescription, _ shown: ShownModel) -> HTML {
        let attributes: [HTML] = entity.attributes.map { attribute in
            """
            <th scope="row"><bdi>\(attribute.name)</bdi></th><td>\(attribute.type.name)</td>\
            <td>\(attribute.isOptional ? "yes" : "no")</td>
            """
        }
        let relationships: [HTML] = entity.relationships.map { relationship in
            let kind = relationship.isToMany ? relationship.isOrdered ? "to-many, ordered" : "to-many" : "to-one"
            return """
                <th scope="row"><bdi>\(relationship.name)</bdi></th><td>\(kind) \
                <a href="\(shown.address(of: relationship.destinationEntityName))">\
                <bdi>\(relationship.destinationEntityName)</bdi></a></td>\
                <td>\(relationship.isOptional ? "yes" : "no")</td>
                """
        }
        let parent: HTML = entity.superentityName.map { "<p>A kind of <bdi>\($0)</bdi>.</p>" } ?? ""
        // Only an entity of the store has objects in it.
        let name: HTML =
            shown.version == nil
            ? "<a href=\"\(Self.objects(entity.name))\"><bdi>\(entity.name)</bdi></a>" : "<bdi>\(entity.name)</bdi>"
        return """
            <h2>\(name)</h2>\(parent)
            \(table(entity.name, ["Property", "Type", "Optional"], attributes + relationships))
            """
    }

    // MARK: - What is shown

    /// The model on the page: the store's, or that of a version.
    private struct ShownModel {
        var model: ManagedObjectModel
        /// The version that was asked for; nil for the store's model.
        var version: String?
        /// The version that it is compared with; nil for none.
        var older: String?
        /// The names of the model's versions, oldest first.
        var versions: [String]
        /// The place of the shown version among them; nil if it is none of them.
        var place: Int?

        func address(of entity: String?) -> String { MoultTools.address("/model", fields(entity)) }

        func picture(of entity: String?) -> String {
            MoultTools.address("/picture.svg", [("kind", version == nil ? "model" : "version")] + fields(entity))
        }

        private func fields(_ entity: String?) -> [(String, String)] {
            [("entity", entity), ("version", version), ("from", older)].compactMap { name, value in
                value.map { (name, $0) }
            }
        }
    }

    /// Returns the model that a request names by `version`, or by its `place` among the versions; otherwise the
    /// store's. A version is compared with `from`, or with the one before it.
    private func shownModel(_ request: Request) throws -> ShownModel? {
        let versions = settings.models == nil ? ModelVersions(versions: []) : try project().versions
        let names = versions.versions.map(\.name)
        let asked = request.query["version"].map { name in versions.position(named: name) }
        let numbered = request.query["place"].map { Int($0).flatMap { names.indices.contains($0) ? $0 : nil } }
        guard let place = asked ?? numbered else {
            return try read { reader in
                guard let layout = reader.contents.layout else { return nil }
                let hashes = VersionHashes(of: layout.model)
                let own = versions.versions.firstIndex { $0.hashes.isCompatible(with: hashes) }
                return ShownModel(model: layout.model, versions: names, place: own)
            }
        }
        guard let place else { throw Self.noVersion(names) }
        let older = try request.query["from"].map { name in
            guard let position = versions.position(named: name) else { throw Self.noVersion(names) }
            return names[position]
        }
        return ShownModel(
            model: versions.versions[place].model, version: names[place],
            older: older ?? (place > 0 ? names[place - 1] : nil), versions: names, place: place)
    }

    private static func noVersion(_ names: [String]) -> MigrationError {
        MigrationError(
            .usage, "The model has no such version.", remedy: "Its versions are: \(names.joined(separator: ", ")).")
    }

    /// Returns a picture drawn by Graphviz: the store's model, a version of it, or the differences between two.
    func picture(_ request: Request) throws -> Response {
        let entity = request.query["entity"]
        let choice = entity.map { Diagram.EntityChoice.around([$0], depth: 1) } ?? .all
        var diagram: Diagram
        var fields: [(String, String)] = []
        switch request.query["kind"] {
        case "difference", "version":
            let project = try project()
            func version(_ name: String) -> ModelVersion? {
                project.versions.position(named: name).map { project.versions.versions[$0].named(name) }
            }
            let isWhole = request.query["kind"] == "version"
            let newer = (request.query[isWhole ? "version" : "to"]).flatMap(version)
            guard let newer else { throw Self.noVersion(project.versions.versions.map(\.name)) }
            fields = [("version", newer.name)]
            if let older = request.query["from"].flatMap(version) {
                diagram = try Diagram(
                    from: older, to: newer, answers: project.answers, choice: choice, showsUnchanged: isWhole)
                fields.append(("from", older.name))
            } else {
                guard isWhole else { throw Self.noVersion(project.versions.versions.map(\.name)) }
                diagram = try Diagram(newer.model, title: newer.name, choice: choice)
            }
        default:
            diagram = try read { reader in
                guard let model = reader.contents.layout?.model else {
                    throw MigrationError(
                        .modelNotFound, "The store has no readable model.", remedy: "Name one: --model.")
                }
                return try Diagram(model, title: entity ?? "", choice: choice)
            }
        }
        for place in diagram.boxes.indices {
            let title = diagram.boxes[place].title
            if diagram.boxes[place].mark != .removed {
                diagram.boxes[place].address = address("/model", [("entity", title)] + fields)
            }
        }
        if let entity {
            diagram = diagram.condensed(around: [entity])
        } else if diagram.isLarge {
            diagram = diagram.overview
        }
        return Response(200, type: "image/svg+xml", try svg(diagram))
    }
}
