import MoultGenerate
import MoultModel
import MoultModelFiles
import MoultReport

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
        let types = try invocation.versionsIfKnown(console).map { versions in
            guard !versions.versions.isEmpty else { throw invocation.wrong("The types have no version.") }
            return versions.versions[try versions.target(named: nil)]
        }
        let report = try Coexistence(of: model, with: types)
        let names = (model.name, types?.name ?? "the generated classes")
        console.print(document(report, names)) { lines(report, names, $0) }
        return invocation[.check] && !report.isEqual ? .findings : .done
    }

    private static let compared = Operand("STORE", "A Core Data model, or a store that contains its model.")

    private static func document(_ report: Coexistence, _ names: (String, String)) -> JSONValue {
        [
            "format": 1, "model": .string(names.0), "types": .string(names.1), "equal": .bool(report.isEqual),
            "entities": .array(
                report.entities.map {
                    [
                        "name": .string($0.name), "equal": .bool($0.isEqual),
                        "reasons": .array($0.reasons.map(\.document)),
                    ]
                }),
        ]
    }

    private static func lines(_ report: Coexistence, _ names: (String, String), _ style: TextStyle) -> [String] {
        var lines = [style.bold("\(names.0.printable) and \(names.1.printable)")]
        for entity in report.entities {
            lines.append(
                "  \(entity.isEqual ? style.green("equal") : style.red("different"))  \(entity.name.printable)")
            for reason in entity.reasons {
                lines += ["    \(reason.message.printable)", "      \(reason.remedy.printable)"]
            }
        }
        let equal = report.entities.count { $0.isEqual }
        let count = Quantity.count(report.entities.count, "entity is", plural: "entities are")
        let verdict =
            report.isEqual
            ? "SwiftData opens a store of this model, and Core Data opens it again."
            : "SwiftData does not open a store of this model without a migration."
        return lines + ["", "\(equal) of \(count) equal. \(verdict)"]
    }
}
