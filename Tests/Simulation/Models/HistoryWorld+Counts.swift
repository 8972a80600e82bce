import MoultModel

extension HistoryModel.End {
    /// Whether not every number of members is allowed.
    var isCounted: Bool { limit != nil || least != nil }

    /// How many destinations are missing to that number of them. An optional to-many may be empty.
    func missing(_ count: Int) -> Int {
        if count == 0, isRequired != true { return 0 }
        return max(0, (isToMany ? least ?? 0 : 1) - count)
    }
}

/// How many destinations each object has to have, and may have.
extension HistoryWorld {
    /// The members of an object's list, or its one destination, seen from the end of a link or from its inverse.
    func destinations(_ link: Int, of number: Int, _ isBackward: Bool) -> [Int] {
        (isBackward ? pairs[link]?.backward : pairs[link]?.forward)?[number] ?? []
    }

    /// Whether two objects that are linked have no more members than their lists may have.
    func keepsLimit(_ id: Int, _ from: Int, _ to: Int, _ model: HistoryModel) -> Bool {
        guard let link = model.link(id) else { return true }
        func keeps(_ end: HistoryModel.End?, _ number: Int, _ isBackward: Bool) -> Bool {
            end?.isToMany != true || destinations(id, of: number, isBackward).count <= end?.limit ?? .max
        }
        return keeps(link.end, from, false) && keeps(link.inverse, to, true)
    }

    /// Whether a list has too few or too many members. A migration leaves it as it was, and a save that does not change
    /// it may pass.
    ///
    /// - Parameter before: the world before a save that leaves the lists alone which are not asked about; nil for all.
    func isMiscounted(in model: HistoryModel, besides before: HistoryWorld? = nil) -> Bool {
        model.links.contains { link in
            [false, true].contains { isBackward in
                guard let end = isBackward ? link.inverse : link.end, end.isToMany, end.isCounted else { return false }
                // An empty list is wrong only where every object has to have members.
                let lists = isBackward ? pairs[link.id]?.backward : pairs[link.id]?.forward
                let owners =
                    end.isRequired == true ? members(of: end.entity, in: model) : lists.map { Array($0.keys) } ?? []
                return owners.contains { number in
                    let found = lists?[number] ?? []
                    guard end.missing(found.count) > 0 || found.count > end.limit ?? .max else { return false }
                    guard let before, before.objects[number] != nil else { return true }
                    return Set(before.destinations(link.id, of: number, isBackward)) != Set(found)
                }
            }
        }
    }

    /// Whether a save is refused for what it makes of the world before it.
    func lacks(besides before: HistoryWorld, in model: HistoryModel) -> Bool {
        !lacking(in: model).isSubset(of: before.lacking(in: model)) || isMiscounted(in: model, besides: before)
    }

    /// Links an object with others that are there, where it has to have more.
    ///
    /// - Returns: the links.
    mutating func links(needed number: Int, in model: HistoryModel, using random: inout HistoryRandom) -> [Change] {
        var made: [Change] = []
        for link in model.links {
            for isBackward in [false, true] {
                guard let end = isBackward ? link.inverse : link.end, let object = objects[number],
                    model.isKind(object.entity, of: end.entity)
                else { continue }
                var missing = end.missing(destinations(link.id, of: number, isBackward).count)
                guard missing > 0 else { continue }
                let others = members(of: isBackward ? link.end.entity : link.far, in: model).shuffled(using: &random)
                // Taking one from another object may leave that with too few.
                let free = others.filter { destinations(link.id, of: $0, !isBackward).isEmpty }
                for other in (free + others.filter { !free.contains($0) }).prefix(missing + 3) where missing > 0 {
                    let (from, to) = isBackward ? (other, number) : (number, other)
                    let change = Change.link(link.id, from: from, to: to, place: 0, isBackward: false)
                    guard make(change, in: model, key: { _ in 0 }) else { continue }
                    made.append(change)
                    missing -= 1
                }
            }
        }
        return made
    }
}
