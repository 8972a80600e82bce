import Foundation
import MoultBasics
import MoultModel
import MoultStore
import MoultTools
import TestSupport
import Testing

/// Tools that read or write many rows report their progress from the beginning to the end.
struct LongToolTests {  // tier: long
    private func sample() throws -> (folder: ScratchFolder, path: String, version: ModelVersion) {
        let folder = try ScratchFolder()
        let model = try ManagedObjectModel(
            """
            Book = title String, pages Integer32, shelf > Shelf.books, tags >> Tag.books
            Shelf = name String, books >> Book.shelf
            Tag = name String, books >> Book.tags
            """)
        let version = ModelVersion(names: ["1"], model: model)
        let path = folder.path + "/a.sqlite"
        _ = try NewStore(
            version, at: path, SampleData(count: 300, isHostile: false), framework: nil, history: false,
            experimental: false)
        return (folder, path, version)
    }

    @Test func `a new store counts its objects`() throws {
        let (folder, _, version) = try sample()
        defer { withExtendedLifetime(folder) {} }
        let work = try WatchedWork {
            _ = try NewStore(
                version, at: folder.path + "/b.sqlite", SampleData(count: 300, isHostile: false), framework: nil,
                history: false, experimental: false)
        }
        #expect(work.fault == nil && work.reports.contains { $0.totalRows == 900 && $0.rows > 800 })
    }

    @Test(arguments: [ExportFormat.csv, .jsonl, .sqlite])
    func `an export counts its rows, and an import too`(format: ExportFormat) throws {
        let (folder, path, version) = try sample()
        defer { withExtendedLifetime(folder) {} }
        let written = folder.path + "/written"
        let export = try WatchedWork {
            _ = try ExportReport(path, ExportSelection(), format, isExact: true, versions: nil, to: written)
        }
        #expect(export.fault == nil)
        // The rows of the three entities, and the pairs of books and tags.
        let pairs = try SQLiteShell.run(path, "SELECT count(*) FROM Z_1TAGS").trimmingCharacters(in: .newlines)
        #expect(export.reports.last?.totalRows == 900 + (Int64(pairs) ?? -1))
        guard format != .sqlite else { return }
        let new = folder.path + "/new.sqlite"
        try StoreCreator(version).make(at: new)
        let taken = try WatchedWork {
            let run = try StoreImport(into: new, at: version, isExact: true)
            defer { run.confirm() }
            #expect(try run.run(written).values.reduce(0, +) == 900)
        }
        #expect(taken.fault == nil)
    }

    @Test func `an anonymous copy`() throws {
        let (folder, path, _) = try sample()
        defer { withExtendedLifetime(folder) {} }
        let work = try WatchedWork {
            _ = try AnonymousReport(
                of: path, versions: nil, rules: StandInRules(), seed: 7, at: folder.path + "/copy.sqlite")
        }
        #expect(work.fault == nil)
    }

    @Test func `objects that are printed`() throws {
        let (folder, path, version) = try sample()
        defer { withExtendedLifetime(folder) {} }
        var count: Int64 = 0
        let work = try WatchedWork {
            try MoultStore.ReadOnlyStore.forEachObject(in: path, versions: ModelVersions(versions: [version])) { _ in
                count += 1
            }
        }
        #expect(work.fault == nil && count == 900 && work.reports.last?.totalRows == 900)
    }
}
