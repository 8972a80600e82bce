import MoultEngine
import MoultModel
import MoultReport
import MoultSystem
import MoultTransform

/// A plan that somebody has kept from `moult plan --json`.
package struct KeptPlan {
    private let path: String
    private let document: JSONValue

    /// - Throws: `usage` for a file that holds no plan; what reading it throws.
    init(contentsOf path: String) throws {
        try self.init(json: try POSIXSystem().read(path), place: path)
    }

    /// - Parameter place: where the bytes came from, for errors.
    package init(json: [UInt8], place: String) throws {
        path = place
        document = try JSONValue(parsing: json, place: place, code: .usage)
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

extension Invocation {
    /// The plan that `--plan` names, if it was given.
    func keptPlan() throws -> KeptPlan? { try self[value: .plan].map(KeptPlan.init(contentsOf:)) }
}

extension MigrationRegistry {
    /// Whether there is code of that name.
    fileprivate func has(_ name: String) -> Bool { steps[name] != nil || policies[name] != nil }
}
