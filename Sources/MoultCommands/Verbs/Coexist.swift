import MoultModel
import MoultTools

extension Verb {
    static let coexist = Verb(
        "coexist", "Report, entity by entity, whether Core Data and SwiftData can open the same store.",
        discussion: """
            STORE is a Core Data model, of which --version chooses a version, or a store that contains its model. It is
            compared with the model that --model names, such as the file that moult schema export writes for an app's
            SwiftData types. Without --model, an app's own tool compares it with the types of that app, and moult with
            the classes that moult generate --for swift-data writes. If the version hash of an entity differs, each
            reason is printed with its remedy. Exits with 0; with --check, 1 if an entity differs.
            """,
        operands: [compared], options: [version, .model, .order, .checking("an entity differs")],
        examples: ["moult coexist Forum.xcdatamodeld", "moult coexist forum.sqlite --json"]
    ) { invocation, console in
        let bundle = ModelVersions(try ModelBundle(modelOrStoreAt: try invocation.required(compared)))
        let model = try invocation.version(version, in: bundle)
        let report = try CoexistenceReport(of: model, with: invocation.versionsIfKnown(console))
        console.print(report)
        return invocation[.check] && !report.isEqual ? .findings : .done
    }

    private static let compared = Operand("STORE", "A Core Data model, or a store that contains its model.")
}
