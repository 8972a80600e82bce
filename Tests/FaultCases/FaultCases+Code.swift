import MoultBasics
import MoultEngine
import MoultModel
import MoultObjects
import MoultPlan
import MoultStore
import MoultTesting
import TestSupport

/// Migrations that an app's own code does: policies, stages, steps with an undo.
extension FaultCases {
    // MARK: - Policies

    /// Puts every third object aside.
    package final class Choosing: EntityMigrationPolicy {
        override package func createDestinationInstances(
            forSource source: SourceObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            if (source.integer("number") ?? 0) % 3 == 0 {
                source.outcome = .quarantined(reason: "every third")
            } else {
                try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            }
        }
    }

    package static func notes(_ more: [AttributeDescription]) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                name: "Note",
                attributes: [.init(name: "number", type: .integer32), .init(name: "text", type: .string)] + more)
        ])
    }

    static var noteVersions: ModelVersions {
        get throws {
            ModelVersions(versions: [
                ModelVersion(names: ["1"], model: try notes([])),
                ModelVersion(names: ["2"], model: try notes([.init(name: "title", type: .string)])),
            ])
        }
    }

    static var choosing: PreparedMigration.Options {
        get throws {
            var registry = MigrationRegistry()
            registry.register(policy: { Choosing() }, named: "Choosing")
            registry.register(
                mapping: MappingModel([
                    EntityMapping(from: "Note", to: "Note", entityMigrationPolicyClassName: "Choosing")
                ]), from: "1", to: "2")
            var options = PreparedMigration.Options(registry: registry)
            options.batchSize = 8
            return options
        }
    }

    @Sendable static func makeNotes(at store: String, _ versions: ModelVersions) throws {
        let maker = try StoreCreator(versions.versions[0])
        try maker.make(at: store)
        let writer = try ObjectWriter(store: store, layout: maker.layout)
        for number in 1...20 {
            let values: [String: PropertyValue] = [
                "number": .attribute(.integer(Int64(number))), "text": .attribute(.string("Note \(number)")),
            ]
            _ = try writer.insert("Note", values)
        }
        try writer.finish()
    }

    static var policy: FaultCase {
        get throws {
            let (versions, options) = (try noteVersions, try choosing)
            return FaultCase("by a policy, with a quarantine") { store in
                try makeNotes(at: store, versions)
            } run: { store, system in
                try migrate(store, versions, system, options)
            }
        }
    }

    // MARK: - Stages

    /// Six aircraft, one of them with external data.
    private static func flights(
        _ name: String, _ options: PreparedMigration.Options, to target: String? = nil
    ) throws -> FaultCase {
        let versions = try FlightVersions.make()
        var trial = FaultCase(name) { store in
            try FlightVersions.makeStore(at: store, count: 6, external: 1)
        } run: { store, system in
            try migrate(store, versions, to: target, system, options)
        }
        trial.contents = FlightVersions.witness
        return trial
    }

    static var passes: FaultCase {
        get throws { try flights("three stages, one commit", .init(registry: FlightVersions.registry())) }
    }

    static var stops: FaultCase {
        get throws {
            let versions = try FlightVersions.make()
            let options = PreparedMigration.Options(registry: FlightVersions.registry(), stopsAtEachVersion: true)
            var trial = try flights("three stages, a stop at each version", options)
            trial.stops = [{ try migrate($0, versions, to: "V2", $1, options) }]
            return trial
        }
    }

    // MARK: - Steps with an undo

    /// A step that tells somebody outside of the store, and takes it back when anything after it fails.
    static var undone: FaultCase {
        get throws {
            let versions = try FlightVersions.make()
            var trial = FaultCase("steps with an undo") { store in
                try FlightVersions.makeStore(at: store, count: 6, external: 1)
            } run: { store, system in
                var registry = MigrationRegistry()
                registry.steps["tell"] = StepCode(
                    execute: { _ in try system.write([1], to: store + ".told") },
                    undo: { _ in try system.remove(store + ".told") })
                registry = FlightVersions.registry(
                    registry, before: [CodeStep(name: "tell", sentence: "Somebody is told.")])
                try migrate(store, versions, system, .init(registry: registry))
            }
            trial.contents = FlightVersions.witness
            trial.outside = { store, isNew, said in
                let system = POSIXSystem()
                let isTold = try system.exists(store + ".told")
                if isNew { return isTold ? nil : "the step of a run that committed has told nobody" }
                guard isTold else { return nil }
                // Nobody undoes what a dead process did, or a disk that fails forbids: then it must be said, by the
                // run's own error where the disk takes no more words.
                if said.contains("Undo by hand what tell did") { return nil }
                let runs = try RunHistory(StoreRecords(store: store)).records()
                let log = try MigrationLog(StoreRecords(store: store)).read()
                let isSaid = runs.last?.error?.contains("tell") == true || log.contains("tell")
                return isSaid ? nil : "what a step did outside of the store stays, and nobody says so"
            }
            return trial
        }
    }

    // MARK: - Resumed

    /// The same with stops, after a run that died between the first commit and the second.
    static var resumed: FaultCase {
        get throws {
            let options = PreparedMigration.Options(registry: FlightVersions.registry(), stopsAtEachVersion: true)
            let versions = try FlightVersions.make()
            var trial = try flights("resumed after a death between two stops", options)
            trial.prepare = { store in
                try FlightVersions.makeStore(at: store, count: 6, external: 1)
                try migrate(store, versions, to: "V2", POSIXSystem(), options)
                let folder = Path.folder(of: try POSIXSystem().resolve(store))
                try POSIXSystem().makeFolder(folder + "/temporary")
                let path = Path.join(folder, Path.name(of: store))
                let calls = try FaultCall.count(in: folder, of: path) { try migrate(path, versions, $0, options) }
                // A little before the end of the second run, which then lies before its commit.
                try FaultCall.die(at: calls / 2, in: folder) { try migrate(path, versions, $0, options) }
            }
            return trial
        }
    }
}
