import Moult
import MoultBasics
import MoultModel
import MoultObjects
import MoultStore
import Synchronization
import TestSupport
import Testing

@testable import Moult
@testable import MoultCare
@testable import MoultEngine

/// Work over many rows that is no run reports its progress from the beginning to the end.
struct LongWorkTests {
    private func keeper(_ library: LibraryStore) -> StoreKeeper {
        let version = library.version
        return StoreKeeper(library.path, versions: { ModelVersions(versions: [version]) })
    }

    @Test func `a validation, with and without its full checks`() throws {
        let library = try LibraryStore(history: true)
        for full in [false, true] {
            let work = try WatchedWork { _ = try keeper(library).validate(RulesToCheck([]), full: full) }
            #expect(work.fault == nil)
        }
    }

    @Test func `a diagnosis and a search for repairs`() throws {
        let library = try LibraryStore()
        let diagnosis = WatchedWork {
            _ = StoreDiagnosis(library.path, versions: ModelVersions(versions: [library.version]))
        }
        #expect(diagnosis.fault == nil)
        let repair = try WatchedWork { _ = try StoreRepair(library.path, at: library.version) }
        #expect(repair.fault == nil)
    }

    @Test func `the verification of backups`() throws {
        let library = try LibraryStore()
        for _ in 0..<5 { _ = try keeper(library).backUp() }
        let work = try WatchedWork {
            let report = try keeper(library).verifyBackups()
            #expect(report.isSound)
        }
        #expect(work.fault == nil)
    }

    @Test func `a salvage`() throws {
        let library = try LibraryStore()
        let work = try WatchedWork { _ = try keeper(library).salvage(into: library.folder.path + "/saved.sqlite") }
        #expect(work.fault == nil)
    }

    @Test func `the objects of a new store`() throws {
        let library = try LibraryStore("")
        let work = try WatchedWork {
            let writer = try ObjectWriter(store: library.path, layout: library.layout, speed: .reckless)
            let made = try SampleData(counts: ["Shelf": 20, "Book": 200, "Tag": 20]).fill(writer)
            #expect(made.values.reduce(0) { $0 + $1.count } > 240)
            try writer.finish()
        }
        #expect(work.fault == nil)
        let rows = work.reports.filter { $0.activity == .write }.map(\.rows)
        #expect(rows.last.map { $0 > 240 } == true)
    }

    @Test func `a library call reports its work to whoever asks`() async throws {
        let library = try LibraryStore()
        let project = Project(
            ModelVersions(versions: [library.version]), path: nil, order: nil, registry: MigrationRegistry())
        let told = Told()
        let report = try await Project.withProgress {
            told.add($0)
        } of: {
            try await project.validate(library.path)
        }
        #expect(report.isSound)
        #expect(told.fractions == told.fractions.sorted() && told.fractions.last.map { $0 > 0.8 } == true)
        // Nobody asks.
        #expect(try await project.validate(library.path).isSound)
    }
}

private final class Told: Sendable {
    private let list = Mutex<[Double]>([])
    var fractions: [Double] { list.withLock { $0 } }
    func add(_ progress: WorkProgress) { list.withLock { $0.append(progress.fraction) } }
}
