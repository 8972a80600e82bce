import MoultModel

/// What keeps a store from going back to the version before by a mapping: the slow and obvious reasons.
struct WayBack {
    /// What is lost for certain, which has to be said.
    private(set) var losses: [String] = []
    /// What has no place as it is, or is more than the reference can follow.
    private(set) var obstacles: [String] = []
    /// The properties that earlier versions had in tables that still have rows. Work that waits may have left their
    /// columns, whose values a mapping drops.
    private(set) var left: [(table: String, property: String)] = []

    private let world: HistoryWorld
    private let new: HistoryModel
    private let old: HistoryModel
    private let back: HistoryWorld

    /// - Parameter earlier: the versions before `new`, whose orders of links may have left their columns.
    init(_ world: HistoryWorld, from new: HistoryModel, to old: HistoryModel, earlier: [HistoryModel]) {
        (self.world, self.new, self.old) = (world, new, old)
        back = world.returned(from: new, to: old)
        for object in world.objects.values { examine(object) }
        for link in new.links { examine(link, earlier.compactMap { $0.link(link.id) }) }
        for entity in old.entities { for attribute in entity.unique { examineUnique(attribute, of: entity) } }
        if !isFollowed { obstacles.append("objects or names that move") }
        if isLacking { obstacles.append("an object without a destination") }
        let lists = old.links.filter { link in
            new.link(link.id) == nil && link.ends.contains { $0.isToMany && $0.isRequired == true }
        }
        if !lists.isEmpty { obstacles.append("a list that has to have members") }
        for version in earlier { findLeft(by: version) }
    }

    private mutating func findLeft(by version: HistoryModel) {
        func add(_ name: String, of entity: Int) {
            let root = new.root(of: entity)
            guard let table = new.entity(root)?.name.uppercased(),
                world.objects.values.contains(where: { new.root(of: $0.entity) == root })
            else { return }
            left.append(("Z\(table)", name.uppercased()))
        }
        let attributes = Set(new.entities.flatMap(\.attributes).map(\.id))
        for entity in version.entities {
            for attribute in entity.attributes where !attributes.contains(attribute.id) {
                add(attribute.description.lastName, of: entity.id)
            }
        }
        for link in version.links {
            let (later, goal) = (new.link(link.id)?.ends, old.link(link.id)?.ends)
            for (place, end) in link.ends.enumerated() where !end.isToMany {
                // Where the older version has the to-one again, its links are those of the other end.
                func toOne(_ ends: [HistoryModel.End]?) -> HistoryModel.End? {
                    ends?.dropFirst(place).first.flatMap { $0.isToMany ? nil : $0 }
                }
                let isFilled = later != nil && toOne(goal)?.name == end.name
                // The keys stay, but the numbers of the destinations' entities may be left under the former name.
                let isKept = toOne(later)?.name == end.name
                if !isKept, !isFilled { add(end.name, of: end.entity) }
            }
            // Without an inverse, the keys are in the rows of the destinations.
            if link.inverse == nil, link.end.isToMany, later == nil { add(link.end.name, of: link.destination) }
        }
    }

    /// Whether a loss, as it is said, is of the values of a column that work that waits may have left.
    func hasLeft(_ loss: String) -> Bool {
        left.contains { loss.contains(" of \($0.table) ") && loss.contains($0.property) }
            && loss.contains("belongs to no property")
    }

    /// Whether the reference knows what the mapping makes of everything.
    private var isFollowed: Bool {
        // An entity that goes back into a hierarchy gets other keys there.
        let isMoved = new.entities.contains { old.entity($0.id) != nil && old.root(of: $0.id) != new.root(of: $0.id) }
        // What a number of another type under the same name becomes is not the reference's to say.
        let isReplaced = new.entities.contains { entity in
            let attributes = old.lineage(entity.id).flatMap(\.attributes)
            return new.lineage(entity.id).flatMap(\.attributes).contains { attribute in
                attributes.contains { $0.description.name == attribute.description.name && $0.id != attribute.id }
            }
        }
        let isParted = new.others != nil && Set(new.entities.map(\.id)) != Set(old.entities.map(\.id))
        return !isMoved && !isReplaced && !isParted
    }

