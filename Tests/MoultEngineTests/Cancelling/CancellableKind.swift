import FaultCases
import Moult
import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import TestSupport
import Testing

/// A kind of work on a store that somebody may cancel.
struct CancellableKind: Sendable, CustomTestStringConvertible {
    typealias Work = @Sendable (_ store: String, _ system: any System, _ observer: MigrationObserver) throws -> Void

    let name: String
    /// Makes the store, and what lies beside it, in an empty folder.
    let prepare: @Sendable (_ store: String) throws -> Void
    let run: Work
    /// Work that ends where the store may stay when the rest is cancelled.
    var stops: [Work] = []
    /// Whether the work only looks.
    var leavesStore = false

    var testDescription: String { name }

    static let all: [CancellableKind] = [
        inferred(isWAL: true), inferred(isWAL: false), altered, inPlace, mapped, policy, staged(stops: false),
        staged(stops: true),
        undone, deferred, finished, rolledBack, restored, mended, putBack, rehearsed, backedUp,
    ]

    private static func migrate(
        _ store: String, _ versions: ModelVersions, to target: String? = nil, _ system: any System,
        _ observer: MigrationObserver, _ options: PreparedMigration.Options = .init(losses: .asTheVersionsSay())
    ) throws {
        let prepared = try PreparedMigration(store, versions: versions, to: target, options: options, system: system)
        _ = try Migrator(system: system).run(prepared, observer)
    }
}

// MARK: - By statements

extension CancellableKind {
    @Sendable private static func makeItems(at store: String, isWAL: Bool) throws {
        try FaultCases.makeItems(at: store, isWAL: isWAL, count: 1_000)
    }

    private static func inferred(isWAL: Bool) -> CancellableKind {
        CancellableKind(name: isWAL ? "inferred, rows in the WAL" : "inferred, rollback journal") {
            try makeItems(at: $0, isWAL: isWAL)
        } run: { store, system, observer in
            try migrate(store, try KillableVersions.make(), system, observer)
        }
    }

    /// In one transaction on the store itself.
    private static let altered = CancellableKind(name: "altered") {
        try makeItems(at: $0, isWAL: true)
    } run: { store, system, observer in
        try migrate(store, try FaultCases.alterable(), system, observer)
    }

    private static let inPlace = CancellableKind(name: "in place") {
        try makeItems(at: $0, isWAL: true)
    } run: { store, system, observer in
        let first = try KillableVersions.make().versions[0]
        var model = first.model
        try model.updateEntity("Author") { $0.attributes.append(.init(name: "motto", type: .string)) }
        let versions = ModelVersions(versions: [first, ModelVersion(names: ["2"], model: model)])
        let prepared = try PreparedMigration(store, versions: versions, system: system)
        guard let migration = try prepared.choosing(.inPlace).migration() else { return }
        _ = try Migrator(system: system).run(migration, on: store, observer)
    }

    /// A closure runs inside the statement that carries the rows over.
    private static let mapped = CancellableKind(name: "by a mapping model") {
        try makeItems(at: $0, isWAL: true)
    } run: { store, system, observer in
        var item = EntityMapping(from: "Item", to: "Item")
        item.attributeMappings = [
            PropertyMapping("name", from: "name") { (name: String?) in name },
            try PropertyMapping("rate", "$source.rate"), try PropertyMapping("data", "$source.data"),
            PropertyMapping("score", from: "name") { (name: String?) in Int64(name?.count ?? 0) },
        ]
        var registry = MigrationRegistry()
        registry.register(
            mapping: MappingModel([
                item, EntityMapping(from: "Link", to: "Link"), EntityMapping(from: "Author", to: "Author"),
                EntityMapping(adding: "Aardvark"),
            ]), from: "1", to: "2")
        try migrate(store, try KillableVersions.make(), system, observer, .init(registry: registry))
    }
}

// MARK: - By code

extension CancellableKind {
    private static let policy = CancellableKind(name: "by a policy, with a quarantine") { store in
        let maker = try StoreCreator(ModelVersion(names: ["1"], model: FaultCases.notes([])))
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        for number in 1...300 {
            let values: [String: PropertyValue] = [
                "number": .attribute(.integer(Int64(number))), "text": .attribute(.string("Note \(number)")),
            ]
            _ = try writer.insert("Note", values)
        }
        try writer.finish()
    } run: { store, system, observer in
        let second = ModelVersion(names: ["2"], model: try FaultCases.notes([.init(name: "title", type: .string)]))
        let versions = ModelVersions(versions: [ModelVersion(names: ["1"], model: try FaultCases.notes([])), second])
        var registry = MigrationRegistry()
        registry.register(policy: { FaultCases.Choosing() }, named: "Choosing")
        registry.register(
            mapping: MappingModel([
                EntityMapping(from: "Note", to: "Note", entityMigrationPolicyClassName: "Choosing")
            ]), from: "1", to: "2")
        var options = PreparedMigration.Options(registry: registry)
        options.batchSize = 20
        try migrate(store, versions, system, observer, options)
    }

    @Sendable private static func makeFlights(at store: String) throws {
        try FlightVersions.makeStore(at: store, count: 60, external: 1)
    }

    private static func staged(stops: Bool) -> CancellableKind {
        let options = PreparedMigration.Options(
            registry: FlightVersions.registry(), stopsAtEachVersion: stops)
        var kind = CancellableKind(name: stops ? "three stages, a stop at each version" : "three stages, one commit") {
            try makeFlights(at: $0)
        } run: { store, system, observer in
            try migrate(store, try FlightVersions.make(), system, observer, options)
        }
        if stops { kind.stops = [{ try migrate($0, try FlightVersions.make(), to: "V2", $1, $2, options) }] }
        return kind
    }

