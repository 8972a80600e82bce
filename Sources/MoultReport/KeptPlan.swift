import MoultEngine
import MoultModel
import MoultTransform

/// A plan that somebody has kept from `moult plan --json`.
package struct KeptPlan {
    private let path: String
    private let document: JSONValue

    /// - Parameter place: where the bytes came from, for errors.
    /// - Throws: `usage` for what is no JSON.
    package init(json: [UInt8], place: String) throws {
        self.init(try JSONValue(parsing: json, place: place, code: .usage), place: place)
    }

    /// - Parameter place: where the document came from, for errors.
    package init(_ document: JSONValue, place: String) {
        path = place
        self.document = document
    }

    /// - Throws: `codeMissing` with every name of an app's code that the plan has and the registry has not.
    package func checkCode(_ registry: MigrationRegistry) throws {
        let names = (document["edges"]?.array ?? []).flatMap { $0["code"]?.array ?? [] }.compactMap(\.string)
        var missing: [String] = []
        for name in names where !registry.has(name) && !missing.contains(name) { missing.append(name) }
        guard let first = missing.first else { return }
        throw MigrationError(
            .codeMissing,
            "The kept plan calls \(missing.joined(separator: ", ")), which this program does not have.",
            place: first, remedy: "Run the migration in the program that registers it.")
    }

    /// - Throws: `planStale` if it was made for another store, version or model.
    package func check(_ prepared: PreparedMigration) throws {
        let fresh = PlanReport(prepared).document
        for key in ["binding", "from", "to", "versions"] where document[key] != fresh[key] {
            throw MigrationError(
                .planStale, "The kept plan is not the one that would be made now: its \(key) differs.", place: path,
                remedy: "The store or the model has changed since; make the plan again and read it.")
        }
    }
}

extension MigrationRegistry {
    /// Whether there is code of that name.
    fileprivate func has(_ name: String) -> Bool { steps[name] != nil || policies[name] != nil }
}
