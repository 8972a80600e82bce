import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import MoultTesting
import TestSupport

/// Migrations that statements do: inferred, in place, by a mapping model with a closure.
extension FaultCases {
    /// A store of the first of ``KillableVersions``.
    ///
    /// - Parameters:
    ///   - isWAL: the last rows lie in a WAL that a dead process left; else the store has a rollback journal.
    ///   - count: objects of each entity but the authors.
    package static func makeItems(at store: String, isWAL: Bool, count: Int = 24) throws {
        let maker = try StoreCreator(KillableVersions.make().versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: count, counts: ["Author": 3], isHostile: false).fill(writer)
        try writer.finish()
        guard isWAL else {
            _ = try SQLiteShell.run(store, "PRAGMA journal_mode = DELETE")
            return
        }
        let last = try SQLiteProcess(store)
        _ = try last.run("PRAGMA wal_autocheckpoint = 0; UPDATE ZITEM SET ZNAME = 'in the log' WHERE Z_PK % 5 = 0")
        last.kill()
    }

    static let items = """
        SELECT Z_PK, ZNAME, ZRATE, hex(ZDATA) FROM ZITEM ORDER BY 1; SELECT Z_PK, ZPLACE FROM ZLINK ORDER BY 1;
        SELECT Z_PK, ZNAME FROM ZAUTHOR ORDER BY 1; SELECT Z_UUID FROM Z_METADATA
        """

    static func inferred(isWAL: Bool) throws -> FaultCase {
        let versions = try KillableVersions.make()
        var trial = FaultCase("inferred, \(isWAL ? "rows in the WAL" : "rollback journal")") { store in
            try makeItems(at: store, isWAL: isWAL)
        } run: { store, system in
            try migrate(store, versions, system)
        }
        trial.contents = { try lines($0, items) }
        return trial
    }

    /// Two versions of which every table stays: columns are added, dropped, renamed and filled, an index is made again, and
    /// every row gets another number.
    package static func alterable() throws -> ModelVersions {
        let first = try KillableVersions.make().versions[0]
        var model = first.model
        try model.updateEntity("Author") { $0.attributes.append(.init(name: "motto", type: .string)) }
        try model.updateEntity("Link") { $0.attributes.removeAll { $0.name == "place" } }
        try model.updateEntity("Item") {
            $0.attributes.removeAll { $0.name == "rate" }
            $0.attributes.append(.init(name: "grade", type: .double, renamingIdentifier: "rate"))
            $0.attributes.append(
                .init(name: "score", type: .integer32, isOptional: false, defaultValue: .integer(1), isIndexed: true))
        }
        model = try ManagedObjectModel(entities: model.entities + [EntityDescription(name: "Aardvark")])
        return ModelVersions(versions: [first, ModelVersion(names: ["2"], model: model)])
    }

    /// In one transaction on the store itself.
    static func altered(isWAL: Bool) throws -> FaultCase {
        try ofItems("altered, \(isWAL ? "rows in the WAL" : "rollback journal")", isWAL: isWAL, normalises: false)
    }

    /// A column gets another type in the text of its table, and every row another value, in one transaction on the store
    /// itself.
    static func retyped(isWAL: Bool) throws -> FaultCase {
        let first = try KillableVersions.make().versions[0]
        var model = first.model
        try model.updateEntity("Link") { link in
            link.attributes = [.init(name: "place", type: .double, isIndexed: true)]
        }
        let versions = ModelVersions(versions: [first, ModelVersion(names: ["2"], model: model)])
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.answers = try Answers([Answer(from: "1", to: "2", entity: "Link", property: "place", is: .keep)])
        var trial = FaultCase("type changed, \(isWAL ? "rows in the WAL" : "rollback journal")") { store in
            try makeItems(at: store, isWAL: isWAL)
            _ = try SQLiteShell.run(store, "UPDATE ZLINK SET ZPLACE = Z_PK")
        } run: { [options] store, system in
            try migrate(store, versions, system, options)
        }
        trial.contents = {
            try lines(
                $0,
                """
                SELECT Z_PK, CAST(ZPLACE AS INTEGER) FROM ZLINK ORDER BY 1; \
                SELECT typeof(ZPLACE) = lower(replace(type, 'FLOAT', 'REAL')), count(*)
                  FROM ZLINK, pragma_table_info('ZLINK') WHERE name = 'ZPLACE' GROUP BY 1;
                SELECT Z_PK, ZNAME FROM ZITEM ORDER BY 1; SELECT Z_UUID FROM Z_METADATA
                """)
        }
        return trial
    }

