import Foundation
import MoultCoreData
import Synchronization
import TestSupport
import Testing

/// Stages in Core Data's own words: an attribute moves into an entity of its own.
struct StagedMigrationTests {
    private let versions: ModelVersions
    private let checksums: [String]
    private let folder: ScratchFolder
    private let url: URL

    init() throws {
        versions = try FlightVersions.make()
        checksums = versions.versions.map(\.model.versionChecksum)
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/Fleet.sqlite")
        try FlightVersions.makeStore(at: url.path, count: 40)
    }

    private func reference(_ number: Int, checksum: String? = nil) -> ManagedObjectModelReference {
        ManagedObjectModelReference(
            model: versions.versions[number].model, versionChecksum: checksum ?? checksums[number])
    }

    private func custom(_ from: Int, _ to: Int, label: String? = nil) -> CustomMigrationStage {
        let stage = CustomMigrationStage(migratingFrom: reference(from), to: reference(to))
        stage.label = label
        return stage
    }

    private func load(_ manager: StagedMigrationManager, _ change: (PersistentStoreDescription) -> Void = { _ in })
        async throws -> PersistentContainer
    {
        let container = PersistentContainer(
            name: "Fleet", managedObjectModel: versions.versions[2].model, versions: versions)
        let description = PersistentStoreDescription(url: url)
        description.setOption(manager, forKey: "NSPersistentStoreStagedMigrationManagerOptionKey")
        change(description)
        container.persistentStoreDescriptions = [description]
        try await container.loadPersistentStores()
        return container
    }

    /// What the documentation of Core Data does in its own example, word for word but for the prefix.
    private func decompose() -> CustomMigrationStage {
        let stage = custom(1, 2, label: "decompose")
        stage.willMigrateHandler = { manager, stage in
            guard let container = manager.container else { throw CocoaError(.featureUnsupported) }
            let context = container.newBackgroundContext()
            try context.performAndWait {
                var request = FetchRequest<ManagedObject>(entityName: "Aircraft")
                request.predicate = try FetchPredicate(format: "flightData != nil")
                for aircraft in try context.fetch(request) {
                    let flight = try context.insertNewObject(forEntityName: "FlightData")
                    try flight.setValue(aircraft.value(forKey: "flightData"), forKey: "data")
                    try flight.setValue(aircraft, forKey: "aircraft")
                }
                try context.save()
            }
        }
        return stage
    }

