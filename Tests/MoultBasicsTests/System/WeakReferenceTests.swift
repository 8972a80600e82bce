import Synchronization
import Testing

@testable import MoultBasics

@Suite struct WeakReferenceTests {
    private class Item {
        let number: Int
        var seenAtEnd: Bool?
        var reference: WeakReference<Item>?
        var atEnd: (Bool) -> Void = { _ in }
        init(_ number: Int) { self.number = number }
        deinit { atEnd(reference?.object != nil) }
    }

    private final class SubItem: Item {}

    @Test func givesTheObjectAsLongAsItIsHeld() {
        var item: Item? = SubItem(7)
        let reference = WeakReference(item!)
        let other = reference
        #expect(reference.object === item && other.object?.number == 7)
        var loaded = reference.object
        item = nil
        #expect(reference.object?.number == 7, "what was loaded holds it")
        loaded = nil
        #expect(reference.object == nil && other.object == nil)
        _ = loaded
    }

    /// With a `weak var` the object has a side table, which is asked then.
    @Test func agreesWithWeakVariables() {
        var item: Item? = Item(1)
        let before = WeakReference(item!)
        weak var variable: Item?
        variable = item
        let after = WeakReference(item!)
        #expect(before.object === variable && after.object === variable)
        item = nil
        #expect(variable == nil && before.object == nil && after.object == nil)
    }

    @Test func givesNothingOnceTheDeinitialiserRuns() {
        var found: [Bool] = []
        var item: Item? = Item(1)
        item?.reference = item.map { WeakReference($0) }
        item?.atEnd = { found.append($0) }
        item = nil
        #expect(found == [false])
    }

    private final class Race: @unchecked Sendable {
        private var item: Item?
        let reference: WeakReference<Item>
        private let number: Int
        private let hasBegun = Atomic(false)
        let whole = Atomic(0)
        let broken = Atomic(0)

        init(_ number: Int) {
            let item = Item(number)
            self.item = item
            self.number = number
            reference = WeakReference(item)
        }

        func load() {
            hasBegun.store(true, ordering: .releasing)
            while let loaded = reference.object {
                if loaded.number == number {
                    whole.add(1, ordering: .relaxed)
                } else {
                    broken.add(1, ordering: .relaxed)
                }
            }
        }

        func release() async {
            while !hasBegun.load(ordering: .acquiring) { await Task.yield() }
            item = nil
        }
    }

    /// One thread releases the last reference while another loads it, which gets the whole object or nil.
    @Test func survivesARaceWithTheLastRelease() async {
        var whole = 0
        for number in 0..<2_000 {
            let race = Race(number)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { race.load() }
                group.addTask { await race.release() }
            }
            whole += race.whole.load(ordering: .relaxed)
            #expect(race.broken.load(ordering: .relaxed) == 0 && race.reference.object == nil)
        }
        #expect(whole > 0)
    }
}
