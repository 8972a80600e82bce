import CoreData
import Foundation

/// A store that Moult has made or migrated, and the compiled version that it is of.
struct StoreCase {
    /// What it shows, as in `Forum 2, migrated from Forum`.
    let name: String
    let store: URL
    let bundle: URL
    let version: String
    /// The store before its migration.
    var older: URL?
    var hasHistory = false
}

/// The comparison of what Moult makes with what Core Data makes of it.
struct Comparison {
    let moult: Program
    let sqlite: Program
    let scratch: URL

    /// All checks of one store.
    func checks(of one: StoreCase) -> [Check] {
        var checks = [check(.opens, one, opens), check(.objects, one, objects), check(.saves, one, saves)]
        if one.older != nil { checks.append(check(.migrates, one, migrates)) }
        return checks
    }

    /// Whether Core Data and Moult compute the same hashes for a version.
    func hashes(of version: String, in bundle: URL) -> Check {
        attempt(.hashes, "\(bundle.lastPathComponent) \(version)") {
            let model = try NSManagedObjectModel.version(version, of: bundle)
            let printed = try moult(["hash", bundle.path, "--json", "--experimental"])
            let document = try JSONSerialization.jsonObject(with: Data(printed.utf8)) as? [String: Any]
            let versions = document?["versions"] as? [String: Any]
            let entities = (versions?[version] as? [String: Any])?["entities"] as? [String: String] ?? [:]
            let apple = model.entityVersionHashesByName.mapValues { $0.base64EncodedString() }
            let names = Set(entities.keys).union(apple.keys).sorted()
            let differences = names.filter { entities[$0] != apple[$0] }.map {
                Difference(.hash, $0, moult: entities[$0] ?? "missing", apple: apple[$0] ?? "missing")
            }
            return (differences, names.count)
        }
    }

    // MARK: - The checks of a store

    typealias Found = (differences: [Difference], compared: Int)

    private func opens(_ one: StoreCase) throws -> Found {
        let model = try NSManagedObjectModel.version(one.version, of: one.bundle)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: one.store, options: nil)
        guard model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
            return ([Difference(.metadata, one.name, moult: "of version \(one.version)", apple: "of another model")], 1)
        }
        try Stack(try copy(one.store), model: model, hasHistory: one.hasHistory).close()
        return ([], model.entities.count)
    }

    private func objects(_ one: StoreCase) throws -> Found {
        let model = try NSManagedObjectModel.version(one.version, of: one.bundle)
        let dumped = try StoreObjects(dump: try moult(["dump", one.store.path, "--json"]), of: model)
        let stack = try Stack(try copy(one.store), model: model, hasHistory: one.hasHistory)
        let fetched = try StoreObjects(fetchedBy: stack.context, of: model)
        try stack.close()
        return (dumped.differences(from: fetched), dumped.objects.count)
    }

    /// Core Data inserts, changes and deletes; Moult then reads what Core Data itself reads afterwards.
    private func saves(_ one: StoreCase) throws -> Found {
        let model = try NSManagedObjectModel.version(one.version, of: one.bundle)
        let store = try copy(one.store)
        let stack = try Stack(store, model: model, hasHistory: one.hasHistory)
        try stack.context.performAndWait { try Edits(stack.context, model).apply() }
        try stack.close()
        let again = try Stack(store, model: model, hasHistory: one.hasHistory)
        let fetched = try StoreObjects(fetchedBy: again.context, of: model)
        try again.close()
        let dumped = try StoreObjects(dump: try moult(["dump", store.path, "--json"]), of: model)
        var differences = dumped.differences(from: fetched)
        let validation = try moult(
            ["validate", store.path, "--model", one.bundle.path, "--full", "--json"], allowing: [0, 1])
        let document = try JSONSerialization.jsonObject(with: Data(validation.utf8)) as? [String: Any]
        for finding in document?["findings"] as? [[String: Any]] ?? [] where finding["severity"] as? String == "error" {
            differences.append(
                Difference(
                    .soundness, finding["place"] as? String ?? one.name, moult: finding["message"] as? String ?? "",
                    apple: "saved it"))
        }
        return (differences, dumped.objects.count)
    }

    /// Core Data infers and runs the migration of the older store; its tables are compared with Moult's.
    private func migrates(_ one: StoreCase) throws -> Found {
        guard let older = one.older else { return ([], 0) }
        let model = try NSManagedObjectModel.version(one.version, of: one.bundle)
        let store = try copy(older)
        try Stack(store, model: model, migrates: true, hasHistory: one.hasHistory).close()
        let apple = try StoreTables(store, sqlite)
        let mine = try StoreTables(one.store, sqlite)
        return (mine.differences(from: apple), mine.count)
    }

    // MARK: - Running one

    private func check(_ kind: Check.Kind, _ one: StoreCase, _ body: (StoreCase) throws -> Found) -> Check {
        attempt(kind, one.name) { try body(one) }
    }

    func attempt(_ kind: Check.Kind, _ subject: String, _ body: () throws -> Found) -> Check {
        do {
            let found = try body()
            return Check(kind: kind, subject: subject, differences: found.differences, compared: found.compared)
        } catch {
            return Check(kind: kind, subject: subject, differences: [], compared: 0, error: "\(error)")
        }
    }

    /// A copy with its external data and logs, so that no check sees what another has done.
    func copy(_ store: URL) throws -> URL {
        let folder = try folder()
        let name = store.lastPathComponent
        let stem = store.deletingPathExtension().lastPathComponent
        for file in [name, "\(name)-wal", "\(name)-shm", ".\(stem)_SUPPORT"] {
            let from = store.deletingLastPathComponent().appendingPathComponent(file)
            guard FileManager.default.fileExists(atPath: from.path) else { continue }
            try FileManager.default.copyItem(at: from, to: folder.appendingPathComponent(file))
        }
        return folder.appendingPathComponent(name)
    }

    /// A new folder.
    func folder() throws -> URL {
        let folder = scratch.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
