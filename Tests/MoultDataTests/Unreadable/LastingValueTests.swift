import Foundation
import MoultData
import TestSupport
import Testing

/// What a save takes, every later fetch shows; and a file that is gone hides no row.
@Suite struct LastingValueTests {
    struct Price: Codable, Equatable { var amount = Decimal(0) }
    struct Line: Codable, Equatable {
        var amount: Decimal
        var parts: [String: Decimal]
    }

    @Model final class Sale {
        var number: Int
        var amount = Decimal(0)
        var rebate: Decimal?
        var price = Price()
        var lastPrice: Price?
        var amounts: [Decimal] = []
        var byName: [String: Decimal] = [:]
        var lines: [Line] = []

        init(_ number: Int) { self.number = number }
    }

    @Model final class Photo {
        var number: Int
        @Attribute(.externalStorage) var image: Data?

        init(_ number: Int, _ image: Data?) { (self.number, self.image) = (number, image) }
    }

    private let folder: ScratchFolder
    private var url: URL { URL(fileURLWithPath: folder.path + "/app.store") }

    init() throws { folder = try ScratchFolder() }

    private func context(_ type: any PersistentModel.Type) throws -> ModelContext {
        ModelContext(try ModelContainer(for: type, configurations: .init(url: url)))
    }

    static let writes: [(String, @Sendable (Sale, Decimal) -> Void)] = [
        ("amount", { $0.amount = $1 }), ("rebate", { $0.rebate = $1 }), ("price", { $0.price.amount = $1 }),
        ("lastPrice", { $0.lastPrice = Price(amount: $1) }), ("amounts", { $0.amounts = [1, $1] }),
        ("byName", { $0.byName = ["a": $1] }), ("lines", { $0.lines = [Line(amount: 1, parts: ["NaN": $1])] }),
    ]
    static let numbers: [Decimal] = [
        .nan, .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
        Decimal(sign: .minus, exponent: -120, significand: 15), Decimal(sign: .plus, exponent: 120, significand: 3),
        Decimal(sign: .plus, exponent: 127, significand: 1_000_000_000),
        Decimal(sign: .plus, exponent: -101, significand: 1) / 3,
        Decimal(sign: .plus, exponent: -128, significand: 1) * 123_456_789,
        Decimal(sign: .plus, exponent: -120, significand: Decimal(string: "12345678901234567890")!),

        Decimal(sign: .plus, exponent: 0, significand: 12),
    ]

    @Test(arguments: writes.indices)
    func `a decimal that is saved is fetched, and one that could not be is refused`(_ write: Int) throws {
        var refused = 0
        for number in Self.numbers {
            let context = try context(Sale.self)
            let sale = Sale(1)
            context.insert(sale)
            Self.writes[write].1(sale, number)
            do {
                try context.save()
            } catch {
                refused += 1
                context.rollback()
                context.insert(Sale(2))
                try context.save()
            }
            let all = try self.context(Sale.self).fetch(FetchDescriptor<Sale>())
            #expect(!all.isEmpty, "\(Self.writes[write].0) \(number)")
            for sale in all { _ = (sale.amount, sale.price, sale.lines, sale.amounts, sale.byName, sale.lastPrice) }
        }
        #expect((1...5).contains(refused), "\(Self.writes[write].0)")
    }

