import Foundation
import MoultModelFiles
import MoultStore
import TestSupport
import Testing

@testable import MoultEngine

/// Where the corpus holds Core Data's own result of a lightweight migration (the same store UUID before and after),
/// Moult's result is held against it, object for object, by the independent witness.
@Suite("Beside Core Data's own results", .enabled(if: Corpus.isWhole))
struct AppleResultTests {
    @Test(arguments: [
        (
            "Migrations/MigrationsTests/Moody.moody", "Migrations/MigrationsTests/Moody 2.moody",
            "Migrations/Moody.xcdatamodeld"
        ),
        (
            "SampleModel/Fixtures/SampleModel_V1.sqlite", "SampleModel/Fixtures/SampleModel_V2.sqlite",
            "SampleModel/SampleModel.xcdatamodeld"
        ),
    ])
    func `the same migration ends with the same objects`(before: String, after: String, model: String) throws {
        let folder = try ScratchFolder()
        let store = try folder.copyStore(#require(Corpus.stores.first { $0.hasSuffix(before) }))
        let other = try ScratchFolder()
        let apple = try other.copyStore(#require(Corpus.stores.last { $0.hasSuffix(after) && !$0.contains("@") }))
        let hashes = try ReadOnlyStore.read(apple) { try #require(try StoreSnapshot($0.connection).metadata.hashes) }
        let versions = try #require(
            Corpus.paths { $0.hasSuffix(model) }.lazy.compactMap { try? Corpus.versions($0) }
                .first { $0.position(matching: hashes) != nil })
        let target = versions.versions[try #require(versions.position(matching: hashes))].name
        let prepared = try PreparedMigration(
            store, versions: versions, to: target, options: .init(losses: .asTheVersionsSay()))
        _ = try Migrator().run(#require(try prepared.migration()), on: store)
        let (ours, theirs) = (try WitnessStore(store), try WitnessStore(apple))
        let count = theirs.objects.values.reduce(0) { $0 + $1.count }
        print("\(after.suffix(24)): \(count) objects of Core Data's own result")
        #expect(count >= 9)
        // A lightweight migration in place keeps every key; one that copies objects, as Moody's app ran it, numbers
        // them anew, and only what an object is can be compared.
        let keepsKeys = ours.keys == theirs.keys
        #expect(keepsKeys == before.contains("SampleModel"))
        #expect(keepsKeys ? ours == theirs : ours.withoutKeys == theirs.withoutKeys)
    }
}