    @Test func `a lightweight and a custom stage bring a store to the newest version when it is loaded`() async throws {
        let before = try FlightVersions.witness(url.path)
        let stage = decompose()
        let seen = Mutex([String]())
        stage.didMigrateHandler = { manager, stage in
            let context = try #require(manager.container).newBackgroundContext()
            let count = try context.count(for: FetchRequest<ManagedObject>(entityName: "FlightData"))
            let names = context.persistentStoreCoordinator?.managedObjectModel.entity("Aircraft")?.attributes.map(
                \.name)
            seen.withLock { $0.append("\(stage.label ?? "") \(count) \(names ?? [])") }
        }
        let manager = StagedMigrationManager([LightweightMigrationStage([checksums[0], checksums[1]]), stage])
        let messages = Mutex([String]())
        let container = try await load(manager) {
            $0.migrationProgress = { now in messages.withLock { $0 += [now.message].compactMap(\.self) } }
        }
        #expect(seen.withLock { $0 } == ["decompose 36 [\"name\"]"])
        #expect(manager.container == nil)
        #expect(try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "FlightData")) == 36)
        #expect(try FlightVersions.witness(url.path) == before)
        let said = messages.withLock { $0.filter { $0.contains("decompose") } }
        #expect(
            said == ["The code of decompose has run at version V2.", "The code of decompose has run at version V3."])
    }

    @Test func `a handler that throws leaves the store as it was, and its name is in the error`() async throws {
        let before = try FlightVersions.witness(url.path)
        let bytes = try Data(contentsOf: url)
        let stage = decompose()
        stage.didMigrateHandler = { _, _ in throw MigrationError(.usage, "No fuel.", place: "tank", remedy: "Fill it.")
        }
        let manager = StagedMigrationManager([LightweightMigrationStage([checksums[0]]), stage])
        let error = await #expect(throws: MigrationError.self) { try await load(manager) }
        #expect(error?.code == .stageFailed)
        #expect(error?.coreData?.number == 134110)
        #expect(error?.message == "The step decompose, after of decompose failed: No fuel.")
        #expect(try Data(contentsOf: url) == bytes)
        stage.didMigrateHandler = nil
        _ = try await load(manager)
        #expect(try FlightVersions.witness(url.path) == before)
    }

    // MARK: - Stages that do not fit together

    @Test func `whatever is wrong with stages is listed together before anything is done`() async throws {
        let bytes = try Data(contentsOf: url)
        let same = CustomMigrationStage(
            migratingFrom: reference(1),
            to: ManagedObjectModelReference(
                model: versions.versions[1].model, versionChecksum: checksums[1]))
        same.label = "standing"
        let changed = CustomMigrationStage(migratingFrom: reference(1), to: reference(2, checksum: "frozen"))
        changed.label = "changed"
        let cases: [(stages: [MigrationStage], faults: [String])] = [
            (
                [LightweightMigrationStage([checksums[0], checksums[0]]), custom(1, 2)],
                ["stage 1 returns to \(checksums[0])"]
            ),
            (
                [LightweightMigrationStage([checksums[0]]), same, custom(1, 2)],
                ["standing leads from \(checksums[1]) to the same"]
            ),
            (
                [custom(0, 1), custom(1, 2), custom(0, 2, label: "again")],
                [
                    "Nothing leads from \(checksums[2]) to \(checksums[0]), where again begins",
                    "again returns to \(checksums[2])",
                ]
            ),
            (
                [LightweightMigrationStage([checksums[0], "nobody's"]), custom(1, 2)],
                ["No known model has the checksum nobody's"]
            ),
            ([custom(1, 2)], ["No stage has the version V1 (\(checksums[0]))"]),
            (
                [LightweightMigrationStage([checksums[0], checksums[1]])],
                ["No stage has the version V3 (\(checksums[2]))"]
            ),
            (
                [LightweightMigrationStage([checksums[0]]), changed],
                [
                    "changed expects a model with the checksum frozen, and it is \(checksums[2])",
                    "No stage has the version V3",
                ]
            ),
            ([LightweightMigrationStage([]), custom(0, 1), custom(1, 2)], ["stage 1 has no versions"]),
            ([], ["No stage has the version V1", "No stage has the version V2", "No stage has the version V3"]),
        ]
        for (stages, faults) in cases {
            let manager = StagedMigrationManager(stages)
            let error = await #expect(throws: MigrationError.self, "\(faults)") { try await load(manager) }
            #expect(error?.code == .stagesInvalid, "\(String(describing: error))")
            #expect(error?.coreData?.number == 134504)
            for fault in faults { #expect(error?.message.contains(fault) == true, "\(fault): \(error?.message ?? "")") }
            #expect(throws: MigrationError.self) { try manager.validate(versions.versions[2].model, in: versions) }
        }
        #expect(try Data(contentsOf: url) == bytes)
        #expect(!FileManager.default.fileExists(atPath: url.path + ".moult"))
        try StagedMigrationManager([custom(0, 1), custom(1, 2)]).validate(versions.versions[2].model, in: versions)
        let fresh = URL(fileURLWithPath: folder.path + "/New.sqlite")
        let container = PersistentContainer(
            name: "New", managedObjectModel: versions.versions[2].model, versions: versions)
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: fresh)]
        container.persistentStoreDescriptions[0].setOption(
            StagedMigrationManager([]), forKey: PersistentStoreOption.stagedMigrationManager)
        await #expect(throws: MigrationError.self, "also where there is no store yet") {
            try await container.loadPersistentStores()
        }
        #expect(!FileManager.default.fileExists(atPath: fresh.path))
    }

    @Test func `an option that is no manager is refused`() async throws {
        let container = PersistentContainer(name: "Fleet", managedObjectModel: versions.versions[2].model)
        let description = PersistentStoreDescription(url: url)
        description.setOption("decompose", forKey: PersistentStoreOption.stagedMigrationManager)
        container.persistentStoreDescriptions = [description]
        let error = await #expect(throws: MigrationError.self) { try await container.loadPersistentStores() }
        #expect(error?.code == .usage)
    }

    /// Core Data takes an all-lightweight plan straight from first to last, where nothing can be inferred.
    @Test func `lightweight stages are walked step by step where the jump cannot be inferred`() async throws {
        func model(_ attribute: AttributeDescription?) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Song", attributes: [.init(name: "title", type: .string)] + [attribute].compactMap(\.self))
            ])
        }
        let steps = try ModelVersions([
            ("1", model(.init(name: "length", type: .string))), ("2", model(nil)),
            ("3", model(.init(name: "length", type: .double, isOptional: false, defaultValue: .double(3)))),
        ])
        #expect(throws: MigrationError.self) {
            try MappingModel.inferredMappingModel(
                forSourceModel: steps.versions[0].model, destinationModel: steps.versions[2].model)
        }
        let path = URL(fileURLWithPath: folder.path + "/Songs.sqlite")
        let old = PersistentContainer(name: "Songs", managedObjectModel: steps.versions[0].model)
        old.persistentStoreDescriptions = [PersistentStoreDescription(url: path)]
        try await old.loadPersistentStores()
        let song = try old.viewContext.insertNewObject(forEntityName: "Song")
        try song.setValue("Swift", forKey: "title")
        try song.setValue("long", forKey: "length")
        try old.viewContext.save()
        try old.persistentStoreCoordinator.remove(old.persistentStoreCoordinator.persistentStores[0])
        let new = try PersistentContainer(name: "Songs", versions: steps)
        let description = PersistentStoreDescription(url: path)
        description.setOption(
            StagedMigrationManager([LightweightMigrationStage(steps.versions.map(\.model.versionChecksum))]),
            forKey: PersistentStoreOption.stagedMigrationManager)
        new.persistentStoreDescriptions = [description]
        try await new.loadPersistentStores()
        #expect(try SQLiteShell.run(path.path, "SELECT ZTITLE, ZLENGTH FROM ZSONG") == "Swift|3.0\n")
    }

    // MARK: - What a stage loses

    /// Two songs with a length as a text, one without, and a stage to where it is a number.
    private func songs(_ name: String) async throws -> (URL, ModelVersions) {
        func model(_ type: AttributeType) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    name: "Song",
                    attributes: [.init(name: "title", type: .string), .init(name: "length", type: type)])
            ])
        }
        let versions = try ModelVersions([("1", model(.string)), ("2", model(.double))])
        let url = URL(fileURLWithPath: folder.path + "/\(name).sqlite")
        let container = PersistentContainer(name: "Songs", managedObjectModel: versions.versions[0].model)
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
        try await container.loadPersistentStores()
        for (title, length) in [("Swift", "3.5"), ("Core", "2"), ("Data", nil)] {
            let song = try container.viewContext.insertNewObject(forEntityName: "Song")
            try song.setValue(title, forKey: "title")
            try song.setValue(length, forKey: "length")
        }
        try container.viewContext.save()
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        return (url, versions)
    }

    private func open(
        _ url: URL, _ versions: ModelVersions, accepting accepted: AcceptedLosses = .none,
        _ will: @escaping CustomMigrationStage.Handler, did: CustomMigrationStage.Handler? = nil
    ) async throws {
        let references = versions.versions.map {
            ManagedObjectModelReference(model: $0.model, versionChecksum: $0.model.versionChecksum)
        }
        let stage = CustomMigrationStage(migratingFrom: references[0], to: references[1])
        (stage.label, stage.willMigrateHandler, stage.didMigrateHandler) = ("retype", will, did)
        let description = PersistentStoreDescription(url: url)
        description.setOption(StagedMigrationManager([stage]), forKey: PersistentStoreOption.stagedMigrationManager)
        description.acceptedLosses = accepted
        description.migrationAnswers = Data(
            #"{"format":1,"answers":[{"from":"1","to":"2","entity":"Song","property":"length","is":"drop"}]}"#.utf8)
        let container = try PersistentContainer(name: "Songs", versions: versions)
        container.persistentStoreDescriptions = [description]
        try await container.loadPersistentStores()
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
    }

    @Test func `a handler that reads the old values hands them on, and nothing is lost`() async throws {
        let (url, versions) = try await songs("Read")
        let lengths = Mutex<[String: Double]>([:])
        try await open(url, versions) { manager, _ in
            let context = try #require(manager.container).viewContext
            for song in try context.fetch(FetchRequest<ManagedObject>(entityName: "Song")) {
                let title = try song.value(forKey: "title") as? String ?? ""
                let length = (try song.value(forKey: "length") as? String).flatMap(Double.init)
                lengths.withLock { $0[title] = length }
            }
        } did: { manager, _ in
            let context = try #require(manager.container).viewContext
            for song in try context.fetch(FetchRequest<ManagedObject>(entityName: "Song")) {
                let title = try song.value(forKey: "title") as? String ?? ""
                try song.setValue(lengths.withLock { $0[title] }, forKey: "length")
            }
            try context.save()
        }
        #expect(
            try SQLiteShell.run(url.path, "SELECT ZTITLE, ZLENGTH FROM ZSONG ORDER BY 1")
                == "Core|2.0\nData|\nSwift|3.5\n")
        #expect(try MigrationHistory(storeAt: url).events().last?.losses == [])
    }

    @Test func `a stage whose handler never reads the old values is refused, and counted where that is declared`()
        async throws
    {
        let (url, versions) = try await songs("Unread")
        let handler: CustomMigrationStage.Handler = { manager, _ in
            let context = try #require(manager.container).viewContext
            for song in try context.fetch(FetchRequest<ManagedObject>(entityName: "Song")) {
                try song.setValue("A song", forKey: "title")
            }
            try context.save()
        }
        let bytes = try Data(contentsOf: url)
        let error = await #expect(throws: MigrationError.self) { try await open(url, versions, handler) }
        #expect(error?.code == .lossNotAccepted && error?.coreData?.number == 134110)
        #expect(error?.message.contains("2 values of Song.length are lost") == true, "\(error?.message ?? "")")
        #expect(error?.remedy.contains("willMigrateHandler") == true, "\(error?.remedy ?? "")")
        #expect(try Data(contentsOf: url) == bytes)
        try await open(url, versions, accepting: ["Song.length"], handler)
        let event = try #require(try MigrationHistory(storeAt: url).events().last)
        #expect(event.outcome == .succeeded && event.losses.map(\.place) == ["Song.length"])
        #expect(event.losses.map(\.count) == [2])
    }
}
