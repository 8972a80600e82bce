import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An import of rows from files into a store as new objects, validated like any save, in one transaction.
package final class StoreImport {
    let store: ObjectStore
    let context: ObjectContext
    private let isExact: Bool
    private let system: any System
    private let sidecar: StoreRecords
    /// An earlier import whose outcome was not known.
    package private(set) var earlier: EarlierImport?
    /// The property for each column that `export` renames, by entity.
    private let properties: [String: [String: String]]
    var tables: [(target: Target, table: ImportTable)] = []
    /// The new objects, by the root of their entity and their key in the files.
    var imported: [String: [Int64: Object]] = [:]
    /// The new objects in the order of the rows, each with the line of its row and the number of its table.
    var origins: [(object: Object, line: Int, table: Int)] = []
    var known: [String: [Int64: ObjectID]] = [:]
    var named: [String: [AttributeValue: [Object]]] = [:]

    /// The kind of rows in a file: objects of an entity, or pairs of a relationship.
    enum Target {
        case objects(EntityDescription)
        case pairs(EntityDescription, RelationshipDescription)

        fileprivate var isOfObjects: Bool { if case .objects = self { true } else { false } }
    }

    /// - Parameters:
    ///   - path: the path of the store.
    ///   - version: the store's version.
    ///   - isExact: whether CSV was exported with `--exact`.
    package init(into path: String, at version: ModelVersion, isExact: Bool, _ system: any System = POSIXSystem())
        throws
    {
        // Probe the store before opening it: afterwards no other access is allowed.
        let (contents, model) = try ReadOnlyStore.read(path, system: system) { probe in
            let hashes = try StoreSnapshot(probe.connection).hashes
            return (
                try StoreContents(probe, in: ModelVersions(versions: [version])), try version.held(by: hashes).model
            )
        }
        properties = Dictionary(
            contents.entities.map { entity in
                let renamed = entity.columns.compactMap { column in column.property.map { (column.name, $0) } }
                return (entity.name, Dictionary(renamed, uniquingKeysWith: { first, _ in first }))
            }, uniquingKeysWith: { first, _ in first })
        store = try ObjectStore(path, model: model, on: system)
        let coordinator = ObjectCoordinator(model: model)
        try coordinator.add(store)
        context = ObjectContext(coordinator: coordinator)
        self.isExact = isExact
        self.system = system
        sidecar = try StoreRecords(of: path, system)
    }

    deinit { store.close() }

    var model: ManagedObjectModel { store.model }

    /// Imports a file, or every `.csv` and `.jsonl` file of a folder.
    ///
    /// - Parameter entity: the entity of a file that is not named after one.
    /// - Returns: the number of objects of each entity. It is empty if the same import was run before without a known
    ///   outcome, and the store contains its objects (``earlier``). The next run adds them again.
    /// - Throws: `usage` with the line of a row that does not fit the model; `rulesBroken` and `dataConflict` for
    ///   objects that cannot be saved; `locked`. The store is unchanged after an error.
    package func run(_ path: String, entity: String? = nil) throws -> [String: Int] {
        let files = try files(at: path, entity)
        // Before the digest, which reads every file to its end: a file without rows is refused at its first line.
        for file in files {
            let target = try target(of: file, entity)
            var names: [String: String] = [:]
            if case .objects(let entity) = target {
                names = (properties[entity.name] ?? [:]).merging(ImportTable.added) { $1 }
            }
            tables.append((target, try ImportTable(file, isExact: isExact, renaming: names)))
        }
        let digest = try digest(of: files)
        func checkFiles() throws {
            guard try self.digest(of: files) != digest else { return }
            throw MigrationError(
                .usage, "A file has changed while it was imported.", place: path,
                remedy: "Wait until nothing writes it, then import it again. Nothing was imported.")
        }
        // The identifier is unique in the store, because it includes that of the last import.
        let last = try store.metadata().entries[ImportRecord.key]?.string ?? ""
        let record = ImportRecord(
            identifier: String(Digest.sha256(Array((last + digest).utf8)).hexadecimal.prefix(32)), digest: digest,
            path: path, startedAt: system.now.iso8601)
        if try isSavedAlready(record) { return [:] }
        // Each object is made, linked and saved.
        WorkMeter.expect(rows: 3 * Int64(tables.reduce(0) { $0 + ($1.target.isOfObjects ? $1.table.count : 0) }))
        for (place, (target, table)) in tables.enumerated() {
            if case .objects(let entity) = target { try insert(table, place, entity) }
        }
        var next = origins.makeIterator()
        for (target, table) in tables {
            guard case .objects = target else { continue }
            var links: [String: [Link]] = [:]
            try table.forEachRow { row in
                WorkMeter.current?.advance()
                guard let object = next.next()?.object else { return }
                let own = links[object.entityName] ?? self.links(of: object.entityName, in: table)
                links[object.entityName] = own
                for link in own { try self.link(object, row, table, link) }
            }
        }
        for (target, table) in tables {
            if case .pairs(let entity, let relationship) = target { try link(table, entity, relationship) }
        }
        try checkFiles()
        try record.write(sidecar, system)
        try store.writing {
            try save()
            try store.updateMetadata { $0[ImportRecord.key] = .string(record.identifier) }
        }
        return Dictionary(grouping: origins) { $0.object.entityName }.mapValues(\.count)
    }

    // MARK: - An import with an unknown outcome

    private func digest(of files: [String]) throws -> String {
        let texts = try files.map { "\(try system.digest(of: $0).hexadecimal) \(Path.name(of: $0))\n" }
        return Digest.sha256(Array(texts.joined().utf8)).hexadecimal
    }

    /// Determines whether the store contains the objects of an earlier import, and whether it is the same as this one.
    private func isSavedAlready(_ record: ImportRecord) throws -> Bool {
        guard let earlier = try ImportRecord.read(sidecar, system) else { return false }
        let isSaved = earlier.isSaved(in: try store.metadata())
        let isRepeated = isSaved && earlier.digest == record.digest
        self.earlier = EarlierImport(
            path: earlier.path, startedAt: earlier.startedAt, isSaved: isSaved, isRepeated: isRepeated)
        if !isRepeated { try ImportRecord.remove(sidecar, system) }
        return isRepeated
    }

    /// Removes the record of the import after its result is shown. If the process dies before, the same import can
    /// safely be run again.
    package func confirm() {
        // The objects are saved even if the record cannot be removed.
        _ = try? ImportRecord.remove(sidecar, system)
    }

    // MARK: - Files

    private func files(at path: String, _ entity: String?) throws -> [String] {
        guard try system.status(of: path)?.kind == .folder else { return [path] }
        let names = try system.list(path).filter { $0.hasSuffix(".csv") || $0.hasSuffix(".jsonl") }
        guard !names.isEmpty, entity == nil else {
            throw MigrationError(
                .usage,
                entity == nil
                    ? "The folder has no .csv and no .jsonl file."
                    : String(advice: "\(option: .entity(nil)) is for one file."),
                place: path, remedy: "Name a folder that \(.export) has written, or one file.")
        }
        return names.map { Path.join(path, $0) }
    }

    private func target(of file: String, _ entity: String?) throws -> Target {
        guard file.hasSuffix(".csv") || file.hasSuffix(".jsonl") else {
            if let form = ArchiveForm(ofFile: file, POSIXSystem()) {
                throw MigrationError(
                    .usage, "The file is \(form.noun), neither CSV nor JSON Lines.", place: file,
                    remedy: form.remedy(for: file))
            }
            throw MigrationError(
                .usage, "The name of the file ends neither in .csv nor in .jsonl.", place: file,
                remedy: "Rename the file for its form.")
        }
        let stem = entity ?? Path.stem(of: file)
        if let target = targets[stem] { return target }
        let names = model.entities.map(\.name)
        throw MigrationError(
            .usage, "The model has no entity \(stem).", place: file,
            remedy: Suggestion.nearest(to: stem, among: names).map {
                "Did you mean \($0)? \(option: .entity(nil)) names it."
            }
                ?? "Name the entity of the file: \(option: .entity("NAME")). There are: \(names.joined(separator: ", "))."
        )
    }

    /// The target of each file, by its name without the extension. Entities take precedence over pairs.
    private lazy var targets: [String: Target] = {
        var targets: [String: Target] = [:]
        func add(_ target: Target, _ name: String) { if targets[name] == nil { targets[name] = target } }
        for entity in model.entities {
            add(.objects(entity), entity.name)
            add(.objects(entity), entity.name.fileName)
        }
        for entity in model.entities {
            for relationship in model.relationships(of: entity) where relationship.isToMany {
                add(.pairs(entity, relationship), "\(entity.name)_\(relationship.name)".fileName)
            }
        }
        return targets
    }()

    // MARK: - Objects

    private func insert(_ table: ImportTable, _ place: Int, _ entity: EntityDescription) throws {
        try check(table.columns, of: entity, table)
        var attributes: [String: [StoredAttribute]] = [:]
        try table.forEachRow { row in
            WorkMeter.current?.advance()
            var entity = entity
            if case .text(let name)? = row[ImportTable.entity].flatMap(Self.plain), name != entity.name {
                guard let other = model.entity(name), model.isKind(other, of: entity) else {
                    throw wrong("The column entity names neither \(entity.name) nor a sub-entity of it.", table, row)
                }
                entity = other
            }
            let object = try context.insert(entity.name, into: store)
            let own =
                attributes[entity.name]
                ?? model.storedAttributes(of: entity).filter { $0.description.derivation == nil }
            attributes[entity.name] = own
            for attribute in own {
                guard let value = row[attribute.name] else { continue }
                let fitting = try self.value(value, attribute, table, row)
                do {
                    try object.setAttribute(attribute.name, fitting)
                } catch let error as MigrationError where error.code == .wrongType {
                    throw wrong(error.message, table, row)
                }
            }
            origins.append((object, row.line, place))
            guard let value = row[ImportTable.key], !value.isNull else { return }
            let key = try key(value, table, row)
            guard imported[model.root(of: entity).name, default: [:]].updateValue(object, forKey: key) == nil else {
                throw wrong("Another row has the key \(key) too.", table, row)
            }
        }
    }

    private func check(_ columns: [String], of entity: EntityDescription, _ table: ImportTable) throws {
        let entities = [entity] + model.descendants(of: entity)
        let attributes = entities.flatMap { model.storedAttributes(of: $0).map(\.name) }
        let relationships = entities.flatMap { model.relationships(of: $0) }
        let added = ImportTable.added.values
        for column in columns where !added.contains(column) && !attributes.contains(column) {
            let name = column.split(separator: ".", maxSplits: 1).first.map(String.init) ?? column
            guard let relationship = relationships.first(where: { $0.name == name }),
                column == name || !relationship.isToMany
            else {
                let names = attributes + relationships.map(\.name)
                let nearest = Suggestion.nearest(to: column, among: names)
                throw MigrationError(
                    .usage, "\(entity.name) has no property \(column).", place: "\(table.path):1",
                    remedy: (nearest.map { "Did you mean \($0)? " } ?? "Remove the column. ") + "Nothing was imported.")
            }
            if column == name || column == name + ".entity" { continue }
            let unique = String(column.dropFirst(name.count + 1))
            guard model.entity(relationship.destinationEntityName).flatMap({ model.attribute(unique, of: $0) }) != nil
            else {
                throw MigrationError(
                    .usage, "\(relationship.destinationEntityName) has no attribute \(unique).",
                    place: "\(table.path):1",
                    remedy:
                        "Name an attribute that tells its objects apart, or use keys: \(name). Nothing was imported.")
            }
        }
    }

    func value(
        _ value: ImportTable.Value, _ attribute: StoredAttribute, _ table: ImportTable, _ row: ImportTable.Row
    ) throws -> AttributeValue? {
        if value.isNull { return nil }
        let type = attribute.description.type
        let isExternal = attribute.description.allowsExternalBinaryDataStorage
        let document = try value.document(type) { path in
            guard isExternal, path.contains("/"), try system.status(of: path)?.kind == .file else { return nil }
            return try system.read(path, limit: POSIXSystem.largestValue)
        }
        if case .double(let seconds)? = document, type == .date { return .date(seconds) }
        guard let document, let value = AttributeValue(document: document, type: type, seconds: nil), type.holds(value)
        else {
            throw wrong(
                "\(attribute.name) is of type \(type.name), which this value does not fit. \(type.formsOfImport)",
                table, row)
        }
        return value
    }

    // MARK: - Values

    private static func plain(_ value: ImportTable.Value) -> ImportTable.Value? {
        if case .json(.string(let text)) = value { return .text(text) }
        return value
    }

    func key(_ value: ImportTable.Value, _ table: ImportTable, _ row: ImportTable.Row) throws -> Int64 {
        switch value {
        case .json(.integer(let key)): return key
        case .text(let text):
            if let key = Int64(text) { return key }
        default: break
        }
        throw wrong("A key is a whole number.", table, row)
    }

    func wrong(_ message: String, _ table: ImportTable, _ row: ImportTable.Row) -> MigrationError {
        MigrationError(
            .usage, message, place: table.place(of: row), remedy: "Correct the row. Nothing was imported.")
    }
}

/// Saving, with errors in terms of the rows.
extension StoreImport {
    func save() throws {
        do {
            _ = try context.save()
        } catch let error as ValidationErrors {
            let place = places()
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

    /// The places of the rows, by the identifiers of their objects.
    private func places() -> [ObjectID: String] {
        let places = origins.map { ($0.object.id, "\(tables[$0.table].table.path):\($0.line)") }
        return Dictionary(places, uniquingKeysWith: { first, _ in first })
    }

    private func describe(_ error: MergeConflictError) -> String {
        let place = places()
        return error.conflicts.prefix(10).map { conflict in
            let rows = conflict.objects.map { place[$0] ?? "\($0.entityName) \($0.key)" }
            let other = conflict.storedID.map { " and \($0.entityName) \($0.key) of the store" } ?? ""
            return "\(rows.joined(separator: ", "))\(other): \(conflict.constraint.joined(separator: ", "))."
        }.joined(separator: " ")
    }
}
