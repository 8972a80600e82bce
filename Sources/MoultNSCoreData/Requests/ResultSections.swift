import Foundation

/// The results of a controller, divided by the values of a key path.
struct ResultSections {
    private(set) var sections: [Section] = []
    private var places: [ObjectIdentifier: IndexPath] = [:]

    /// One section.
    struct Section: NSFetchedResultsSectionInfo {
        let name: String
        var list: [NSManagedObject] = []
        var indexTitle: String? { name.first.map { String($0).uppercased() } }
        var numberOfObjects: Int { list.count }
        var objects: [Any]? { list }
    }

    /// Objects that follow each other with the same value are one section; without a key path all are one.
    init(_ objects: [NSManagedObject], by keyPath: String?) {
        guard let keyPath else {
            if !objects.isEmpty { sections = [Section(name: "", list: objects)] }
            if objects.isEmpty { sections = [Section(name: "")] }
            note()
            return
        }
        for object in objects {
            let name = object.value(forKeyPath: keyPath).map { "\($0)" } ?? ""
            if sections.last?.name != name { sections.append(Section(name: name)) }
            sections[sections.count - 1].list.append(object)
        }
        note()
    }

    private mutating func note() {
        for (number, section) in sections.enumerated() {
            for (place, object) in section.list.enumerated() {
                places[ObjectIdentifier(object)] = IndexPath(indexes: [number, place])
            }
        }
    }

    var all: [NSManagedObject] { sections.flatMap(\.list) }

    func path(of object: NSManagedObject) -> IndexPath? { places[ObjectIdentifier(object)] }
}

/// The changes to the results of a controller, in the order in which a delegate receives them.
struct ResultChanges {
    private(set) var sections: [(section: ResultSections.Section, index: Int, type: NSFetchedResultsChangeType)] = []
    private(set) var objects:
        [(object: NSManagedObject, old: IndexPath?, new: IndexPath?, type: NSFetchedResultsChangeType)] = []

    var isEmpty: Bool { sections.isEmpty && objects.isEmpty }

    init(from old: ResultSections, to new: ResultSections, touched: Set<NSManagedObject>) {
        let (oldNames, newNames) = (Set(old.sections.map(\.name)), Set(new.sections.map(\.name)))
        for (index, section) in old.sections.enumerated() where !newNames.contains(section.name) {
            sections.append((section, index, .delete))
        }
        for (index, section) in new.sections.enumerated() where !oldNames.contains(section.name) {
            sections.append((section, index, .insert))
        }
        for object in old.all where new.path(of: object) == nil {
            objects.append((object, old.path(of: object), nil, .delete))
        }
        for object in new.all where old.path(of: object) == nil {
            objects.append((object, nil, new.path(of: object), .insert))
        }
        // Objects move where their order among those that stay, or their section, is another.
        let stayed = old.all.filter { new.path(of: $0) != nil }
        let arrived = new.all.filter { old.path(of: $0) != nil }
        let moved = Self.moved(stayed, arrived)
        for object in arrived {
            guard let from = old.path(of: object), let to = new.path(of: object) else { continue }
            let changesSection = old.sections[from[0]].name != new.sections[to[0]].name
            if changesSection || moved.contains(ObjectIdentifier(object)) {
                objects.append((object, from, to, .move))
            } else if touched.contains(object) {
                objects.append((object, from, to, .update))
            }
        }
    }

    /// Returns the objects that are not in the longest run of objects whose order has stayed.
    private static func moved(_ old: [NSManagedObject], _ new: [NSManagedObject]) -> Set<ObjectIdentifier> {
        let positions = Dictionary(uniqueKeysWithValues: old.enumerated().map { (ObjectIdentifier($1), $0) })
        let order = new.compactMap { positions[ObjectIdentifier($0)] }
        var tails: [Int] = []
        var before = [Int](repeating: -1, count: order.count)
        for (index, position) in order.enumerated() {
            var (low, high) = (0, tails.count)
            while low < high {
                let middle = (low + high) / 2
                if order[tails[middle]] < position { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var staying: Set<Int> = []
        var index = tails.last ?? -1
        while index >= 0 {
            staying.insert(index)
            index = before[index]
        }
        return Set(new.indices.filter { !staying.contains($0) }.map { ObjectIdentifier(new[$0]) })
    }
}
