import MoultBasics

extension Diagram {
    /// The number of boxes up to which a picture of a structure shows what is in them.
    package static let detailLimit = 30

    /// Whether a structure has too many boxes to be read with what is in them.
    package var isLarge: Bool { !isFlow && !isOverview && boxes.count > Self.detailLimit }

    /// The names of the boxes without their lines, by clusters of boxes that are linked to each other more than to
    /// others.
    ///
    /// Each cluster is a group with the name of its most linked box, the largest cluster first. A pair of boxes has
    /// one link. Boxes without links come last, in no group.
    package var overview: Diagram {
        let clusters = ClusterSearch(count: boxes.count, links: links).clusters
        let degrees = links.reduce(into: [Int](repeating: 0, count: boxes.count)) { degrees, link in
            degrees[link.from] += 1
            degrees[link.to] += 1
        }
        var overview = Diagram(title: title)
        (overview.isOverview, overview.marksChanges) = (true, marksChanges)
        var places = [Int](repeating: 0, count: boxes.count)
        func add(_ cluster: [Int], _ group: String?) {
            for place in cluster {
                places[place] = overview.boxes.count
                var box = boxes[place]
                (box.lines, box.group) = ([], group)
                overview.boxes.append(box)
            }
        }
        for cluster in clusters where cluster.count > 1 {
            let hub = cluster.max { (degrees[$0], $1) < (degrees[$1], $0) }
            add(cluster, hub.map { boxes[$0].title })
        }
        add(clusters.filter { $0.count == 1 }.flatMap(\.self), nil)
        var known: Set<[Int]> = []
        for var link in links where link.from != link.to && known.insert([link.from, link.to].sorted()).inserted {
            (link.from, link.to, link.label) = (places[link.from], places[link.to], "")
            overview.links.append(link)
        }
        return overview
    }

    /// Returns the picture of a box and those that are linked to it.
    ///
    /// If these are too many to be read, only the box itself keeps its lines.
    func neighbourhood(of centre: Int) -> Diagram {
        let near = links.filter { $0.from == centre || $0.to == centre }.flatMap { [$0.from, $0.to] }
        return part(Set(near + [centre]), around: [centre])
    }

    /// Returns the picture without the lines of boxes other than the named ones, if it has too many boxes.
    package func condensed(around names: [String]) -> Diagram {
        let centres = boxes.indices.filter { names.contains(boxes[$0].title) }
        return part(Set(boxes.indices), around: Set(centres))
    }

    private func part(_ kept: Set<Int>, around centres: Set<Int>) -> Diagram {
        var part = Diagram(title: title)
        part.marksChanges = marksChanges
        var places: [Int: Int] = [:]
        for place in kept.sorted() {
            places[place] = part.boxes.count
            var box = boxes[place]
            if kept.count > Self.detailLimit, !centres.contains(place) { box.lines = [] }
            part.boxes.append(box)
        }
        for var link in links {
            guard let from = places[link.from], let to = places[link.to] else { continue }
            (link.from, link.to) = (from, to)
            part.links.append(link)
        }
        return part
    }
}

/// The search for clusters by greedy modularity: of all pairs of linked clusters, the pair whose union has the most
/// links within it, compared with what chance would give, becomes one; until no pair gains
/// (https://doi.org/10.1103/PhysRevE.70.066111).
struct ClusterSearch {
    private var members: [[Int]]
    /// The weight of the links of each cluster with each other one.
    private var weights: [[Int: Int]]
    private var degrees: [Int]
    private var total = 0
    /// The best partner of each cluster with the gain; nil for none.
    private var best: [(gain: Int, partner: Int)?]

    /// - Parameter links: the links; one of inheritance counts twice.
    init(count: Int, links: [Diagram.Link]) {
        members = (0..<count).map { [$0] }
        weights = [[Int: Int]](repeating: [:], count: count)
        degrees = [Int](repeating: 0, count: count)
        best = [(gain: Int, partner: Int)?](repeating: nil, count: count)
        for link in links where link.from != link.to {
            let weight = link.kind == .inheritance ? 2 : 1
            total += weight
            for (one, other) in [(link.from, link.to), (link.to, link.from)] {
                weights[one][other, default: 0] += weight
                degrees[one] += weight
            }
        }
        for place in 0..<count { choose(for: place) }
        while let place = best.indices.max(by: { (best[$0]?.gain ?? 0, $1) < (best[$1]?.gain ?? 0, $0) }),
            let partner = best[place]?.partner
        {
            join(min(place, partner), max(place, partner))
        }
    }

    /// The clusters, the largest first.
    var clusters: [[Int]] {
        members.filter { !$0.isEmpty }.map { $0.sorted() }.sorted { (-$0.count, $0[0]) < (-$1.count, $1[0]) }
    }

    private mutating func choose(for place: Int) {
        best[place] = nil
        for (other, weight) in weights[place] {
            let gain = 2 * total * weight - degrees[place] * degrees[other]
            if gain > 0, (gain, -other) > (best[place]?.gain ?? 0, -(best[place]?.partner ?? .max)) {
                best[place] = (gain, other)
            }
        }
    }

    private mutating func join(_ one: Int, _ other: Int) {
        members[one] += members[other]
        degrees[one] += degrees[other]
        for (neighbour, weight) in weights[other] where neighbour != one {
            weights[one][neighbour, default: 0] += weight
            weights[neighbour][one, default: 0] += weight
            weights[neighbour][other] = nil
        }
        weights[one][other] = nil
        (members[other], weights[other], best[other]) = ([], [:], nil)
        for place in [one] + weights[one].keys { choose(for: place) }
    }
}
