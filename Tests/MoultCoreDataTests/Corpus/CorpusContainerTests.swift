import Foundation
import MoultCoreData
import TestSupport
import Testing

/// Stores that Core Data made, opened through a container with their models.
@Suite struct CorpusContainerTests {  // tier: long
    private func root() throws -> String { try #require(Corpus.root).path }

    /// How many rows each concrete entity has, by its name, as the shell counts them.
    private func counts(_ store: String, _ model: ManagedObjectModel) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for line in try SQLiteShell.run(store, "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY").split(separator: "\n") {
            let parts = line.split(separator: "|").map(String.init)
            guard let entity = model.entitiesByName[parts[0]], !entity.isAbstract else { continue }
            let table = "Z" + model.root(of: entity).name.uppercased()
            let sql = "SELECT count(*) FROM \(table) WHERE Z_ENT = \(parts[1])"
            counts[parts[0]] = Int(try SQLiteShell.run(store, sql).trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return counts
    }

    private func container(_ store: String, _ model: String) throws -> (PersistentContainer, (any Error)?) {
        let container = try PersistentContainer(name: "Corpus", modelURL: URL(fileURLWithPath: model))
        container.persistentStoreDescriptions = [PersistentStoreDescription(url: URL(fileURLWithPath: store))]
        let failures = Failures()
        container.loadPersistentStores { failures.note($1) }
        return (container, failures.errors.first.flatMap(\.self))
    }

    @Test(.enabled(if: Corpus.isWhole), arguments: ["2.0.1", "2.0.0_empty"])
    func `a store of many versions opens with its bundle and has every object`(name: String) throws {
        let folder = try ScratchFolder()
        let tests = try root() + "/richardpiazza__XCServerCoreData/Tests"
        let store = try folder.copyStore("\(tests)/XCServerCoreData_\(name).sqlite")
        let (container, error) = try container(store, tests + "/XCServerCoreData.momd")
        #expect(error == nil)
        let counts = try counts(store, container.managedObjectModel)
        #expect(counts.count > 10)
        for (entity, count) in counts {
            var request = FetchRequest<ManagedObject>(entityName: entity)
            request.includesSubentities = false
            #expect(try container.viewContext.fetch(request).count == count, "\(entity)")
        }
        if name == "2.0.1" { #expect(counts.values.reduce(0, +) > 10_000) }
    }

    @Test(.enabled(if: Corpus.isWhole)) func `answers to the questions of a migration are given with the description`()
        throws
    {
        let folder = try ScratchFolder()
        let tests = try root() + "/richardpiazza__XCServerCoreData/Tests"
        let store = try folder.copyStore("\(tests)/XCServerCoreData_1.2.0_empty.sqlite")
        let (container, first) = try container(store, tests + "/XCServerCoreData.momd")
        var (error, answers) = (first as? MigrationError, [String]())
        #expect(error?.code == .question)
        // The message has every answer ready to be copied; some questions come only when others are answered.
        for _ in 0..<4 {
            guard let question = error, question.code == .question else { break }
            answers += question.message.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.hasPrefix("{") && ($0.contains("\"new\"") || $0.contains("\"drop\"")) }
            let json = "{\"format\": 1, \"answers\": [\(answers.joined(separator: ", "))]}"
            container.persistentStoreDescriptions[0].migrationAnswers = Data(json.utf8)
            let failures = Failures()
            container.loadPersistentStores { failures.note($1) }
            error = failures.errors.first.flatMap(\.self) as? MigrationError
        }
        #expect(error == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test(.enabled(if: Corpus.isAvailable), arguments: 1...5)
    func `bookmarks of each version come to the current one, or are refused and stay`(version: Int) throws {
        let folder = try ScratchFolder()
        let base = try root() + "/duckduckgo__BrowserServicesKit"
        let store = try folder.copyStore("\(base)/Tests/BookmarksTests/Resources/Bookmarks_V\(version).sqlite")
        let titles = "SELECT count(*), count(ZTITLE), count(ZURL) FROM ZBOOKMARKENTITY"
        let before = try SQLiteShell.run(store, titles)
        let (container, error) = try container(store, base + "/Sources/Bookmarks/BookmarksModel.xcdatamodeld")
        if let error = error as? MigrationError {
            #expect(error.exitCode == 3, "\(error)")
            print("Bookmarks_V\(version): \(error)")
        } else {
            let count = try container.viewContext.count(for: FetchRequest<ManagedObject>(entityName: "BookmarkEntity"))
            #expect(before.hasPrefix("\(count)|"))
        }
        #expect(try SQLiteShell.run(store, titles) == before)
    }
}
