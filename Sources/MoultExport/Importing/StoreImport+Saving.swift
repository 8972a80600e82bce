import MoultModel
import MoultObjects

/// The save, and what it refuses in terms of the rows.
extension StoreImport {
    func save() throws {
        do {
            _ = try context.save()
        } catch let error as ValidationErrors {
            let places = origins.map { ($0.object.id, $0.place) }
            let place = Dictionary(places, uniquingKeysWith: { first, _ in first })
            let lines = error.violations.prefix(10).map { "\(place[$0.id] ?? $0.entityName): \($0.message)" }
            let more = error.violations.count > 10 ? " There are \(error.violations.count - 10) more." : ""
            throw MigrationError(
                .rulesBroken, "The objects are not valid. \(lines.joined(separator: " "))\(more)", place: store.path,
                remedy: "Correct the rows. Nothing was imported.")
        } catch let error as MergeConflictError {
            throw MigrationError(
                .dataConflict, "The rows conflict with a uniqueness constraint. \(describe(error))",
                place: store.path, remedy: "Correct or remove one of the rows. Nothing was imported.")
        }
    }

    private func describe(_ error: MergeConflictError) -> String {
        let place = Dictionary(origins.map { ($0.object.id, $0.place) }, uniquingKeysWith: { first, _ in first })
        return error.conflicts.prefix(10).map { conflict in
            let rows = conflict.objects.map { place[$0] ?? "\($0.entityName) \($0.key)" }
            let other = conflict.storedID.map { " and \($0.entityName) \($0.key) of the store" } ?? ""
            return "\(rows.joined(separator: ", "))\(other): \(conflict.constraint.joined(separator: ", "))."
        }.joined(separator: " ")
    }
}
