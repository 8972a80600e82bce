import Foundation
import MoultCoreData
import Synchronization
import TestSupport
import Testing

/// Versions by semantic number: plans, steps with rollbacks, stops, backups, shortcuts.
struct VersionRegistryTests {
    private let folder: ScratchFolder
    private let url: URL

    init() throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path + "/Wealth.sqlite")
    }

    // MARK: - A world of four versions

    private static func asset(_ attributes: AttributeDescription..., risk: Bool = false) -> EntityDescription {
        EntityDescription(
            name: "Asset",
            attributes: [
                .init(name: "name", type: .string, isOptional: false), .init(name: "price", type: .integer64),
            ] + attributes,
            relationships: risk
                ? [.init(name: "risk", destinationEntityName: "Risk", inverseName: "assets")] : [])
    }

    private static let share = AttributeDescription(name: "share", type: .integer64)

    private static let risk = EntityDescription(
        name: "Risk", attributes: [.init(name: "level", type: .string)],
        relationships: [.init(name: "assets", destinationEntityName: "Asset", inverseName: "risk", maxCount: 0)])

    /// 1.1.0 adds an attribute, 1.2.0 fills it, with the model of 1.1.0, and 1.3.0 adds an entity that code fills.
    private static func versions() throws -> [RegisteredVersion] {
        let second = try ManagedObjectModel(entities: [asset(share)])
        return [
            RegisteredVersion(
                SemanticVersion(1, 0), model: try ManagedObjectModel(entities: [asset()]), description: "Assets.",
                date: "2025-01-01"),
            RegisteredVersion(SemanticVersion(1, 1), model: second, description: "Room for shares."),
            RegisteredVersion(SemanticVersion(1, 2), model: second, description: "Shares.", type: .dataTransformation),
            RegisteredVersion(
                SemanticVersion(1, 3), model: try ManagedObjectModel(entities: [asset(share, risk: true), risk]),
                description: "Risks.", type: .heavyweight),
        ]
    }

    private final class Notes: Sendable {
        let list = Mutex([String]())
        let failing = Mutex<String?>(nil)

        func step(_ name: String, _ body: @escaping MigrationStep.Code = { _ in }) -> MigrationStep {
            MigrationStep(name: name, description: "\(name) is done.") { context in
                await Task.yield()
                try await body(context)
                self.list.withLock { $0.append(name) }
                if self.failing.withLock({ $0 }) == name {
                    throw MigrationError(.usage, "\(name) had enough.", remedy: "Try again.")
                }
            } rollback: { _ in
                await Task.yield()
                self.list.withLock { $0.append("undo \(name)") }
            }
        }
    }

    private static let shares: MigrationStep.Code = { context in
        let assets = try context.fetch(FetchRequest<ManagedObject>(entityName: "Asset"))
        let all = try assets.reduce(0) { $0 + (try $1.value(forKey: "price") as? Int ?? 0) }
        for asset in assets {
            try asset.setValue((asset.value(forKey: "price") as? Int ?? 0) * 100 / all, forKey: "share")
        }
    }

    private static let risks: MigrationStep.Code = { context in
        let risk = try context.insertNewObject(forEntityName: "Risk")
        try risk.setValue("high", forKey: "level")
        var request = FetchRequest<ManagedObject>(entityName: "Asset")
        request.predicate = try FetchPredicate(format: "share >= 50")
        for asset in try context.fetch(request) { try asset.setValue(risk, forKey: "risk") }
    }

    private static func registry(_ notes: Notes = Notes(), more: [VersionedMigration] = []) throws -> VersionRegistry {
        try VersionRegistry(
            versions(),
            migrations: [
                VersionedMigration(
                    from: SemanticVersion(1, 1), to: SemanticVersion(1, 2), type: .dataTransformation,
                    estimatedTime: 60, customMigrationSteps: [notes.step("shares", shares)],
                    description: "Shares are computed."),
                VersionedMigration(
                    from: SemanticVersion(1, 2), to: SemanticVersion(1, 3), type: .heavyweight, estimatedTime: 45,
                    customMigrationSteps: [notes.step("risks", risks), notes.step("report"), notes.step("seal")],
                    description: "Risks are found."),
            ] + more)
    }

    /// A store of the first version: prices 10, 30 and 60.
    private func makeStore(_ registry: VersionRegistry) async throws {
        let first = registry.modelVersions.versions[0].model
        let container = PersistentContainer(name: "Wealth", managedObjectModel: first)
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: url)]
        try await container.loadPersistentStores()
        for price in [10, 30, 60] {
            let asset = try container.viewContext.insertNewObject(forEntityName: "Asset")
            try asset.setValue("A\(price)", forKey: "name")
            try asset.setValue(price, forKey: "price")
        }
        try container.viewContext.save()
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
    }

    /// Read by nothing of ours.
    private func identifiers() throws -> [String] {
        let hex = try SQLiteShell.run(url.path, "SELECT hex(Z_PLIST) FROM Z_METADATA").dropLast()
        let digits = Array(hex)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        let list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
        return (list as? [String: Any])?["NSStoreModelVersionIdentifiers"] as? [String] ?? []
    }

    private func backups() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path + ".moult/backups").sorted()
    }

    private static let final = "A10|10|\nA30|30|\nA60|60|1\n"
    private func rows() throws -> String {
        try SQLiteShell.run(url.path, "SELECT ZNAME, ZSHARE, ZRISK FROM ZASSET ORDER BY ZPRICE")
    }

    // MARK: - Numbers and paths

    @Test func `numbers are read, printed and ordered`() {
        #expect(SemanticVersion("1.2.3") == SemanticVersion(1, 2, 3))
        #expect(SemanticVersion("1.2")?.description == "1.2.0")
        for text in ["", "1", "1.2.3.4", "1..2", "1.x", "-1.2", "1.2 ", "1.99999999999999999999"] {
            #expect(SemanticVersion(text) == nil, "\(text)")
        }
        let sorted = ["0.9.9", "1.0.0", "1.0.10", "1.2.0", "1.10.0", "2.0.0"].compactMap(SemanticVersion.init(_:))
        var generator = SeededGenerator(seed: 1)
        #expect(sorted.shuffled(using: &generator).sorted() == sorted)
    }

    @Test func `a heavyweight migration follows the mapping that it has, and then runs its steps`() async throws {
        var asset = EntityMapping(from: "Asset", to: "Asset")
        asset.attributeMappings = [
            PropertyMapping("share", from: "price") { (price: Int?) in price.map { $0 * 3 } },
            try PropertyMapping("name", "uppercase:($source.name)"),
        ]
        let notes = Notes()
        let registry = try VersionRegistry(
            Self.versions(),
            migrations: [
                VersionedMigration(
                    from: SemanticVersion(1, 0), to: SemanticVersion(1, 1), type: .heavyweight,
                    mapping: MappingModel([asset]),
                    customMigrationSteps: [
                        notes.step("check") { context in
                            for asset in try context.fetch(FetchRequest<ManagedObject>(entityName: "Asset")) {
                                let share = try asset.value(forKey: "share") as? Int ?? 0
                                try asset.setValue(share + 1, forKey: "share")
                            }
                        }
                    ], description: "Shares are thrice the price.")
            ])
        try await makeStore(registry)
        _ = try SQLiteShell.run(url.path, "UPDATE ZASSET SET ZNAME = 'a' || ZPRICE")
        let run = try await registry.migrate(storeAt: url, to: SemanticVersion(1, 2))
        #expect(run.map(\.type) == [.heavyweight, .dataTransformation])
        #expect(run.map { $0.mapping != nil } == [true, false])
        #expect(
            try SQLiteShell.run(url.path, "SELECT ZNAME, ZSHARE FROM ZASSET ORDER BY ZPRICE")
                == "A10|31\nA30|91\nA60|181\n")
        #expect(notes.list.withLock { $0 } == ["check"])
        #expect(try registry.migrationPlan(from: SemanticVersion(1, 0), to: SemanticVersion(1, 1))?.mapping != nil)
        #expect(try registry.migrationPlan(from: SemanticVersion(1, 0), to: SemanticVersion(1, 3))?.mapping == nil)
    }

    @Test func `a mapping that does not fit its versions is refused before anything is touched`() async throws {
        let registry = try VersionRegistry(
            Self.versions(),
            migrations: [
                VersionedMigration(
                    from: SemanticVersion(1, 0), to: SemanticVersion(1, 1), type: .heavyweight,
                    mapping: MappingModel([EntityMapping(from: "Asset", to: "Holding")]), description: "No.")
            ])
        try await makeStore(registry)
        let before = try SQLiteShell.run(url.path, ".sha3sum --schema")
        let error = await #expect(throws: MigrationError.self) { try await registry.migrate(storeAt: url) }
        #expect(error?.message.contains("Holding") == true, "\(String(describing: error))")
        #expect(try SQLiteShell.run(url.path, ".sha3sum --schema") == before)
    }

    @Test func `the way between any two versions is found, its time is the sum, and no way leads back`() throws {
        let registry = try Self.registry()
        let numbers = registry.versions.map(\.version)
        let times: [Double] = [30, 60, 45]
        for (start, from) in numbers.enumerated() {
            for (end, to) in numbers.enumerated() {
                guard start <= end else {
                    let error = #expect(throws: MigrationError.self) { try registry.path(from: from, to: to) }
                    #expect(error?.code == .incompatibleVersion)
                    continue
                }
                let plan = try registry.migrationPlan(from: from, to: to)
                #expect((plan == nil) == (start == end))
                #expect(plan.map(\.estimatedTime) ?? 0 == times[start..<end].reduce(0, +))
                #expect(
                    try registry.path(from: from, to: to).map(\.to)
                        == Array(numbers[(start + 1)...].prefix(end - start)))
            }
        }
        let whole = try #require(try registry.migrationPlan(from: numbers[0], to: numbers[3]))
        #expect(whole.type == .heavyweight && whole.backupRequired)
        #expect(whole.customMigrationSteps.map(\.name) == ["shares", "risks", "report", "seal"])
        let unknown = #expect(throws: MigrationError.self) {
            try registry.path(from: numbers[0], to: SemanticVersion(2, 0))
        }
        #expect(unknown?.code == .incompatibleVersion && unknown?.place == "2.0.0")
    }

    @Test func `whatever is wrong with versions and migrations is listed together`() throws {
        var versions = try Self.versions()
        versions.swapAt(0, 1)
        versions.append(versions[3])
        let (one, two) = (SemanticVersion(1, 1), SemanticVersion(1, 2))
        let step = MigrationStep(name: "a", description: "A.") { _ in }
        let error = #expect(throws: MigrationError.self) {
            try VersionRegistry(
                versions,
                migrations: [
                    VersionedMigration(from: two, to: one, type: .lightweight, description: "Back."),
                    VersionedMigration(from: one, to: SemanticVersion(9, 0), type: .lightweight, description: "Away."),
                    VersionedMigration(
                        from: one, to: two, type: .lightweight, customMigrationSteps: [step, step], description: ""),
                    VersionedMigration(from: one, to: two, type: .lightweight, description: "Twice."),
                ])
        }
        for fault in [
            "1.0.0 comes after 1.1.0", "1.3.0 comes after 1.3.0", "from 1.2.0 to 1.1.0 does not lead to a later",
            "names the version 9.0.0", "from 1.1.0 to 1.2.0 occurs twice", "Two of its steps are called a",
        ] {
            #expect(error?.message.contains(fault) == true, "\(fault)")
        }
        #expect(throws: MigrationError.self) { try VersionRegistry([]) }
    }

    // MARK: - Migrating

    @Test func `all versions are one commit, whose number the store says itself`() async throws {
        let notes = Notes()
        let registry = try Self.registry(notes)
        try await makeStore(registry)
        #expect(try identifiers() == ["1.0.0"])
        #expect(try registry.status(ofStoreAt: url).versionsBehind == 3)
        let told = Mutex([(Double, String)]())
        let path = try await registry.migrate(storeAt: url) { part, message in
            told.withLock { $0.append((part, message)) }
        }
        #expect(path.map(\.to.description) == ["1.1.0", "1.2.0", "1.3.0"])
        #expect(notes.list.withLock { $0 } == ["shares", "risks", "report", "seal"])
        #expect(try rows() == Self.final)
        #expect(try identifiers() == ["1.3.0"])
        #expect(try registry.status(ofStoreAt: url).versionsBehind == 0)
        #expect(try backups().count == 1)
        let progress = told.withLock { $0 }
        #expect(progress.map(\.0) == progress.map(\.0).sorted() && progress.last?.0 == 1)
        let said = progress.map(\.1).filter {
            $0.hasSuffix(" is done.") || $0.contains("backup") || $0.contains("verified")
        }
        #expect(said.first?.hasPrefix("Made the backup") == true)
        #expect(
            said.dropFirst() == [
                "shares is done.", "risks is done.", "report is done.", "seal is done.", "The new store is verified",
            ])
        #expect(try await registry.migrate(storeAt: url).isEmpty)
        let back = await #expect(throws: MigrationError.self) {
            try await registry.migrate(storeAt: url, to: SemanticVersion(1, 1))
        }
        #expect(back?.code == .incompatibleVersion)
    }

    @Test func `versions of one model are told apart by their number, also when a container opens them`() async throws {
        let registry = try Self.registry()
        try await makeStore(registry)
        try await registry.migrate(storeAt: url, to: SemanticVersion(1, 1))
        #expect(try identifiers() == ["1.1.0"])
        #expect(try SQLiteShell.run(url.path, "SELECT count(ZSHARE) FROM ZASSET") == "0\n")
        let versions = registry.modelVersions
        let container = PersistentContainer(
            name: "Wealth", managedObjectModel: versions.versions[2].model, versions: versions)
        let description = PersistentStoreDescription(url: url)
        description.migrationRegistry = registry.migrationRegistry
        container.persistentStoreDescriptions = [description]
        try await container.loadPersistentStores()
        #expect(try identifiers() == ["1.2.0"])
        #expect(try SQLiteShell.run(url.path, "SELECT group_concat(ZSHARE) FROM ZASSET") == "10,30,60\n")
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        #expect(try registry.status(ofStoreAt: url).versionsBehind == 1)
    }

    @Test func `a step that fails undoes those before it in reverse, and a later try succeeds`() async throws {
        let notes = Notes()
        let registry = try Self.registry(notes)
        try await makeStore(registry)
        let bytes = try Data(contentsOf: url)
        notes.failing.withLock { $0 = "report" }
        let error = await #expect(throws: MigrationError.self) { try await registry.migrate(storeAt: url) }
        #expect(error?.code == .stageFailed)
        #expect(error?.message.contains("1.2.0 to 1.3.0 report of 1.2.0 to 1.3.0 failed: report had enough.") == true)
        #expect(
            notes.list.withLock { $0 } == ["shares", "risks", "report", "undo report", "undo risks", "undo shares"])
        #expect(try Data(contentsOf: url) == bytes)
        notes.failing.withLock { $0 = nil }
        try await registry.migrate(storeAt: url)
        #expect(try rows() == Self.final)
    }

    @Test func `with stops each version is a backup and a commit, and a later run goes on from the last`() async throws
    {
        let notes = Notes()
        let registry = try Self.registry(notes)
        try await makeStore(registry)
        notes.failing.withLock { $0 = "seal" }
        let error = await #expect(throws: MigrationError.self) {
            try await registry.migrate(storeAt: url, stopsAtEachVersion: true)
        }
        #expect(error?.message.contains("The store stays at 1.2.0") == true)
        #expect(
            notes.list.withLock { $0.filter { $0.hasPrefix("undo") } } == ["undo seal", "undo report", "undo risks"])
        #expect(try identifiers() == ["1.2.0"])
        #expect(try SQLiteShell.run(url.path, "SELECT group_concat(ZSHARE) FROM ZASSET") == "10,30,60\n")
        notes.failing.withLock { $0 = nil }
        notes.list.withLock { $0 = [] }
        try await registry.migrate(storeAt: url, stopsAtEachVersion: true)
        #expect(notes.list.withLock { $0 } == ["risks", "report", "seal"])
        #expect(try rows() == Self.final)
        #expect(try Set(backups().map { $0.split(separator: "-")[1] }).isSuperset(of: ["1.0.0", "1.1.0", "1.2.0"]))
    }

    @Test func `a task that is cancelled leaves the store as it was, its steps rolled back`() async throws {
        let notes = Notes()
        let mayGoOn = Mutex(false)
        let waiting = VersionedMigration(
            from: SemanticVersion(1, 0), to: SemanticVersion(1, 1), type: .dataTransformation,
            customMigrationSteps: [
                notes.step("wait"),
                MigrationStep(name: "long", description: "It takes long.") { _ in
                    while !mayGoOn.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(2)) }
                },
            ], description: "A long way.")
        let registry = try Self.registry(notes, more: [waiting])
        try await makeStore(registry)
        let bytes = try Data(contentsOf: url)
        let task = Task { [url] in try await registry.migrate(storeAt: url) }
        while notes.list.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(2)) }
        task.cancel()
        mayGoOn.withLock { $0 = true }
        let error = await #expect(throws: MigrationError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(notes.list.withLock { $0 } == ["wait", "undo wait"])
        #expect(try Data(contentsOf: url) == bytes)
    }

    @Test func `a store goes back to a version by its number`() async throws {
        let registry = try Self.registry()
        try await makeStore(registry)
        try await registry.migrate(storeAt: url, to: SemanticVersion(1, 2))
        try await registry.migrate(storeAt: url)
        try await registry.rollBack(storeAt: url, to: SemanticVersion(1, 2))
        #expect(try identifiers() == ["1.2.0"])
        #expect(try registry.status(ofStoreAt: url).versionsBehind == 1)
        #expect(try SQLiteShell.run(url.path, "SELECT group_concat(ZSHARE) FROM ZASSET") == "10,30,60\n")
        let missing = await #expect(throws: MigrationError.self) {
            try await registry.rollBack(storeAt: url, to: SemanticVersion(1, 1))
        }
        #expect(missing?.code == .backupNotFound)
    }

    // MARK: - Shortcuts

    private static func shortcut(_ body: @escaping MigrationStep.Code) -> VersionedMigration {
        VersionedMigration(
            from: SemanticVersion(1, 0), to: SemanticVersion(1, 2), type: .dataTransformation, estimatedTime: 5,
            customMigrationSteps: [MigrationStep(name: "at once", description: "At once.", execute: body)],
            description: "Straight to shares.")
    }

    @Test func `a shortcut is preferred, and proven equal to walking, or not`() async throws {
        let good = try Self.registry(more: [Self.shortcut(Self.shares)])
        try await makeStore(good)
        let bytes = try Data(contentsOf: url)
        let plan = try good.migrationPlan(from: SemanticVersion(1, 0), to: SemanticVersion(1, 3))
        #expect(plan?.estimatedTime == 50)
        try good.verifyShortcut(onCopyOf: url)
        let bad = try Self.registry(
            more: [
                Self.shortcut { context in
                    try await Self.shares(context)
                    let asset = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Asset")).first)
                    try asset.setValue(99, forKey: "share")
                }
            ])
        let error = #expect(throws: MigrationError.self) {
            try bad.verifyShortcut(to: SemanticVersion(1, 2), onCopyOf: url)
        }
        #expect(error?.code == .verificationFailed)
        #expect(
            error?.message.contains("ZASSET: 1 row is made only by the shortcut, 1 only by the single") == true)
        let none = #expect(throws: MigrationError.self) { try Self.registry().verifyShortcut(onCopyOf: url) }
        #expect(none?.code == .usage)
        #expect(try Data(contentsOf: url) == bytes)
        try await good.migrate(storeAt: url)
        #expect(try rows() == Self.final)
    }
}
