import MoultModel
import TestSupport

/// The numbers of members that lists may have.
extension HistoryEditor {
    /// Asks now and then for a least number of members of a new list: of one that is not empty, or of every object's,
    /// where the version before has none.
    mutating func count(_ end: inout HistoryModel.End, besides other: HistoryModel.End) {
        guard end.isToMany, isLikely(1, in: 4) else { return }
        end.least = isLikely(1, in: 2) ? 1 : 2
        let mayBeRequired = start.entity(end.entity) == nil && other.isRequired != true
        if mayBeRequired, isLikely(1, in: 3) { end.isRequired = true }
    }

    /// Widens or narrows what a list may have; its members stay.
    mutating func changeCounts() -> Bool {
        guard !isPlain,
            let position = someLink(where: { $0.inverse != nil && $0.ends.contains(where: \.isToMany) }),
            let inverse = model.links[position].inverse
        else { return false }
        let isFirst = model.links[position].end.isToMany && (!inverse.isToMany || isLikely(1, in: 2))
        var end = isFirst ? model.links[position].end : inverse
        let before = (end.limit, end.least)
        end.limit = [nil, 2, 3, 4].randomElement(using: &random) ?? nil
        end.least = [nil, 1, 2].randomElement(using: &random) ?? nil
        if end.isRequired == true { end.least = end.least ?? 1 }
        guard (end.limit, end.least) != before else { return false }
        if isFirst { model.links[position].end = end } else { model.links[position].inverse = end }
        touched.insert(model.links[position].id)
        return true
    }
}
