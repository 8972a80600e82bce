import MoultGenerate
import MoultModel
import MoultReport

/// A report, entity by entity, on whether Core Data and SwiftData can open the same store.
package struct CoexistenceReport: ToolAnswer {
    private let report: Coexistence
    private let names: (model: String, types: String)

    /// - Parameter types: the versions of the types; nil for the classes that are generated.
    /// - Throws: `usage` if the types have no version.
    package init(of model: ModelVersion, with types: ModelVersions?) throws {
        let types = try types.map { versions in
            guard !versions.versions.isEmpty else { throw MigrationError.wrongRequest("The types have no version.") }
            return versions.versions[try versions.target(named: nil)]
        }
        report = try Coexistence(of: model, with: types)
        names = (model.name, types?.name ?? "the generated classes")
    }

    package var isEqual: Bool { report.isEqual }

    package var document: JSONValue {
        [
            "format": 1, "model": .string(names.model), "types": .string(names.types), "equal": .bool(report.isEqual),
            "entities": .array(
                report.entities.map {
                    [
                        "name": .string($0.name), "equal": .bool($0.isEqual),
                        "reasons": .array($0.reasons.map(\.document)),
                    ]
                }),
        ]
    }

    package func lines(style: TextStyle) -> [String] {
        var lines = [style.bold("\(names.model.printable) and \(names.types.printable)")]
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
