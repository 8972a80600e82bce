import Foundation
import Moult
import MoultEngine
import MoultModel
import MoultStore
import TestSupport

@testable import MoultObjects

/// A store that is opened, changed and saved, and looked at by the shell before and after each save.
final class SavedStore {
    let path: String
    let model: ManagedObjectModel
    let context: ObjectContext
    private(set) var contents: StoreContents
    private(set) var faults: [String] = []
    private(set) var saves = 0
    private(set) var counts: (inserted: Int, updated: Int, deleted: Int) = (0, 0, 0)
    private(set) var historyRows = 0
    /// Saves that validation refused, for the store holds what its model forbids.
    var refusals = 0
    /// What validation found before anything was changed.
    private let findings: Set<String>

    init(_ path: String, model: ManagedObjectModel, author: String? = nil) throws {
        self.path = path
        self.model = model
        contents = try StoreContents(path)
        findings = Set(try Self.findings(path, model))
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(ObjectStore(path, model: model))
        context = ObjectContext(coordinator: coordinator)
        context.transactionAuthor = author
    }

    func close() { for store in context.coordinator.stores { store.close() } }

    func fault(_ text: String) { faults.append("\(saves). save: \(text)") }

    /// Saves and checks what became of the file.
    ///
    /// - Returns: what changed in it.
    @discardableResult
    func save() throws -> StoreDifference {
        try context.save()
        saves += 1
        let after = try StoreContents(path)
        let difference = StoreDifference(contents, after)
        if after.schema != contents.schema { fault("the schema is another") }
        if after.settings != contents.settings { fault("settings \(contents.settings), now \(after.settings)") }
        if after.metadata != contents.metadata { fault("metadata or model cache is another") }
        checkVersions(difference)
        checkKeys(difference, after)
        if after.tables["ATRANSACTION"] != nil {
            let history = HistoryCheck(model: model, before: contents, after: after, difference: difference)
            historyRows += history.changes.count
            for text in history.faults(author: context.transactionAuthor) { fault(text) }
        }
        contents = after
        counts.inserted += difference.inserted.count
        counts.updated += difference.updated.count
        counts.deleted += difference.deleted.count
        return difference
    }

    /// 1 when an object is made, one more with each save that changes it.
    private func checkVersions(_ difference: StoreDifference) {
        for change in difference.inserted where change.number("Z_OPT") != 1 {
            fault("new row \(change.table) \(change.key) has version \(change.after?["Z_OPT"] ?? "none")")
        }
        for change in difference.updated {
            let (old, new) = (change.before?["Z_OPT"] ?? "", change.after?["Z_OPT"] ?? "")
            guard let old = Int(old), let new = Int(new), new == old + 1 else {
                // What a trigger keeps, and what an object without knowing it is a destination of, is no change of it.
                if old != new || !change.columns.isSubset(of: derivedColumns.union(inverselessColumns)) {
                    fault("\(change.table) \(change.key): \(change.columns.sorted()) with version \(old), then \(new)")
                }
                continue
            }
        }
    }

    private lazy var derivedColumns: Set<String> = Set(
        model.entities.flatMap { $0.attributes.filter { $0.derivation != nil }.map { "Z" + $0.name.uppercased() } })

    /// `Z<number><NAME>` and its order: where a to-many relationship without inverse keeps its destinations.
    private lazy var inverselessColumns: Set<String> = Set(
        contents.tables.values.flatMap { Array($0.first?.value.keys ?? [:].keys) }.filter { name in
            let rest = name.hasPrefix("Z_FOK_") ? name.dropFirst(6) : name.dropFirst()
            return rest.first?.isNumber == true && !rest.contains("_")
        })

    /// New keys follow the counter of the root entity, which ends at the last; sub-entities have none.
    private func checkKeys(_ difference: StoreDifference, _ after: StoreContents) {
        let byTable = Dictionary(grouping: difference.inserted, by: \.table)
        for (number, row) in after.primaryKeys where number < 16_001 {
            let table = "Z" + (row["Z_NAME"] ?? "").dropFirst().dropLast().uppercased()
            let (old, new) = (contents.primaryKeys[number]?["Z_MAX"] ?? "", row["Z_MAX"] ?? "")
            let isRoot = row["Z_SUPER"] == "0"
            let keys = isRoot ? (byTable[table] ?? []).map(\.key).sorted() : []
            let expected = (Int(old) ?? 0) + keys.count
            if Int(new) != expected { fault("Z_MAX of \(table) was \(old), is \(new), not \(expected)") }
            if !keys.isEmpty, keys != Array((expected - keys.count + 1)...expected) {
                fault("keys \(keys) in \(table)")
            }
        }
    }

    /// Moult's own validation, and SQLite's.
    func audit() throws {
        for finding in try Self.findings(path, model) where !findings.contains(finding) {
            fault("validation: \(finding)")
        }
        if refusals > 0, !findings.contains(where: { $0.hasPrefix("required-missing") }) {
            fault("\(refusals) saves were refused, and the store had nothing that its model forbids")
        }
    }

    private static func findings(_ path: String, _ model: ManagedObjectModel) throws -> [String] {
        try StoreAudit(path, model: model, full: true).findings.filter { $0.severity > .note }.map {
            "\($0.code) \($0.place)"
        }
    }
}