    static var rebuilt: FaultCase {
        get throws { try ofItems("rebuilt on a copy", isWAL: true, normalises: true) }
    }

    private static func ofItems(_ name: String, isWAL: Bool, normalises: Bool) throws -> FaultCase {
        let versions = try alterable()
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.choice = normalises ? .normalised : .cheapest
        var trial = FaultCase(name) { store in
            try makeItems(at: store, isWAL: isWAL)
        } run: { [options] store, system in
            try migrate(store, versions, system, options)
        }
        trial.contents = { store in
            // Whichever of its two names the column has.
            let rate = try lines(store, "SELECT name FROM pragma_table_info('ZITEM') WHERE name IN ('ZRATE', 'ZGRADE')")
            return try lines(
                store,
                """
                SELECT Z_PK, ZNAME, \(rate.joined()), hex(ZDATA) FROM ZITEM ORDER BY 1; \
                SELECT Z_PK, ZITEM FROM ZLINK ORDER BY 1; SELECT Z_PK, ZNAME FROM ZAUTHOR ORDER BY 1; \
                SELECT Z_UUID FROM Z_METADATA
                """)
        }
        return trial
    }

    static var inPlace: FaultCase {
        get throws {
            let first = try KillableVersions.make().versions[0]
            var model = first.model
            try model.updateEntity("Author") { $0.attributes.append(.init(name: "motto", type: .string)) }
            let versions = ModelVersions(versions: [first, ModelVersion(names: ["2"], model: model)])
            var trial = FaultCase("in place") { store in
                try makeItems(at: store, isWAL: true)
            } run: { store, system in
                try Migrator(system: system).recoverIfNeeded(store)
                let prepared = try PreparedMigration(store, versions: versions, system: system)
                guard let migration = try prepared.choosing(.inPlace).migration() else { return }
                _ = try Migrator(options: .sequential, system: system).run(migration, on: store)
            }
            trial.contents = { try lines($0, items) }
            return trial
        }
    }

    /// A closure runs inside the statement that carries the rows over.
    static var mapped: FaultCase {
        get throws {
            let versions = try KillableVersions.make()
            var item = EntityMapping(from: "Item", to: "Item")
            item.attributeMappings = [
                PropertyMapping("name", from: "name") { (name: String?) in name },
                try PropertyMapping("rate", "$source.rate"), try PropertyMapping("data", "$source.data"),
                PropertyMapping("score", from: "name") { (name: String?) in Int64(name?.count ?? 0) },
            ]
            let mapping = MappingModel([
                item, EntityMapping(from: "Link", to: "Link"), EntityMapping(from: "Author", to: "Author"),
                EntityMapping(adding: "Aardvark"),
            ])
            var registry = MigrationRegistry()
            registry.register(mapping: mapping, from: "1", to: "2")
            let options = PreparedMigration.Options(registry: registry)
            var trial = FaultCase("by a mapping model") { store in
                try makeItems(at: store, isWAL: true)
            } run: { store, system in
                try migrate(store, versions, system, options)
            }
            trial.contents = { try lines($0, "SELECT Z_PK, ZNAME, ZRATE, hex(ZDATA) FROM ZITEM ORDER BY 1") }
            return trial
        }
    }
}
