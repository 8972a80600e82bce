import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Conflicts of a save")
struct ConflictTests {
    private func conflicts(_ body: () throws -> Void) throws -> [SaveConflicts.Conflict] {
        do {
            try body()
            return []
        } catch let error as SaveConflicts {
            return error.conflicts
        }
    }

    @Test func `every object that was saved by somebody else is told, with what is stored`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let ids = try fixture.insert(
            try fixture.new("Tag", ["label": .text("a")]), try fixture.new("Tag", ["label": .text("b")]),
            try fixture.new("Tag", ["label": .text("c")]))
        let other = try ObjectStore(fixture.path, model: fixture.model)
        var theirs = ObjectChanges()
        theirs.updated = [.init(id: ids[0], version: 1, values: ["label": .text("theirs")])]
        theirs.deleted = [.init(id: ids[1], version: 1)]
        _ = try other.save(theirs)

        var mine = ObjectChanges()
        mine.updated = ids[...1].map { .init(id: $0, version: 1, values: ["label": .text("mine")]) }
        mine.deleted = [.init(id: ids[2], version: 1)]
        let stored = try fixture.store.snapshots(of: [ids[0]]).first
        #expect(
            try conflicts { _ = try fixture.store.save(mine) } == [
                .version(ids[0], expected: 1, stored: stored), .version(ids[1], expected: 1, stored: nil),
            ])
        #expect(try fixture.shell("SELECT Z_PK, Z_OPT, ZLABEL FROM ZTAG") == "1|2|theirs\n3|1|c\n")
        mine.updated = [.init(id: ids[0], version: nil, values: ["label": .text("mine")])]
        _ = try fixture.store.save(mine)
        #expect(try fixture.shell("SELECT Z_PK, Z_OPT, ZLABEL FROM ZTAG") == "1|3|mine\n")
        #expect(try fixture.delete(ids[2]).versions.isEmpty, "what is gone already may be deleted")
    }

    private static func constrained() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            """
            Person unique=email unique=first+number unique=boss = email String, first String, number Decimal,
                boss > Person
            Friend (Person)
            """)
    }

    @Test(arguments: [true, false])
    func `objects of equal unique values are found in the save and in the store, all of them`(hasIndexes: Bool) throws {
        let fixture = try StoreFixture(Self.constrained())
        if !hasIndexes {
            for index in try fixture.shell("SELECT name FROM sqlite_master WHERE name LIKE '%UNIQUE%'").split(
                separator: "\n")
            {
                _ = try fixture.shell("DROP INDEX \(index)")
            }
        }
        let first = try fixture.insert(
            try fixture.new("Person", ["email": .text("a"), "first": .text("x"), "number": .attribute(.decimal("1"))]),
            try fixture.new("Person", ["email": .text("b")]), try fixture.new("Friend"))
        let new = [
            try fixture.new("Friend", ["email": .text("a")]),
            try fixture.new("Person", ["email": .text("c"), "boss": .toOne(first[0])]),
            try fixture.new("Person", ["email": .text("c"), "boss": .toOne(first[0])]),
            // A decimal is stored as a number: 1.0 is 1.
            try fixture.new("Person", ["first": .text("x"), "number": .attribute(.decimal("1.0"))]),
            // Composed and decomposed are two texts for SQLite.
            try fixture.new("Person", ["email": .text("\u{E9}")]),
            try fixture.new("Person", ["email": .text("e\u{301}")]),
        ]
        let stored = try fixture.store.snapshots(of: [first[0]]).first
        var changes = ObjectChanges()
        changes.inserted = new
        let found = try conflicts { _ = try fixture.store.save(changes) }
        #expect(
            found == [
                .constraint(properties: ["email"], objects: [new[0].id], stored: stored),
                .constraint(properties: ["email"], objects: [new[1].id, new[2].id], stored: nil),
                .constraint(properties: ["first", "number"], objects: [new[3].id], stored: stored),
                .constraint(properties: ["boss"], objects: [new[1].id, new[2].id], stored: nil),
            ])
        #expect(
            try fixture.shell("SELECT count(*) FROM ZPERSON; SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1")
                == "3\n3\n")
    }

    @Test func `unique values may change places, and go from a deleted object to a new one`() throws {
        let fixture = try StoreFixture(Self.constrained())
        let ids = try fixture.insert(
            try fixture.new("Person", ["email": .text("a"), "first": .text("x"), "number": .attribute(.decimal("1"))]),
            try fixture.new("Person", ["email": .text("b"), "first": .text("x"), "number": .attribute(.decimal("2"))]),
            try fixture.new("Person", ["email": .text("c")]))
        var changes = ObjectChanges()
        changes.updated = [
            .init(id: ids[0], version: 1, values: ["email": .text("b"), "number": .attribute(.decimal("2"))]),
            .init(id: ids[1], version: 1, values: ["email": .text("a"), "number": .attribute(.decimal("1"))]),
        ]
        changes.deleted = [.init(id: ids[2], version: 1)]
        changes.inserted = [try fixture.new("Friend", ["email": .text("c")])]
        _ = try fixture.store.save(changes)
        #expect(
            try fixture.shell("SELECT Z_PK, ZEMAIL, ZFIRST, ZNUMBER FROM ZPERSON ORDER BY Z_PK")
                == "1|b|x|2\n2|a|x|1\n4|c||\n")
    }
}
