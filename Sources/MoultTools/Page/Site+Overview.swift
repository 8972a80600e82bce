import Moult
import MoultBasics
import MoultModel
import MoultPlan

extension Site {
    /// Returns the page of the store: its facts, its state relative to the model, and its entities.
    func overview() async throws -> HTML {
        let path = settings.store
        let status = try await project().status(of: path)
        let size = try system.status(of: path)?.size ?? 0
        let state: HTML =
            switch status.state {
            case .current: "The store is of the newest version."
            case .behind:
                """
                The store is \(Quantity.count(status.versionsBehind ?? 0, "version")) behind \
                <bdi>\(status.target ?? "")</bdi>. <a href="/plan">See the plan</a>
                """
            case .ahead: "The store is of a later version than <bdi>\(status.target ?? "")</bdi>."
            case .unknown where settings.models == nil: "No model was named, and the store has none that can be read."
            case .unknown: "The store is of none of the model's versions."
            case .notCoreData: "The file is not a store of Core Data or SwiftData."
            }
        let pending: HTML =
            status.pendingWork.isEmpty
            ? "" : "<p class=\"warning\">To be continued: \(status.pendingWork.joined(separator: ", ")).</p>"
        let noticed = status.findings.filter { $0.severity > .note }
        let findings: HTML = noticed.isEmpty ? "" : "<h2>Findings</h2>\(list(noticed))"
        return page(
            "Store", at: .store,
            """
            <h1>\(Path.name(of: path))</h1>
            \(facts([("Path", "<code>\(path)</code>"), ("Size", "\(Quantity.bytes(Int(size)))"), ("Version", "<bdi>\(status.version ?? "unknown")</bdi>")]))
            <p>\(state)</p>\(pending)
            \(versions(status))
            <h2>Entities</h2>
            \(try entities())
            \(findings)
            """)
    }

    /// Returns the versions from the store's to the newest.
    private func versions(_ status: StoreStatus) -> HTML {
        guard status.versionNames.count > 1 else { return "" }
        let items: [HTML] = status.versionNames.map { name in
            if name == status.version { return "<li aria-current=\"step\"><bdi>\(name)</bdi> (the store)</li>" }
            return name == status.target ? "<li><bdi>\(name)</bdi> (current)</li>" : "<li><bdi>\(name)</bdi></li>"
        }
        return "<ol class=\"versions\" aria-label=\"Versions, oldest first\">\(items)</ol>"
    }

    private func entities() throws -> HTML {
        try read { reader in
            let counts = try reader.counts()
            let parents = reader.contents.entities.map {
                reader.contents.layout?.model.entity($0.name)?.superentityName
            }
            let hasParents = parents.contains { $0 != nil }
            let rows: [HTML] = try zip(reader.contents.entities, parents).map { entity, parent in
                let many = try reader.highestKey(of: entity).map { "at most \(Quantity.count($0))" } ?? "0"
                let count = counts[entity.name].map { Quantity.count($0) } ?? many
                let kind: HTML = hasParents ? "<td><bdi>\(parent ?? "")</bdi></td>" : ""
                return """
                    <th scope="row"><a href="\(Self.objects(entity.name))"><bdi>\(entity.name)</bdi></a></th>\
                    <td class="number">\(count)</td>\(kind)
                    """
            }
            guard !rows.isEmpty else { return "<p>The store has no entities.</p>" }
            return table("Entities", ["Entity", "Objects"] + (hasParents ? ["Parent"] : []), rows)
        }
    }

    static func objects(_ entity: String) -> String { address("/objects", ["entity": entity]) }

    // MARK: - The model

    /// Returns the page of the store's model, or of one entity and its neighbours, as a picture and as text.
    func modelPage(_ request: Request) throws -> HTML {
        let chosen = request.query["entity"]
        return try read { reader in
            guard let model = reader.contents.layout?.model else {
                return page("Model", at: .model, "<h1>Model</h1><p>The store has no model that can be read.</p>")
            }
            let names = model.entities.map(\.name)
            let shown = chosen.flatMap { model.entity($0) }.map { [$0] } ?? model.entities
            let source = chosen.map { address("/picture.svg", ["kind": "model", "entity": $0]) }
            let links: [HTML] = names.map { name in
                "<li><a href=\"\(address("/model", ["entity": name]))\"><bdi>\(name)</bdi></a></li>"
            }
            return page(
                "Model", at: .model,
                """
                <h1>\(chosen ?? "Model")</h1>
                \(figure(source ?? address("/picture.svg", ["kind": "model"]), "The entities with their attributes and relationships. The text below says the same."))
                <nav aria-label="Entities"><ul class="entities">\(links)</ul></nav>
                \(shown.map { section($0, model) })
                """)
        }
    }

    func figure(_ source: String, _ words: String) -> HTML {
        """
        <figure class="scroll" role="region" aria-label="Picture" tabindex="0">\
        <img src="\(source)" alt="\(words)"></figure>
        """
    }

    private func section(_ entity: EntityDescription, _ model: ManagedObjectModel) -> HTML {
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
                <a href="\(address("/model", ["entity": relationship.destinationEntityName]))">\
                <bdi>\(relationship.destinationEntityName)</bdi></a></td>\
                <td>\(relationship.isOptional ? "yes" : "no")</td>
                """
        }
        let parent: HTML = entity.superentityName.map { "<p>A kind of <bdi>\($0)</bdi>.</p>" } ?? ""
        return """
            <h2><a href="\(Self.objects(entity.name))"><bdi>\(entity.name)</bdi></a></h2>\(parent)
            \(table(entity.name, ["Property", "Type", "Optional"], attributes + relationships))
            """
    }

    /// Returns a picture drawn by Graphviz: the store's model, or its differences from the target version.
    func picture(_ request: Request) throws -> Response {
        let diagram: Diagram
        if request.query["kind"] == "difference" {
            let project = try project()
            func version(_ name: String) -> ModelVersion? {
                project.versions.position(named: name).map { project.versions.versions[$0].named(name) }
            }
            guard let older = request.query["from"].flatMap(version), let newer = request.query["to"].flatMap(version)
            else { throw MigrationError(.usage, "The model has no such versions.", remedy: "Load the plan again.") }
            diagram = try Diagram(
                from: older, to: newer, try ModelDiff(from: older, to: newer, answers: project.answers))
        } else {
            let choice = request.query["entity"].map { Diagram.EntityChoice.around([$0], depth: 1) } ?? .all
            diagram = try read { reader in
                guard let model = reader.contents.layout?.model else {
                    throw MigrationError(
                        .modelNotFound, "The store has no readable model.", remedy: "Name one: --model.")
                }
                return try Diagram(model, title: request.query["entity"] ?? "", choice: choice)
            }
        }
        return Response(200, type: "image/svg+xml", try svg(diagram))
    }
}
