import Foundation
import MoultBasics
import MoultModel
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Large values in saves")
struct ExternalSaveTests {
    private static func large(_ byte: UInt8) -> ObjectValue {
        .attribute(.binary([UInt8](repeating: byte, count: 120_000)))
    }

    private func files(_ fixture: StoreFixture) throws -> [String] {
        let folder = fixture.folder.path + "/.Fixture_SUPPORT/_EXTERNAL_DATA"
        return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// What the rows say.
    private func named(_ fixture: StoreFixture) throws -> [String] {
        try fixture.shell(
            "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZDISH WHERE hex(substr(ZPHOTO, 1, 1)) = '02'"
        ).split(separator: "\n").map(String.init).sorted()
    }

    @Test func `files come and go with the rows that name them, and a save that fails leaves none`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let ids = try fixture.insert(
            try fixture.new("Dish", ["title": .text("a"), "photo": Self.large(1)]),
            try fixture.new("Dish", ["title": .text("b"), "photo": Self.large(2)]),
            try fixture.new("Dish", ["title": .text("c"), "photo": .attribute(.binary([1, 2]))]))
        let first = try files(fixture)
        #expect(try first.count == 2 && named(fixture) == first)

        #expect(throws: MigrationError.self) {
            try fixture.update(ids[0], ["photo": Self.large(3), "title": .integer(1)])
        }
        #expect(try files(fixture) == first)

        try fixture.update(ids[0], ["photo": Self.large(4)])
        let second = try files(fixture)
        #expect(second.count == 2 && second != first)
        #expect(try named(fixture) == second)
        #expect(try fixture.value("photo", of: ids[0]) == Self.large(4))

        try fixture.update(ids[0], ["title": .text("same photo")])
        #expect(try files(fixture) == second)
        try fixture.update(ids[0], ["photo": .attribute(.binary([5]))])
        try fixture.delete(ids[1], ids[2])
        #expect(try files(fixture).isEmpty)
        #expect(try fixture.shell("SELECT hex(ZPHOTO) FROM ZDISH") == "0105\n")
    }
}
