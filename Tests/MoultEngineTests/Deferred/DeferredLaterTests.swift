import Foundation
import Moult
import MoultBasics
import MoultModel
import MoultPlan
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// What comes after a deferred migration whose work nobody has finished.
@Suite("After a deferred migration")
struct DeferredLaterTests {
    /// Notes with a body; without; with another body that has nothing to do with the first.
    private static func versions() throws -> ModelVersions {
        let entities = [["body", "title"], ["title"], ["body", "title"]].map { names in
            EntityDescription(name: "Note", attributes: names.map { .init(name: $0, type: .string) })
        }
        // Hashes must differ, or the third version would be the first.
        var last = entities[2]
        last.attributes.append(.init(name: "pinned", type: .boolean))
        return try ModelVersions(of: [[entities[0]], [entities[1]], [last]])
    }

    private static func pair(_ versions: ModelVersions, _ range: ClosedRange<Int>) -> ModelVersions {
        ModelVersions(versions: Array(versions.versions[range]))
    }

    @Test(arguments: [false, true])
    func `a later migration does not take the old column for the new one`(defers: Bool) throws {
        let versions = try Self.versions()
        let store = try DeferredStore(versions.versions[0])
        let other = try store.copy()
        let titles = try store.shell("SELECT count(ZTITLE) FROM ZNOTE")
        try store.migrate(Self.pair(versions, 0...1))
        try store.migrate(Self.pair(versions, 1...2), defers: defers)
        #expect(try store.shell("SELECT count(ZBODY), count(ZTITLE) FROM ZNOTE") == "0|" + titles)
        #expect(try store.isPending == defers)
        // The first body is still there while work is pending.
        let kept = "SELECT count(*) FROM pragma_table_info('ZNOTE') WHERE name = 'Z_DEFERRED_1_ZBODY'"
        #expect(try store.shell(kept) == (defers ? "1\n" : "0\n"))
        if defers { try store.finish() }
        try other.migrate(Self.pair(versions, 0...1), defers: false)
        try other.migrate(Self.pair(versions, 1...2), defers: false)
        #expect(try store.contents() == other.contents())
    }

    /// A column that nothing else takes the name of shows the deferred work by the mark in the metadata alone.
    @Test(arguments: [false, true])
    func `a later migration drops the old column, by either way`(normalises: Bool) throws {
        var entities = try Self.versions().versions[0...1].map { $0.model.entities[0] }
        entities.append(entities[1])
        entities[2].attributes.append(.init(name: "pinned", type: .boolean))
        let versions = try ModelVersions(of: entities.map { [$0] })
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(Self.pair(versions, 0...1))
        #expect(try store.shell("SELECT count(ZBODY) > 0 FROM ZNOTE") == "1\n")
        try store.migrate(Self.pair(versions, 1...2), defers: false, normalises: normalises)
        #expect(try store.shell("SELECT group_concat(name) FROM pragma_table_info('ZNOTE')").contains("ZBODY") == false)
        #expect(try store.isPending == false)
        #expect(try StoreAudit(store.path, model: versions.versions[2].model).findings == [])
    }

    @Test(arguments: [false, true])
    func `an entity that leaves and comes back begins empty, deferred or not`(defers: Bool) throws {
        let note = EntityDescription(name: "Note", attributes: [.init(name: "title", type: .string)])
        let word = EntityDescription(
            name: "Word", attributes: [.init(name: "text", type: .string, isIndexed: true)])
        var other = note
        other.attributes.append(.init(name: "pinned", type: .boolean))
        let versions = try ModelVersions(of: [[note, word], [note], [other, word]])
        let store = try DeferredStore(versions.versions[0])
        let walked = try store.copy()
        try store.migrate(Self.pair(versions, 0...1))
        try store.migrate(Self.pair(versions, 1...2), defers: defers)
        #expect(try store.shell("SELECT count(*) FROM ZWORD") == "0\n")
        if defers { try store.finish() }
        try walked.migrate(Self.pair(versions, 0...1), defers: false)
        try walked.migrate(Self.pair(versions, 1...2), defers: false)
        #expect(try store.contents() == walked.contents())
    }