    /// Whether an object has no destination in the older version, which requires one.
    private var isLacking: Bool { !back.lacking(in: old).isEmpty }

    /// Where the store goes back to; nil where the reference cannot follow, or where it cannot go.
    var end: HistoryWorld? { isFollowed && !isLacking ? back : nil }

    private mutating func examine(_ object: HistoryWorld.Object) {
        let name = new.entity(object.entity)?.name ?? ""
        guard old.entity(object.entity) != nil else { return losses.append("an object of \(name)") }
        let (had, has) = (old.lineage(object.entity), new.lineage(object.entity))
        let (before, after) = (had.flatMap(\.attributes), has.flatMap(\.attributes))
        for attribute in after where !before.contains(where: { $0.id == attribute.id }) {
            let text = object.values[attribute.id] ?? "-"
            guard ![HistoryValues.text(attribute.description.defaultValue), "-"].contains(text) else { continue }
            let isElsewhere =
                old.entities.flatMap(\.attributes).contains { $0.id == attribute.id }
                || before.contains { $0.description.name == attribute.description.name }
            let words = "a value of \(name).\(attribute.description.name)"
            if isElsewhere { obstacles.append(words) } else { losses.append(words) }
        }
        for attribute in before.map({ ($0.id, $0.description) }) {
            let later = after.first { $0.id == attribute.0 }
            let text = later == nil ? "-" : object.values[attribute.0] ?? "-"
            if text == "-" {
                let isFilled = attribute.1.isOptional || attribute.1.defaultValue != nil
                if !isFilled { obstacles.append("no value for \(name).\(attribute.1.name)") }
            } else if later?.description.type != attribute.1.type, !HistoryValues.hasEqual(text, in: attribute.1.type) {
                obstacles.append("\(text) for \(name).\(attribute.1.name)")
            }
        }
    }

    private mutating func examine(_ link: HistoryModel.Link, _ earlier: [HistoryModel.Link]) {
        let back = back.pairs[link.id]?.forward ?? [:]
        func stays(_ number: Int) -> Bool { world.objects[number].map { old.entity($0.entity) != nil } ?? false }
        // The column of an order may outlast it.
        let isOrderLost = ([link] + earlier).contains { version in
            zip(version.ends, old.link(link.id)?.ends ?? []).contains { $0.isOrdered && !$1.isOrdered }
        }
        if isOrderLost || isOrderLeft(of: link, earlier) { obstacles.append("the order of \(link.end.name)") }
        for (from, others) in world.pairs[link.id]?.forward ?? [:] where !others.isEmpty {
            let lost = others.filter { back[from]?.contains($0) != true }
            if stays(from), lost.contains(where: stays) {
                losses.append("a link \(link.end.name)")
            } else if !lost.isEmpty {
                obstacles.append("a link \(link.end.name)")
            }
        }
    }

    /// Whether there may be values in the column of an order that the version no longer has: it is in the rows of pairs,
    /// or in those of objects, also after they are unlinked. What they mean to the older version's order is unknown.
    private func isOrderLeft(of link: HistoryModel.Link, _ earlier: [HistoryModel.Link]) -> Bool {
        let isLeft = earlier.contains { zip($0.ends, link.ends).contains { $0.isOrdered && !$1.isOrdered } }
        let isOfPairs = link.inverse != nil && link.ends.allSatisfy(\.isToMany)
        let hasRows =
            isOfPairs
            ? world.pairs[link.id]?.forward.values.contains { !$0.isEmpty } == true
            : world.objects.values.contains {
                new.isKind($0.entity, of: link.end.entity) || new.isKind($0.entity, of: link.far)
            }
        return isLeft && hasRows
    }

    private mutating func examineUnique(_ attribute: Int, of entity: HistoryModel.Entity) {
        let values = world.objects.values.filter { old.isKind($0.entity, of: entity.id) }
            .compactMap { $0.values[attribute] }.filter { $0 != "-" }
        if Set(values).count < values.count { obstacles.append("\(entity.name) has a value twice") }
    }
}
