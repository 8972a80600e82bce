import MoultData
import TestSupport
import Testing

/// Values of several columns over a change of their types.
@Suite struct ValueMigrationTests {
    private let store: VersionedStore

    init() throws {
        store = try VersionedStore()
        try store.open(SitesV1.self) { context in
            for number in 1...4 {
                let site = SitesV1.Site("site \(number)")
                context.insert(site)
                site.place = .init(
                    name: "place \(number)", year: 2000 + number, zip: Int32(number), old: "old \(number)")
                site.spare = number % 2 == 0 ? nil : .init(name: "spare \(number)", year: number, zip: 0, old: nil)
                site.side = number % 2 == 0 ? .left : .right
                site.sideMaybe = number == 1 ? .left : nil
                site.kind = number % 2 == 0 ? "small" : "large"
            }
        }
    }

    private func sql(_ text: String) throws -> [String] {
        try store.sql(text).split(separator: "\n").map(String.init)
    }

    @Test func `a struct gains and loses fields, and an enum gains cases`() throws {
        try store.open(SitesV2.self, SitesV2.Plan.self) { context in
            let sites = try context.fetch(FetchDescriptor<SitesV2.Site>(sortBy: [SortDescriptor(\.title)]))
            #expect(sites.map(\.place.name) == (1...4).map { "place \($0)" })
            #expect(sites.map(\.place.year) == [2001, 2002, 2003, 2004] && sites.allSatisfy { $0.place.note == nil })
            #expect(sites.map { $0.spare?.name } == ["spare 1", nil, "spare 3", nil])
            #expect(
                sites.map(\.side) == [.right, .left, .right, .left] && sites.map(\.sideMaybe) == [.left, nil, nil, nil])
            #expect(sites.map(\.kind) == [.large, .small, .large, .small])
            #expect(sites.allSatisfy { $0.mood == .calm && $0.frame == .init(width: 3, colour: nil) })
            sites[0].side = .up
        }
        #expect(
            try sql("SELECT ZNAME, ZNAME1, ZRIGHT, ZUP, ZKIND, ZMOOD, ZWIDTH FROM ZSITE ORDER BY ZTITLE") == [
                "place 1|spare 1||up|large|calm|3", "place 2|||||small|calm|3".replacing("|||||", with: "||||"),
                "place 3|spare 3|right||large|calm|3", "place 4||||small|calm|3",
            ])
        let columns = try sql("SELECT name FROM pragma_table_info('ZSITE')")
        #expect(!columns.contains("ZOLD") && columns.contains("ZNOTE"))
    }

    /// Every kind of value, plain, optional and in structs, by a reader in Python.
    @Test func `every kind of value is kept where its type changes in every way that keeps it`() throws {
        let store = try VersionedStore()
        try store.open(Things.self) { Things.fill($0) }
        func words(_ lines: [String], without names: [String]) -> [[String]] {
            lines.map { line in
                line.split(separator: " ").map(String.init).filter { word in !names.contains { word.contains($0) } }
            }
        }
        let before = words(try Witness.lines(of: store.path), without: [".hint="])
        let names = try store.open(ThingsLater.self, ThingsLater.Plan.self) { context in
            let things = try context.fetch(FetchDescriptor<ThingsLater.Thing>(sortBy: [SortDescriptor(\.name)]))
            #expect(things.map { $0.every?.number } == (0..<6).map { $0 })
            #expect(things.map { $0.every?.inner.key } == (0..<6).map { "k\($0)" })
            #expect(things.map { $0.everyMaybe?.words?.last } == [nil, .alpha, nil, .alpha, nil, nil])
            #expect(things.map(\.side) == [.left, .right, .default, .left, .right, .default])
            #expect(things.map { $0.word == .beta } == (0..<6).map { $0 % 2 == 1 })
            #expect(things[3].texts == ["t0", "t1", "t2"] && things[1].table?["x"]?.key == "in")
            return things.map(\.name)
        }
        let after = words(try Witness.lines(of: store.path), without: [".extra=", ".more=", ".up="])
        #expect(after == before && names.count == 6)
        #expect(try store.sql("SELECT count(ZEXTRA) + count(ZUP) + count(ZMORE) FROM ZTHING") == "0\n")
    }

    @Test func `a struct becomes optional and a field a wider number`() throws {
        try store.open(SitesV3.self, SitesV3.Plan.self) { context in
            let sites = try context.fetch(FetchDescriptor<SitesV3.Site>(sortBy: [SortDescriptor(\.title)]))
            #expect(sites.map { $0.place?.name } == (1...4).map { "place \($0)" })
            #expect(sites.map { $0.place?.zip } == [1, 2, 3, 4])
            sites[0].place = nil
        }
        #expect(try sql("SELECT count(*) FROM ZSITE WHERE ZNAME IS NULL AND ZZIP IS NULL AND ZYEAR IS NULL") == ["1"])
    }

    @Test func `a field that has another name keeps its values where the plan says so`() throws {
        try store.open(SitesV4.self, SitesV4.Plan.self) { context in
            let sites = try context.fetch(FetchDescriptor<SitesV4.Site>(sortBy: [SortDescriptor(\.title)]))
            #expect(sites.map(\.place.label) == (1...4).map { "place \($0)" })
            #expect(sites.map { $0.spare?.label } == ["spare 1", nil, "spare 3", nil])
        }
        #expect(try sql("SELECT ZLABEL FROM ZSITE ORDER BY ZTITLE") == (1...4).map { "place \($0)" })
    }

    @Test func `a field that becomes required is refused with its name, and the store stays as it is`() throws {
        let before = try store.sql(".dump")
        let error = #expect(throws: SwiftDataError.self) { try store.open(SitesV5.self, SitesV5.Plan.self) { _ in } }
        #expect("\(error!)".contains("place.floor"), "\(error!)")
        #expect(try store.sql(".dump") == before)
    }

    @Test func `code of a stage makes a struct of the old version's texts`() throws {
        try store.open(SitesV5.self, SitesV5.CodePlan.self) { context in
            let sites = try context.fetch(FetchDescriptor<SitesV5.Site>(sortBy: [SortDescriptor(\.title)]))
            #expect(sites.map(\.place.floor) == [2001, 2002, 2003, 2004])
            #expect(sites.map(\.place.name) == (1...4).map { "place \($0)!" })
        }
    }

    @Test func `a case that is gone leaves rows that say so`() throws {
        let error = #expect(throws: SwiftDataError.self) {
            try store.open(SitesV6.self, SitesV6.Plan.self) { context in
                _ = try context.fetch(FetchDescriptor<SitesV6.Site>())
            }
        }
        #expect(error?.underlyingError.place == "Site.side", "\(error!)")
        #expect(error?.message.contains("NULL") == true)
    }
}

