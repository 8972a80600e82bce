import MoultModel
import MoultPlan

/// The mapping of the changed-columns bit set of persistent history from one version's slots to another's
/// (`ACHANGE.ZCOLUMNS`).
package struct HistoryColumns: Sendable, Hashable {
    /// For each slot of the destination, the slots of the source of which any sets it.
    let sources: [[Int]]

    /// The bit set in the destination's slots: the most significant bit of the first byte is slot 0.
    package func carry(_ bits: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: (sources.count + 7) / 8)
        for (slot, origins) in sources.enumerated() where origins.contains(where: { Self.isSet($0, in: bits) }) {
            result[slot / 8] |= 0x80 >> UInt8(slot % 8)
        }
        return result
    }

    private static func isSet(_ slot: Int, in bits: [UInt8]) -> Bool {
        slot / 8 < bits.count && bits[slot / 8] & (0x80 >> UInt8(slot % 8)) != 0
    }
}

extension HistoryColumns {
    /// Nil where every slot keeps its place.
    init?(_ contribution: StoreLowering.Contribution, from source: StoreLayout, to destination: StoreLayout) {
        let old = HistorySlots(of: contribution.source, in: source)
        let new = HistorySlots(of: contribution.destination, in: destination)
        let places = Dictionary(old.slots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        let relationships = contribution.mapping.relationships
        let origin = { (name: String) -> String? in
            if case .relationship(let source)? = relationships[name] { source } else { nil }
        }
        // Which to-many a slot belongs to is known only where there is one of them, or where none of them changed.
        let sameToManys = old.toManyNames == new.toManyNames && new.toManyNames.allSatisfy { origin($0) == $0 }
        let isOrderKnown = sameToManys || (old.toManyNames.count < 2 && new.toManyNames.count < 2)
        let allToManys = old.toManyNames.compactMap { places[.toMany($0)] }
        typealias Slot = HistorySlots.Slot
        sources = new.slots.map { slot in
            switch slot {
            case .toOne(let name):
                return Self.places(of: origin(name), [Slot.toOne, Slot.toMany], places)
            case .toOneEntity(let name): return Self.places(of: origin(name), [Slot.toOneEntity], places)
            case .order(let name): return Self.places(of: origin(name), [Slot.order], places)
            case .attribute(let name):
                if contribution.destination.attribute(name)?.derivation != nil {
                    return Self.places(of: name, [Slot.attribute], places)
                }
                guard case .attribute(let from, _)? = contribution.mapping.attributes[name] else { return [] }
                return Self.places(of: from, [Slot.attribute], places)
            case .toMany(let name):
                // Where the order is not known, a change of any is reported as a change of each: more, never less.
                return isOrderKnown ? Self.places(of: origin(name), [Slot.toMany, Slot.toOne], places) : allToManys
            }
        }
        if sources == (0..<old.slots.count).map({ [$0] }) { return nil }
    }

    private static func places(
        of name: String?, _ kinds: [(String) -> HistorySlots.Slot], _ places: [HistorySlots.Slot: Int]
    ) -> [Int] {
        guard let name else { return [] }
        return kinds.compactMap { places[$0(name)] }
    }
}