    @Test func `columns that change places arrive where they should`() throws {
        let renamings: [(String?, String?)] = [(nil, nil), ("right", "left")]
        let versions = ModelVersions(
            versions: try renamings.enumerated().map { number, from in
                ModelVersion(
                    names: ["\(number + 1)"],
                    model: try ManagedObjectModel(entities: [
                        EntityDescription(
                            name: "Pair",
                            attributes: [
                                .init(name: "left", type: .string, renamingIdentifier: from.0),
                                .init(name: "right", type: .string, renamingIdentifier: from.1),
                            ] + (number == 0 ? [] : [.init(name: "more", type: .date)]))
                    ]))
            })
        let store = try DeferredStore(versions.versions[0])
        let other = try store.copy()
        let before = try store.shell("SELECT ZRIGHT, ZLEFT FROM ZPAIR ORDER BY Z_PK")
        let deferral = try #require(try store.migrate(versions).deferral)
        #expect(deferral.isPossible)
        #expect(try store.shell("SELECT ZLEFT, ZRIGHT FROM ZPAIR ORDER BY Z_PK") == before)
        try store.finish()
        try other.migrate(versions, defers: false)
        #expect(try store.contents() == other.contents())
    }

    // MARK: - Another tool

    @Test func `what another tool has done of the work is no task any more`() throws {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[0])
        let other = try store.copy()
        try other.migrate(versions, defers: false)
        try store.migrate(versions)
        let index = try other.shell("SELECT sql FROM sqlite_master WHERE name = 'Z_Link_place'").dropLast()
        _ = try store.shell("DROP TABLE Z_DEFERRED_1_ZTAG; \(index)")
        #expect(try store.finish().done.map(\.name) == ["ZAUTHOR", "ZITEM"])
        #expect(try store.contents() == other.contents())
    }

    @Test func `a mark without work is taken away`() throws {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[1])
        let before = try store.contents()
        try mark(store)
        #expect(try store.isPending && store.tasks().isEmpty)
        #expect(try store.finish().done.isEmpty)
        #expect(try store.contents() == before)
    }

    @Test func `work that was put off in a way that nobody here knows is left alone`() throws {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[0])
        try mark(store)
        _ = try store.shell("CREATE TABLE _T_ZITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER)")
        let before = try store.contents()
        let works: [() throws -> Void] = [{ try store.migrate(versions) }, { try store.finish() }]
        for work in works {
            #expect { try work() } throws: { ($0 as? MigrationError)?.code == .deferredWork }
        }
        #expect(try store.contents() == before)
    }

    private func mark(_ store: DeferredStore) throws {
        let hex = try store.shell("SELECT hex(Z_PLIST) FROM Z_METADATA")
        let data = Data([UInt8](hexadecimal: hex))
        let list = try PropertyListSerialization.propertyList(from: data, format: nil)
        var entries = try #require(list as? [String: Any])
        entries["NSPersistentStoreDeferredLightweightMigrationOptionKey"] = true
        let new = try PropertyListSerialization.data(fromPropertyList: entries, format: .binary, options: 0)
        let literal = new.map { String(format: "%02x", $0) }.joined()
        _ = try store.shell("UPDATE Z_METADATA SET Z_PLIST = x'\(literal)'")
    }

    // MARK: - Budgets

    @Test(arguments: [0.0, -1, 0.000_01, Double.nan])
    func `a budget that is no time, or shorter than the longest piece, is refused with what it takes`(budget: Double)
        throws
    {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        let before = try store.contents()
        let longest = try store.tasks().longestUnit
        #expect {
            try store.finish(.seconds(budget))
        } throws: { error in
            let number = ((longest * 1000).rounded(.up) / 1000).description
            return (error as? MigrationError)?.code == .budgetTooSmall && "\(error)".contains(number)
        }
        #expect(try store.contents() == before)
    }

    @Test func `with a budget the work is done in as many calls as it takes`() throws {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        var calls = 0
        while try store.isPending, calls < 10 {
            #expect(try !store.finish(.seconds(10)).done.isEmpty)
            calls += 1
        }
        #expect(try calls == 1 && !store.isPending)
    }

    @Test func `cancelled in a task, what was done before stays done and the task is as it was`() throws {
        let versions = try DeferrableVersions.make()
        let store = try DeferredStore(versions.versions[0])
        try store.migrate(versions)
        let tasks = try store.tasks()
        try store.finish(.one)
        let between = try store.contents()
        let observer = MigrationObserver(isCancelled: { true })
        #expect {
            try Migrator().finishDeferred(store.path, .all, observer)
        } throws: {
            ($0 as? MigrationError)?.code == .cancelled
        }
        #expect(try store.contents() == between)
        #expect(try store.tasks() == Array(tasks.dropFirst()))
    }
}
