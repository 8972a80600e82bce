import MoultBasics
import MoultModel
import MoultObjects
import MoultSQLite
import MoultStore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The contents of a store to export, as parts with rows: the objects of each entity, and the pairs of each to-many
/// relationship.
package struct StoreExport {
    /// The choice of entities, objects and columns to export.
    package struct Selection: Sendable {
        /// The entities; empty for all.
        package var entities: [String] = []
        /// The predicate that exported objects match; nil for all objects. It requires a single entity.
        package var predicate: MoultModel.Predicate?
        /// The maximum number of objects of each entity.
        package var limit: Int?
        /// The columns and to-many relationships, in this order; nil for all of them. It requires a single entity.
        package var columns: [String]?

        package init(
            entities: [String] = [], predicate: MoultModel.Predicate? = nil, limit: Int? = nil, columns: [String]? = nil
        ) {
            (self.entities, self.predicate, self.limit, self.columns) = (entities, predicate, limit, columns)
        }

        var isWhole: Bool { entities.isEmpty && predicate == nil && limit == nil && columns == nil }
    }

    package let parts: [ExportPart]
    /// The sub-entities of the chosen entities that were not chosen, so that their objects are left out.
    package let leftOut: [String]
    /// The number of files of external data that rows of the store name, and that are not there; 0 if no exported column
    /// has paths of such files.
    package let missingFiles: Int
    private let probe: ReadOnlyStore

    /// - Parameters:
    ///   - versions: the versions among which to find the store's; nil to use the model inside the store.
    ///   - format: the format of the export.
    ///   - holdsLists: whether a chosen to-many relationship is a column with lists of keys, and no part of its own.
    /// - Throws: `usage` for an unknown entity or column; `invalidPredicate`, `fetchUnsupported`; `modelNotFound` for a
    ///   predicate on a store without a model.
    package init(
        _ selection: Selection, of probe: ReadOnlyStore, versions: ModelVersions?,
        _ format: ExportWriter.Format, holdingLists holdsLists: Bool
    ) throws {
        self.probe = probe
        let contents = try StoreContents(probe, in: versions)
        let entities = try Self.entities(selection, contents)
        try FormatFunctions.register(on: probe.connection)
        var names = DistinctNames()
        var parts: [ExportPart] = []
        var named: Set<String> = []
        for entity in entities {
            let keys = try Self.keys(of: entity, selection, contents, probe)
            let columns = try Self.columns(of: entity, selection, contents, holdsLists)
            if format == .csv, let list = columns.first(where: { $0.list != nil }) {
                throw MigrationError(
                    .usage, "\(entity.name).\(list.name) is to-many, and a CSV file has no lists.", place: entity.name,
                    remedy: "Choose \(option: .format("jsonl")), "
                        + "or a folder with \(option: .output) for a file of pairs.")
            }
            // To-many relationships alone have no columns; their pairs are parts of their own.
            if columns.isEmpty, selection.columns?.isEmpty == false { continue }
            named.formUnion(try Self.fileNames(of: entity, columns, probe))
            parts.append(
                ExportPart(
                    entity, columns: columns, keys: keys, name: names.next(forTable: entity.name),
                    contents.externalFolder,
                    isWhole: selection.isWhole))
        }
        for (join, owner) in holdsLists ? [] : Self.joins(selection, entities, contents) {
            let keys = try owner.flatMap { try Self.keys(of: $0, selection, contents, probe) ?? Self.allKeys(of: $0) }
            let name = "\(owner?.name ?? join.entity)_\(join.relationship)"
            parts.append(ExportPart(join, keys: keys, name: names.next(forTable: name), isWhole: selection.isWhole))
        }
        self.parts = parts
        let model = contents.layout?.model
        let below = Set(
            selection.entities.compactMap { model?.entity($0) }.flatMap { entity in
                (model?.descendants(of: entity) ?? []).filter { !$0.isAbstract }.map(\.name)
            })
        leftOut = below.subtracting(selection.entities).sorted()
        missingFiles = try named.count { try !POSIXSystem().exists(Path.join(contents.externalFolder, $0)) }
        // Rows are counted only if progress is reported.
        guard WorkMeter.current != nil else { return }
        for part in parts {
            WorkMeter.expect(rows: try probe.connection.integer("SELECT count(*) FROM (\(part.sql))") ?? 0)
        }
    }

    /// Returns the names of the files of external data in the columns of an entity's table; none of a damaged one, of
    /// which the rows say what is wrong.
    private static func fileNames(
        of entity: EntityContents, _ columns: [EntityContents.Column], _ probe: ReadOnlyStore
    ) throws -> Set<String> {
        let paths = columns.compactMap { column -> String? in
            if case .attribute(let name, _, isExternal: true) = column.source { name } else { nil }
        }
        do {
            return try ExternalStorage.names(
                in: probe.connection, paths, of: "main.\(entity.table.quotedName) AS r NOT INDEXED WHERE 1")
        } catch let error as MigrationError where error.code == .storeCorrupted {
            return []
        }
    }

    /// Calls `body` for each row of a part, in order of the keys, until it returns false.
    package func forEachRow(of part: ExportPart, _ body: (Statement) throws -> Bool) throws {
        let statement = try probe.connection.prepare(part.sql)
        defer { statement.finalise() }
        let meter = WorkMeter.current
        func step() throws -> Bool {
            do {
                return try statement.step()
            } catch var error as MigrationError where error.code == .storeCorrupted {
                // The statement in the cause names neither the entity nor its columns.
                error.message = "The database is damaged: not every row of \(part.name) can be read."
                error.cause = error.cause?.split(separator: " in: ").first.map(String.init)
                throw error
            }
        }
        while try step() {
            guard try body(statement) else { return }
            meter?.advance()
        }
    }

    // MARK: - The selection

    private static func entities(_ selection: Selection, _ contents: StoreContents) throws -> [EntityContents] {
        if selection.entities.count != 1, selection.predicate != nil || selection.columns != nil {
            throw MigrationError(
                .usage, "A predicate and a list of columns are for one entity.",
                remedy: "Name it with \(option: .entity(nil)).")
        }
        guard !selection.entities.isEmpty else {
            return contents.entities.filter { contents.layout?.model.entity($0.name)?.isAbstract != true }
        }
        return try selection.entities.map { name in
            guard let entity = contents.entities.first(where: { $0.name == name }) else {
                throw contents.unknown(name)
            }
            return entity
        }
    }

    private static func columns(
        of entity: EntityContents, _ selection: Selection, _ contents: StoreContents, _ holdsLists: Bool
    ) throws -> [EntityContents.Column] {
        guard let names = selection.columns else { return entity.columns }
        let lists = joins(selection, [entity], contents).map(\.0)
        let columns: [EntityContents.Column] = try names.compactMap { name in
            if let column = entity.column(name) { return column }
            guard let list = lists.first(where: { $0.relationship == name }) else {
                let known =
                    entity.columns.map(\.name)
                    + joins(Selection(entities: [entity.name]), [entity], contents).map(\.0.relationship)
                throw MigrationError(
                    .usage, "\(entity.name) has no column \(name).", place: entity.name,
                    remedy: "Its columns are: \(known.joined(separator: ", ")).")
            }
            guard holdsLists else { return nil }
            return EntityContents.Column(name: name, source: .raw(name), meaning: list.meaning, list: list)
        }
        // The pairs name the objects by their keys.
        guard !holdsLists, !columns.isEmpty, columns.count < names.count, let key = entity.column("Z_PK"),
            !columns.contains(where: { $0.name == key.name })
        else { return columns }
        return [key] + columns
    }

    /// Returns the joins to export, each with the entity whose objects own the pairs; nil for all owners.
    private static func joins(
        _ selection: Selection, _ entities: [EntityContents], _ contents: StoreContents
    ) -> [(JoinContents, EntityContents?)] {
        guard !selection.entities.isEmpty else {
            let joins = contents.joins.filter { !$0.isRepeated }
            guard selection.limit != nil else { return joins.map { ($0, nil) } }
            return joins.map { join in (join, contents.whole(join.entity)) }
        }
        return entities.flatMap { entity in
            contents.joins(of: entity.name).filter { join in
                selection.columns?.contains(join.relationship) ?? !join.isRepeated
            }.map { ($0, entity) }
        }
    }

    /// Returns a query for the keys of the exported objects; nil for all objects of the entity.
    private static func keys(
        of entity: EntityContents, _ selection: Selection, _ contents: StoreContents, _ probe: ReadOnlyStore
    ) throws -> String? {
        guard selection.predicate != nil || selection.limit != nil else { return nil }
        guard let layout = contents.layout, let predicate = selection.predicate else {
            guard selection.predicate == nil else {
                throw MigrationError(
                    .modelNotFound, "The store contains no readable model, which a predicate needs.", place: probe.path,
                    remedy: "Name the model that made it: \(option: .model("PATH")).")
            }
            return allKeys(of: entity) + (selection.limit.map { " ORDER BY Z_PK LIMIT \($0)" } ?? "")
        }
        var fetch = ObjectFetch(entityName: entity.name, predicate: predicate)
        fetch.includesSubentities = false
        let metadata = try StoreSnapshot(probe.connection).metadata
        let lowering = try FetchLowering(
            fetch, layout: layout, store: UUID(uuidString: metadata.uuid) ?? UUID(),
            now: Date().timeIntervalSinceReferenceDate)
        let key: SQLText = "\(name: FetchLowering.alias).Z_PK"
        let keys = try lowering.select(key).inlined
        return keys + (selection.limit.map { " LIMIT \($0)" } ?? "")
    }

    private static func allKeys(of entity: EntityContents) -> String {
        "SELECT Z_PK FROM \(entity.table.quotedName) WHERE Z_ENT IN \(entity.list)"
    }
}
