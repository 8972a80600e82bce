import MoultModel
import MoultModelFiles
import MoultPlan
import MoultReport
import MoultStore
import MoultSystem

extension Verb {
    static let inspect = Verb(
        "inspect", "Show a store: its version, entities with rows, framework, metadata.",
        discussion: """
            Of the app's own metadata only the keys are shown, unless you give --values.
            Without --model, the entities are those of the model inside the store.
            STORE may also be a mapping model (.xcmappingmodel, .cdm). Then inspect shows what it maps and, with
            --model, between which versions and what it omits.
            """,
        operands: [.store], options: [.model, values, .order],
        examples: ["moult inspect forum.sqlite", "moult inspect forum.sqlite --model Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        if MappingModelFile.isMappingModel(store) { return try inspect(mapping: store, invocation, console) }
        let versions = try versions(invocation, console)
        // Before any connection is open, whose locks reading the file would undo.
        let header = try? POSIXSystem().read(store, prefix: 100)
        let report = try StoreProbe.read(store) { probe in
            let snapshot = try StoreSnapshot(probe.connection, header: header)
            let recognition = try StoreRecognition(of: snapshot, in: versions)
            let counts = try snapshot.objectCounts(of: recognition.model, over: probe.connection)
            return InspectReport(snapshot, recognition, in: versions, counts: counts, withValues: invocation[values])
        }
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }

    private static let values = Option.flag("values", "Show the values of the app's own metadata too.")

    /// A store is shown without a model, too: a fault of its own model is printed on standard error.
    private static func versions(_ invocation: Invocation, _ console: Console) throws -> ModelVersions {
        if let named = try invocation.versionsIfKnown(console) { return named }
        do {
            return try invocation.versions(console)
        } catch let error as MigrationError where [.modelNotFound, .modelInvalid].contains(error.code) {
            console.say("\(error.message) \(error.remedy)")
            return ModelVersions(versions: [])
        }
    }

    private static func inspect(
        mapping path: String, _ invocation: Invocation, _ console: Console
    ) throws -> ExitCode {
        let file = try MappingModelFile(contentsOf: path)
        let versions = try invocation.versionsIfKnown(console) ?? ModelVersions(versions: [])
        var pair = file.versions
        if !versions.versions.isEmpty {
            let match = try MappingMatch(of: file.mapping, named: file.name, held: file.versions, in: versions)
            pair = (versions.versions[match.source], versions.versions[match.destination])
        }
        let findings = pair.map { file.mapping.findings(from: $0.source.model, to: $0.destination.model) } ?? []
        let report = MappingReport(
            name: file.name, mapping: file.mapping, versions: pair.map { ($0.source.name, $0.destination.name) },
            findings: file.findings + findings)
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }
}
