import Foundation
import MoultModel
import MoultStore
import TestSupport
import Testing

@testable import MoultObjects

@Suite("Two stores on one file")
struct TwoStoresTests {
    @Test func `saving in turn, neither gives a key that the other gave, nor one that was promised`() throws {
        let fixture = try StoreFixture(KitchenModel.make())
        let other = try ObjectStore(fixture.path, model: fixture.model)
        let promised = ObjectID(temporary: 500, entityName: "Soup")
        let permanent = try other.permanentIDs(for: [promised])
        #expect(try other.permanentIDs(for: [promised]) == permanent)
        var keys: [Int64] = [try #require(permanent[promised]).key]
        for number in 0..<20 {
            let store = number % 2 == 0 ? fixture.store : other
            var changes = ObjectChanges()
            changes.inserted = try ["Dish", "Soup"].map {
                try StoreFixture.insertion(
                    ObjectID(temporary: Int64(number), entityName: $0), ["title": .text("x")], store)
            }
            keys += try store.save(changes).permanentIDs.values.map(\.key)
        }
        #expect(Set(keys).count == 41)
        var changes = ObjectChanges()
        changes.inserted = [try StoreFixture.insertion(promised, ["title": .text("late")], other)]
        #expect(try other.save(changes).permanentIDs == permanent)
        // A promised identity may be named as well as the temporary one.
        let second = ObjectID(temporary: 501, entityName: "Dish")
        let named = try #require(try other.permanentIDs(for: [second])[second])
        changes.inserted = [try StoreFixture.insertion(named, ["title": .text("named")], other)]
        #expect(try other.save(changes).permanentIDs.isEmpty)
        #expect(
            try fixture.shell("SELECT Z_PK FROM ZDISH WHERE ZTITLE IN ('late', 'named') ORDER BY Z_PK")
                == "\(permanent[promised]?.key ?? 0)\n\(named.key)\n")
    }

    @Test func `saving at once, no key is given twice, no change is lost`() throws {
        let fixture = try StoreFixture(KitchenModel.make(), history: true)
        let dish = try fixture.insert(
            try fixture.new("Dish", ["title": .text("shared"), "aInteger64": .integer(0)]))[0]
        let (path, model) = (fixture.path, fixture.model)
        let (threads, rounds) = (4, 25)
        let failures = Failures()
        let group = DispatchGroup()
        for thread in 0..<threads {
            Thread.detachNewThread(in: group) {
                do {
                    let store = try ObjectStore(path, model: model, busyTimeout: 30_000)
                    for round in 0..<rounds {
                        try Self.add(to: dish, number: Int64(thread * rounds + round), store)
                    }
                } catch {
                    failures.add("\(error)")
                }
            }
        }
        group.wait()
        #expect(failures.all == [])
        let total = threads * rounds
        #expect(
            try fixture.shell(
                """
                SELECT ZAINTEGER64, Z_OPT, ZINGREDIENTCOUNT FROM ZDISH;
                SELECT count(*), count(DISTINCT Z_PK), max(Z_PK), count(DISTINCT Z_FOK_DISH) FROM ZINGREDIENT WHERE ZDISH = 1;
                SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Ingredient';
                SELECT count(DISTINCT ZTRANSACTIONID), count(*) = count(DISTINCT Z_PK) FROM ACHANGE; PRAGMA integrity_check
                """)
                == "\(total)|\(total + 1)|\(total)\n\(total)|\(total)|\(total)|\(total)\n\(total)\n\(total + 1)|1\nok\n"
        )
    }

    /// Adds an ingredient and one to a counter, over what the store has now, as often as it takes.
    private static func add(to dish: ObjectID, number: Int64, _ store: ObjectStore) throws {
        let position = store.shape(of: "Dish")?.position(of: "aInteger64") ?? 0
        while true {
            let snapshot = try store.snapshots(of: [dish])[0]
            let list = try store.destinations(of: "ingredients", owners: [dish])[dish] ?? []
            guard case .attribute(.integer(let count)?) = snapshot.values[position] else { return }
            let new = ObjectID(temporary: number, entityName: "Ingredient")
            var changes = ObjectChanges()
            changes.inserted = [
                try StoreFixture.insertion(new, ["name": .text("\(number)"), "dish": .toOne(dish)], store)
            ]
            changes.updated = [
                .init(
                    id: dish, version: snapshot.version,
                    values: ["aInteger64": .integer(count + 1), "ingredients": .toMany(list + [new])])
            ]
            do {
                _ = try store.save(changes)
                return
            } catch is SaveConflicts {
                continue
            }
        }
    }
}

private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
}

extension Thread {
    fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        detachNewThread {
            body()
            group.leave()
        }
    }
}
