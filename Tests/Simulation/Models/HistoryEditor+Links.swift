import MoultModel
import TestSupport

extension HistoryEditor {
    @discardableResult
    mutating func addLink() -> Bool {
        guard let from = model.entities.randomElement(using: &random),
            let to = model.entities.randomElement(using: &random), let name = freeName(around: from.id),
            !isDivided || model.isMarked(from.id) == model.isMarked(to.id)
        else { return false }
        var link = HistoryModel.Link(
            id: newID(), end: HistoryModel.End(entity: from.id, name: name), destination: to.id)
        if isPlain || isLikely(4, in: 5) {
            guard let back = freeName(around: to.id), back != name else { return false }
            var inverse = HistoryModel.End(entity: to.id, name: back, isToMany: isLikely(1, in: 2))
            inverse.isOrdered = !isPlain && inverse.isToMany && isLikely(1, in: 3)
            link.end.isToMany = isLikely(1, in: 2)
            link.end.isOrdered = !isPlain && link.end.isToMany && isLikely(1, in: 3)
            ruleDeletions(&link.end)
            if isLikely(1, in: 3) { ruleDeletions(&inverse) }
            link.inverse = inverse
            if !isPlain { bound(&link) }
        } else if isLikely(1, in: 2) {
            link.end.isToMany = true
            link.end.isOrdered = isLikely(1, in: 3)
        }
        model.links.append(link)
        touched.insert(link.id)
        return true
    }

    private mutating func ruleDeletions(_ end: inout HistoryModel.End) {
        end.cascades = isLikely(1, in: 4)
        let isRuled = !end.cascades && isLikely(1, in: 4)
        end.rule = isRuled ? HistoryModel.End.Rule.allCases.randomElement(using: &random) : nil
    }

    /// Requires a destination of the objects of an entity that the version before does not have, and limits lists.
    private mutating func bound(_ link: inout HistoryModel.Link) {
        guard var inverse = link.inverse else { return }
        func isNew(_ end: HistoryModel.End) -> Bool { !end.isToMany && start.entity(end.entity) == nil }
        if isNew(link.end), isLikely(1, in: 3) {
            link.end.isRequired = true
            // Else hardly a destination could be deleted.
            if isLikely(1, in: 2) { (inverse.cascades, inverse.rule) = (true, nil) }
        } else if isNew(inverse), isLikely(1, in: 3) {
            inverse.isRequired = true
        }
        if link.end.isToMany, isLikely(1, in: 5) { link.end.limit = 3 }
        if inverse.isToMany, isLikely(1, in: 5) { inverse.limit = 2 }
        count(&link.end, besides: inverse)
        count(&inverse, besides: link.end)
        link.inverse = inverse
    }

    mutating func someLink(where isFit: (HistoryModel.Link) -> Bool = { _ in true }) -> Int? {
        model.links.indices.filter { !touched.contains(model.links[$0].id) && isFit(model.links[$0]) }
            .randomElement(using: &random)
    }

    mutating func removeLink() -> Bool {
        guard let position = someLink() else { return false }
        touched.insert(model.links.remove(at: position).id)
        return true
    }

    /// Changes one end of a link, the first or its inverse.
    mutating func change(_ position: Int, _ edit: (inout HistoryModel.End) -> Void) {
        touched.insert(model.links[position].id)
        guard var inverse = model.links[position].inverse, isLikely(1, in: 2) else {
            edit(&model.links[position].end)
            return
        }
        edit(&inverse)
        model.links[position].inverse = inverse
    }

    mutating func renameLink() -> Bool {
        guard let position = someLink() else { return false }
        let link = model.links[position]
        let taken = link.ends.reduce(into: Set<String>()) { $0.formUnion(takenNames(around: $1.entity)) }
        guard let name = Self.names.filter({ !taken.contains($0) }).randomElement(using: &random) else { return false }
        let keepsFirst = isLikely(1, in: 2)
        change(position) { end in
            end.renamingIdentifier = keepsFirst ? end.renamingIdentifier ?? end.name : end.name
            end.name = name
        }
        return true
    }

    mutating func changeCardinality() -> Bool {
        guard let position = someLink(where: { $0.inverse != nil && !$0.isRequired }) else { return false }
        change(position) { end in
            end.isToMany.toggle()
            end.isOrdered = false
        }
        return true
    }

    mutating func changeOrder() -> Bool {
        guard !isPlain, let position = someLink(where: { $0.end.isToMany || $0.inverse?.isToMany == true }) else {
            return false
        }
        touched.insert(model.links[position].id)
        if model.links[position].end.isToMany {
            model.links[position].end.isOrdered.toggle()
        } else {
            model.links[position].inverse?.isOrdered.toggle()
        }
        return true
    }

    /// A to-one gets a to-many inverse, or loses it.
    mutating func changeInverse() -> Bool {
        guard !isPlain,
            let position = someLink(where: {
                !$0.end.isToMany && $0.inverse?.isToMany != false && !$0.isRequired
            })
        else { return false }
        let link = model.links[position]
        if link.inverse == nil {
            guard let name = freeName(around: link.destination) else { return false }
            model.links[position].inverse = HistoryModel.End(entity: link.destination, name: name, isToMany: true)
        } else {
            model.links[position].inverse = nil
        }
        touched.insert(link.id)
        return true
    }

    /// Changes what no version hash sees, and every deletion does.
    mutating func changeDeleteRule() -> Bool {
        guard let position = someLink(where: { $0.inverse != nil }) else { return false }
        touched.insert(model.links[position].id)
        var end = model.links[position].end
        ruleDeletions(&end)
        model.links[position].end = end
        return true
    }
}