    enum Before: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Trip.self] }
        struct Stop: Codable, Equatable { var a = 1 }

        @Model final class Trip {
            var number: Int
            var first = Stop()
            var stops: [Stop] = []
            init(_ number: Int) { self.number = number }
        }
    }

    /// The struct has gained a field: a column of `first`, which makes it a migration, and a key in `stops`.
    enum After: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Trip.self] }
        struct Stop: Codable, Equatable {
            var a = 1
            var b = 5
        }

        @Model final class Trip {
            var number: Int
            var first = Stop()
            var stops: [Stop] = []
            init(_ number: Int) { self.number = number }
        }
    }

    @Test(arguments: [false, true])
    func `a store is not migrated to types that cannot decode it`(isEmpty: Bool) throws {
        let before = try context(Before.Trip.self)
        let trip = Before.Trip(1)
        if !isEmpty { trip.stops = [.init(a: 2)] }
        before.insert(trip)
        try before.save()
        let shape = "SELECT sql FROM sqlite_master WHERE name = 'ZTRIP'; SELECT hex(ZSTOPS) FROM ZTRIP"
        let old = try SQLiteShell.run(url.path, shape)
        if isEmpty {
            #expect(try context(After.Trip.self).fetch(FetchDescriptor<After.Trip>()).map(\.stops) == [[]])
        } else {
            let error = #expect(throws: SwiftDataError.self) { _ = try context(After.Trip.self) }
            #expect(
                error?.message.contains("Trip.stops holds JSON that Stop cannot decode") == true,
                "\(String(describing: error))")
            #expect(try SQLiteShell.run(url.path, shape) == old)
            #expect(try context(Before.Trip.self).fetch(FetchDescriptor<Before.Trip>()).map(\.stops.count) == [1])
        }
    }

    @Test func `a file that cannot be read is not replaced, and the save says so`() throws {
        let first = try context(Photo.self)
        first.insert(Photo(1, Data(repeating: 7, count: 300_000)))
        try first.save()
        let before = try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO")
        let files = folder.path + "/.app_SUPPORT/_EXTERNAL_DATA"
        let file = try files + "/" + #require(FileManager.default.contentsOfDirectory(atPath: files).first)
        // A folder in the place of the file cannot be read as one.
        try FileManager.default.moveItem(atPath: file, toPath: folder.path + "/kept")
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let context = try context(Photo.self)
        let photo = try #require(try context.fetch(FetchDescriptor<Photo>()).first)
        if photo.image == nil { photo.image = Data([1]) }
        for _ in 0..<2 {
            let error = try #require(throws: MigrationError.self) { try context.save() }
            #expect(error.code == .fileNotReadable && error.message.hasPrefix("Photo.image of "), "\(error)")
        }
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.moveItem(atPath: folder.path + "/kept", toPath: file)
        #expect(photo.image?.count == 300_000)
        photo.number = 2
        try context.save()
        #expect(try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO WHERE ZNUMBER = 2") == before)
    }

    @Test func `the error of a file that stays unreadable names the way out, which is one`() throws {
        let first = try context(Photo.self)
        first.insert(Photo(1, Data(repeating: 7, count: 300_000)))
        try first.save()
        let before = try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO")
        let files = folder.path + "/.app_SUPPORT/_EXTERNAL_DATA"
        let file = try files + "/" + #require(FileManager.default.contentsOfDirectory(atPath: files).first)
        // Larger than a value can be.
        try #require(truncate(file, 1_000_000_001) == 0)
        let context = try context(Photo.self)
        let photo = try #require(try context.fetch(FetchDescriptor<Photo>()).first)
        #expect(photo.image == nil)
        photo.number = 2
        let error = try #require(throws: MigrationError.self) { try context.save() }
        #expect(error.remedy.contains("put it back from a backup, or move it away"), "\(error.remedy)")
        try FileManager.default.moveItem(atPath: file, toPath: folder.path + "/away")
        context.rollback()
        photo.number = 3
        try context.save()
        #expect(try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO WHERE ZNUMBER = 3") == before)
    }

    @Test func `a missing file of an optional property reads as nil, and the row keeps its name`() throws {
        let context = try context(Photo.self)
        for number in 1...2 { context.insert(Photo(number, Data(repeating: 7, count: 300_000))) }
        try context.save()
        let names = try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO ORDER BY ZNUMBER")
        try FileManager.default.removeItem(atPath: folder.path + "/.app_SUPPORT")
        let later = try self.context(Photo.self)
        let photos = try later.fetch(FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.number)]))
        #expect(photos.count == 2 && photos.allSatisfy { $0.image == nil })
        photos[0].number = 0
        try later.save()
        #expect(try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO ORDER BY ZNUMBER") == names)
        photos[1].image = Data([1])
        try later.save()
        #expect(try SQLiteShell.run(url.path, "SELECT hex(ZIMAGE) FROM ZPHOTO WHERE ZNUMBER = 2") == "0101\n")
    }
}
