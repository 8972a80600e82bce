import MoultModel

/// What contexts and stores must hold, kept in the plainest way: dictionaries of numbers.
///
/// It knows Core Data's promises and nothing of how Moult keeps them: both ends of a relationship always agree, a
/// to-one has one destination at most, an ordered list takes newcomers at its end.
struct Reference: Equatable {
    struct Record: Equatable {
        var entity: String
        /// Without those that have no value.
        var values: [String: AttributeValue] = [:]
        /// By relationship; unordered ones in any order, so that only ``Reference/normalized`` compares.
        var links: [String: [Int]] = [:]
    }

    var records: [Int: Record] = [:]

    func refs(of entity: String) -> [Int] {
        records.filter { Company.isKind($0.value.entity, of: entity) }.keys.sorted()
    }

    func destinations(_ ref: Int, _ name: String) -> [Int] { records[ref]?.links[name] ?? [] }

    // MARK: - Changes

    mutating func insert(_ ref: Int, _ entity: String) { records[ref] = Record(entity: entity) }

    mutating func set(_ ref: Int, _ attribute: String, _ value: AttributeValue?) {
        records[ref]?.values[attribute] = value
    }

    /// Makes exactly these the destinations, in this order.
    mutating func setLinks(_ ref: Int, _ link: Company.Link, _ wanted: [Int]) {
        for old in destinations(ref, link.name) where !wanted.contains(old) { unlink(ref, link, old) }
        for new in wanted { self.link(ref, link, new) }
        records[ref]?.links[link.name] = wanted
    }

    mutating func link(_ ref: Int, _ link: Company.Link, _ other: Int) {
        guard !destinations(ref, link.name).contains(other), let entity = records[other]?.entity else { return }
        let inverse = Company.link(link.inverse, of: entity)
        if !link.isToMany { for old in destinations(ref, link.name) { unlink(ref, link, old) } }
        if !inverse.isToMany { for old in destinations(other, inverse.name) { unlink(other, inverse, old) } }
        records[ref]?.links[link.name, default: []].append(other)
        if !(ref == other && inverse.name == link.name) {
            records[other]?.links[inverse.name, default: []].append(ref)
        }
    }

    mutating func unlink(_ ref: Int, _ link: Company.Link, _ other: Int) {
        records[ref]?.links[link.name]?.removeAll { $0 == other }
        records[other]?.links[link.inverse]?.removeAll { $0 == ref }
    }

    mutating func place(_ ref: Int, _ link: Company.Link, _ other: Int, at place: Int) {
        self.link(ref, link, other)
        var list = destinations(ref, link.name).filter { $0 != other }
        list.insert(other, at: place)
        records[ref]?.links[link.name] = list
    }

    // MARK: - Deleting

    /// The object and all that cascades from it.
    func doomed(by ref: Int) -> Set<Int> {
        var doomed: Set<Int> = []
        var waiting = [ref]
        while let next = waiting.popLast() {
            guard doomed.insert(next).inserted, let record = records[next] else { continue }
            for link in Company.links(of: record.entity) where link.rule == .cascade {
                waiting += destinations(next, link.name)
            }
        }
        return doomed
    }

    /// Whether a rule forbids to delete the object: something that it must not leave behind would stay.
    func isDenied(_ ref: Int) -> Bool {
        let doomed = doomed(by: ref)
        return doomed.contains { one in
            guard let record = records[one] else { return false }
            return Company.links(of: record.entity).contains { link in
                link.rule == .deny && destinations(one, link.name).contains { !doomed.contains($0) }
            }
        }
    }

    mutating func delete(_ ref: Int) {
        let doomed = doomed(by: ref)
        for one in doomed { records[one] = nil }
        for (ref, record) in records {
            records[ref]?.links = record.links.mapValues { $0.filter { !doomed.contains($0) } }
        }
    }

    // MARK: - Comparing

    /// With unordered lists sorted and empty ones left out.
    var normalized: [Int: Record] {
        records.mapValues { record in
            var record = record
            for link in Company.links(of: record.entity) where !link.isOrdered { record.links[link.name]?.sort() }
            record.links = record.links.filter { !$0.value.isEmpty }
            return record
        }
    }

    /// The first few things that differ, each in a line.
    func differences(from other: Reference) -> [String] {
        let (mine, theirs) = (normalized, other.normalized)
        if mine == theirs { return [] }
        var lines: [String] = []
        for ref in Set(mine.keys).union(theirs.keys).sorted() where mine[ref] != theirs[ref] {
            guard let left = mine[ref], let right = theirs[ref] else {
                lines.append("object \(ref): \(mine[ref]?.entity ?? "missing") / \(theirs[ref]?.entity ?? "missing")")
                continue
            }
            for name in Set(left.values.keys).union(right.values.keys).sorted()
            where left.values[name] != right.values[name] {
                let texts = [left, right].map { $0.values[name].map { "\($0)" } ?? "nil" }
                lines.append("\(left.entity) \(ref).\(name): \(texts[0].prefix(60)) / \(texts[1].prefix(60))")
            }
            for name in Set(left.links.keys).union(right.links.keys).sorted()
            where left.links[name] != right.links[name] {
                lines.append("\(left.entity) \(ref).\(name): \(left.links[name] ?? []) / \(right.links[name] ?? [])")
            }
        }
        return Array(lines.prefix(8))
    }
}
