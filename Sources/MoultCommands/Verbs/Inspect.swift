import MoultModel
import MoultReport
import MoultTools

extension Verb {
    static let inspect = Verb(
        "inspect", "Show a store: its version, the rows of each entity, the framework level and the metadata.",
        discussion: """
            Of the app's own metadata, only the keys are shown unless you give --values.
            Without --model, the entities are those of the model inside the store.
            STORE may also be a mapping model (.xcmappingmodel, .cdm). inspect then shows what it maps. With --model, it
            also shows the two versions and what the mapping leaves out.
            """,
        operands: [.store], options: [.model, values, .order],
        examples: ["moult inspect forum.sqlite", "moult inspect forum.sqlite --model Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        if MappingModelFile.isMappingModel(store) { return try inspect(mapping: store, invocation, console) }
        let versions = try versions(invocation, console)
        let report = try InspectReport(of: store, in: versions, withValues: invocation[values])
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }

    private static let values = Option.flag("values", "Also show the values of the app's own metadata.")

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
        let report = try MappingReport(
            of: MappingModelFile(contentsOf: path),
            in: try invocation.versionsIfKnown(console) ?? ModelVersions(versions: []))
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }
}