enum SitesV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Site.self] }

    enum Side: Codable { case left, right }
    struct Place: Codable, Equatable {
        var name: String
        var year: Int
        var zip: Int32
        var old: String?
    }

    @Model final class Site {
        var title: String
        var place: Place
        var spare: Place?
        var side: Side
        var sideMaybe: Side?
        var kind: String

        init(_ title: String) {
            (self.title, place, side, kind) = (title, .init(name: "", year: 0, zip: 0, old: nil), .left, "small")
        }
    }
}

/// A field more and one less, a case in the middle, a text that becomes an enum, and new values with defaults.
enum SitesV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Site.self] }

    enum Side: Codable { case left, up, right }
    enum Kind: String, Codable { case small, large }
    enum Mood: String, Codable { case calm, wild }
    struct Place: Codable, Equatable {
        var name: String
        var year: Int
        var zip: Int32
        var note: String?
    }
    struct Frame: Codable, Equatable {
        var width: Int
        var colour: String?
    }

    @Model final class Site {
        var title: String
        var place: Place
        var spare: Place?
        var side: Side
        var sideMaybe: Side?
        var kind: Kind
        var mood = Mood.calm
        var frame = Frame(width: 3, colour: nil)

        init(_ title: String) {
            (self.title, place, side, kind) = (title, .init(name: "", year: 0, zip: 0, note: nil), .left, .small)
        }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SitesV1.self, SitesV2.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: SitesV1.self, toVersion: SitesV2.self)] }
        static var answers: [MigrationAnswer] {
            ["place.note", "spare.note", "side.up", "sideMaybe.up", "mood.mood", "frame.width", "frame.colour"].map {
                .new("Site.\($0)", in: SitesV2.self)
            }
        }
    }
}