    /// A step that tells somebody outside of the store, and takes it back when the run does not end well.
    private static let undone = CancellableKind(name: "steps with an undo") {
        try makeFlights(at: $0)
    } run: { store, system, observer in
        var registry = MigrationRegistry()
        registry.steps["tell"] = StepCode(
            execute: { _ in try system.write([1], to: store + ".told") },
            undo: { _ in try system.remove(store + ".told") })
        registry = FlightVersions.registry(
            registry, before: [CodeStep(name: "tell", sentence: "Somebody is told.")])
        try migrate(store, try FlightVersions.make(), system, observer, .init(registry: registry))
    }
}

// MARK: - Later, and back

extension CancellableKind {
    @Sendable private static func makeDeferrable(at store: String) throws {
        let maker = try StoreCreator(DeferrableVersions.make().versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout, speed: .reckless)
        try SampleData(seed: 1, count: 1_000, isHostile: false).fill(writer)
        try writer.finish()
    }

    private static let putOff: Work = { store, system, observer in
        var options = PreparedMigration.Options(losses: .asTheVersionsSay())
        options.defersWork = true
        try migrate(store, try DeferrableVersions.make(), system, observer, options)
    }

    private static let deferred = CancellableKind(
        name: "deferred", prepare: { try makeDeferrable(at: $0) }, run: putOff)

    private static let finished = CancellableKind(name: "deferred work finished") { store in
        try makeDeferrable(at: store)
        try putOff(store, POSIXSystem(), .none)
    } run: { store, system, observer in
        _ = try Migrator(system: system).finishDeferred(store, .all, observer)
    } stops: {
        (1...4).map { count in
            { store, system, _ in
                for _ in 0..<count { _ = try Migrator(system: system).finishDeferred(store, .one) }
            }
        }
    }

    private static let rolledBack = CancellableKind(name: "rolled back") { store in
        try makeItems(at: store, isWAL: false)
        try migrate(store, try KillableVersions.make(), POSIXSystem(), .none)
    } run: { store, system, observer in
        let migrator = Migrator(system: system)
        let backup = try migrator.backups(of: store).newest(ofVersion: "1")
        _ = try migrator.rollback(store, to: backup, currentVersion: "2", observer)
    }

    /// The store cannot be read any more: its first page is gone.
    private static let restored = CancellableKind(name: "backup restored over a damaged store") { store in
        try makeFlights(at: store)
        _ = try Migrator().backUp(store, version: "V1")
        let bytes = try POSIXSystem().read(store)
        try POSIXSystem().write([UInt8](repeating: 0xEE, count: 4_096) + bytes.dropFirst(4_096), to: store)
    } run: { store, system, observer in
        let migrator = Migrator(system: system)
        let backup = try migrator.backups(of: store).newest(ofVersion: "V1")
        _ = try migrator.rollback(store, to: backup, observer)
    }

    private init(
        name: String, prepare: @escaping @Sendable (String) throws -> Void, run: @escaping Work, stops: () -> [Work]
    ) {
        self.init(name: name, prepare: prepare, run: run)
        self.stops = stops()
    }
}

// MARK: - Rules, and what changes nothing

extension CancellableKind {
    @Sendable private static func makeForum(at store: String) throws {
        let forum = try BrokenForum(
            """
            INSERT INTO ZFORUM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'one');
            INSERT INTO ZTOPIC (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFORUM)
                SELECT value, 4, 1, 't' || value, iif(value % 4 = 0, NULL, 1) FROM generate_series(1, 200)
            """)
        forum.store.close()
        _ = try SQLiteShell.run(forum.path, "PRAGMA journal_mode = DELETE")
        try POSIXSystem().write(try POSIXSystem().read(forum.path), to: store)
    }

    private static let mend: Work = { store, system, observer in
        let homeless = ValidationRule("homeless", of: "Topic", .orphan(relationship: "forum"), fix: .quarantine)
        let audit = try RuleAudit(store, [homeless], version: try BrokenForum.versions().versions[0], system: system)
        guard let migration = try audit.mending() else { return }
        _ = try Migrator(system: system).run(migration, on: store, observer)
    }

    private static let mended = CancellableKind(
        name: "objects sent to the quarantine", prepare: { try makeForum(at: $0) }, run: mend)

    private static let putBack = CancellableKind(name: "quarantine restored") { store in
        try makeForum(at: store)
        try mend(store, POSIXSystem(), .none)
    } run: { store, system, observer in
        let restoration = try Restoration(into: store, at: try BrokenForum.versions().versions[0], system: system)
        _ = try Migrator(system: system).run(restoration.migration, on: store, observer)
    }

    private static let rehearsed = CancellableKind(
        name: "rehearsed", prepare: { try makeItems(at: $0, isWAL: false) },
        run: { store, system, observer in
            let prepared = try PreparedMigration(store, versions: try KillableVersions.make(), system: system)
            guard let migration = try prepared.migration() else { return }
            let folder = Path.folder(of: store)
            _ = try Migrator(system: system).rehearse(migration, on: store, scratch: folder, observer)
        }, leavesStore: true)

    private static let backedUp = CancellableKind(
        name: "backed up", prepare: { try makeItems(at: $0, isWAL: true) },
        run: { store, system, observer in
            _ = try Migrator(system: system).backUp(store, version: "1", observer)
        }, leavesStore: true)
}
