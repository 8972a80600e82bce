import MoultModel
import MoultPlan
import MoultReport
import MoultStore

/// The reader of the output went away, as `| head` does.
private struct NoReader: Error {}

extension Verb {
    static let dump = Verb(
        "dump", "Print every object of a store with its values, ordered by entity and key.",
        discussion: """
            With --json, one object per line. Without --model, the model inside the store is used.
            """,
        operands: [.store], options: [.model, entity, withSubentities, .order],
        examples: [
            "moult dump forum.sqlite --entity User --json",
            "moult dump forum.sqlite --model Forum.xcdatamodeld --entity User --with-subentities",
        ]
    ) { invocation, console in
        let versions = try invocation.versionsIfKnown(console) ?? ModelVersions(versions: [])
        let probe = try StoreProbe(try invocation.required(Operand.store))
        defer { probe.close() }
        let style = console.output.style
        do {
            let layout = try layout(probe, versions)
            let reader = StoreReader(connection: probe.connection, layout: layout, store: probe.path)
            for entity in try entities(invocation, layout.model) {
                try reader.forEachObject(of: entity, includingSubentities: invocation[withSubentities]) { row in
                    console.isJSON ? console.line(row.document.compact) : console.lines(row.lines(style: style))
                    if console.outputError != nil { throw NoReader() }
                }
            }
        } catch is NoReader {
            return .done
        } catch {
            // What was read while somebody wrote says nothing of the store.
            try probe.checkUndisturbed()
            throw error
        }
        try probe.checkUndisturbed()
        return .done
    }

    private static let entity = Option.value("entity", "NAME", "Print only the objects of this entity.")
    private static let withSubentities = Option.flag("with-subentities", "Include the objects of its sub-entities.")

    private static func layout(_ probe: StoreProbe, _ versions: ModelVersions) throws -> StoreLayout {
        let snapshot = try StoreSnapshot(probe.connection)
        let recognition = try StoreRecognition(of: snapshot, in: versions)
        if !versions.versions.isEmpty, recognition.position == nil {
            throw MigrationError.storeUnknown(nearest: versions.nearest(to: snapshot.hashes))
        }
        guard let model = recognition.model else {
            throw MigrationError(
                .modelNotFound, "The store contains no readable model.", place: probe.path,
                remedy: "Name the model that made it: --model PATH.")
        }
        return try StoreLayout(actual: snapshot, model: model)
    }

    private static func entities(_ invocation: Invocation, _ model: ManagedObjectModel) throws -> [EntityDescription] {
        guard let name = invocation[value: entity] else { return model.entities }
        guard let entity = model.entity(name) else {
            let names = model.entities.map(\.name)
            let near = Suggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
            throw invocation.wrong("The model has no entity \(name).\(near)")
        }
        return [entity]
    }
}