/// The place is optional, and its number a wider one.
enum SitesV3: VersionedSchema {
    static let versionIdentifier = Schema.Version(3, 0, 0)
    static var models: [any PersistentModel.Type] { [Site.self] }

    struct Place: Codable, Equatable {
        var name: String
        var year: Int
        var zip: Int
        var old: String?
    }

    @Model final class Site {
        var title: String
        var place: Place?
        var side: SitesV1.Side
        init(_ title: String) { (self.title, side) = (title, .left) }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SitesV1.self, SitesV3.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: SitesV1.self, toVersion: SitesV3.self)] }
        static var answers: [MigrationAnswer] { [.kept("Site.place.zip", in: SitesV3.self)] }
    }
}

/// A name has become a label.
enum SitesV4: VersionedSchema {
    static let versionIdentifier = Schema.Version(4, 0, 0)
    static var models: [any PersistentModel.Type] { [Site.self] }

    struct Place: Codable, Equatable {
        var label: String
        var year: Int
        var zip: Int32
        var old: String?
    }

    @Model final class Site {
        var title: String
        var place: Place
        var spare: Place?
        init(_ title: String) { (self.title, place) = (title, .init(label: "", year: 0, zip: 0, old: nil)) }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SitesV1.self, SitesV4.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: SitesV1.self, toVersion: SitesV4.self)] }
        static var answers: [MigrationAnswer] {
            [
                .renamed("Site.place.label", from: "place.name", in: SitesV4.self),
                .renamed("Site.spare.label", from: "spare.name", in: SitesV4.self),
            ]
        }
    }
}

/// A place has a floor, which every place needs.
enum SitesV5: VersionedSchema {
    static let versionIdentifier = Schema.Version(5, 0, 0)
    static var models: [any PersistentModel.Type] { [Site.self] }

    struct Place: Codable, Equatable {
        var name: String
        var floor: Int
    }

    @Model final class Site {
        var title: String
        var place: Place
        init(_ title: String) { (self.title, place) = (title, .init(name: "", floor: 0)) }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SitesV1.self, SitesV5.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: SitesV1.self, toVersion: SitesV5.self)] }
        static var answers: [MigrationAnswer] { [.new("Site.place.floor", in: SitesV5.self)] }
    }

    enum CodePlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SitesV1.self, SitesV5.self] }
        static var stages: [MigrationStage] {
            [
                .transform(from: SitesV1.Site.self, to: SitesV5.Site.self) { old, new in
                    new.place = .init(name: old.place.name + "!", floor: old.place.year)
                }
            ]
        }
    }
}

/// The right side is gone.
enum SitesV6: VersionedSchema {
    static let versionIdentifier = Schema.Version(6, 0, 0)
    static var models: [any PersistentModel.Type] { [Site.self] }

    enum Side: Codable { case left, top }

    @Model final class Site {
        var title: String
        var side: Side
        init(_ title: String) { (self.title, side) = (title, .left) }
    }

    enum Plan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { [SitesV1.self, SitesV6.self] }
        static var stages: [MigrationStage] { [.lightweight(fromVersion: SitesV1.self, toVersion: SitesV6.self)] }
        static var answers: [MigrationAnswer] { [.new("Site.side.top", in: SitesV6.self)] }
    }
}
