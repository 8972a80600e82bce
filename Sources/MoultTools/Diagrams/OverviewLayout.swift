/// The places of names and frames in an overview, in points from the upper left.
///
/// In a frame, the most linked box is on the left, those linked to it are in the next column, and so on. Frames are
/// packed into the shape of a page.
struct OverviewLayout {
    /// A rectangle, with the title of a frame.
    struct Spot {
        var title = ""
        var x = 0
        var y = 0
        var width = 0
        var height = OverviewLayout.rowHeight

        /// The centre, as Graphviz has it: its y axis points upwards.
        var middle: String { "\(Double(x) + Double(width) / 2),\(-Double(y) - Double(height) / 2)" }

        /// The centre of the title at the upper edge.
        var titleMiddle: String { "\(Double(x) + Double(width) / 2),\(-y - OverviewLayout.margin)" }
    }

    private static let rowHeight = 22
    private static let rowGap = 6
    private static let columnGap = 56
    private static let margin = 10
    private static let titleHeight = 18
    private static let frameGap = 18
    /// The most boxes below each other.
    private static let columnLength = 16

    /// The place of each box.
    private(set) var spots: [Spot]
    private(set) var frames: [Spot] = []

    init(_ diagram: Diagram) {
        spots = diagram.boxes.map { Spot(width: $0.estimatedWidth) }
        var neighbours = [[Int]](repeating: [], count: spots.count)
        for link in diagram.links {
            neighbours[link.from].append(link.to)
            neighbours[link.to].append(link.from)
        }
        var groups: [Range<Int>] = []
        for place in diagram.boxes.indices {
            if let last = groups.last, diagram.boxes[last.lowerBound].group == diagram.boxes[place].group {
                groups[groups.count - 1] = last.lowerBound..<place + 1
            } else {
                groups.append(place..<place + 1)
            }
        }
        let alone = groups.last.flatMap { diagram.boxes[$0.lowerBound].group == nil ? $0 : nil }
        if alone != nil { groups.removeLast() }
        for group in Self.ordered(groups, neighbours) {
            let title = group.count > 3 ? diagram.boxes[group.lowerBound].group ?? "" : ""
            let columns = Self.columns(of: group, neighbours)
            let last = Set(columns.last ?? [])
            // A link within the last column takes room on its right.
            let hasTurns = last.contains { neighbours[$0].contains(where: last.contains) }
            add(columns, title: title, gap: Self.columnGap, room: hasTurns ? Self.columnGap / 4 : 0)
        }
        pack(alone, title: frames.isEmpty ? "" : "Without relationships")
    }

    /// Returns the groups, the largest first, each followed by those that are linked to it.
    private static func ordered(_ groups: [Range<Int>], _ neighbours: [[Int]]) -> [Range<Int>] {
        var owners = [Int](repeating: -1, count: neighbours.count)
        for (number, group) in groups.enumerated() { for place in group { owners[place] = number } }
        var (ordered, isKnown) = ([Int](), [Bool](repeating: false, count: groups.count))
        for number in groups.indices where !isKnown[number] {
            var next = ordered.count
            (isKnown[number], ordered) = (true, ordered + [number])
            while next < ordered.count {
                for owner in groups[ordered[next]].flatMap({ neighbours[$0] }).map({ owners[$0] }).sorted()
                where owner >= 0 && !isKnown[owner] {
                    isKnown[owner] = true
                    ordered.append(owner)
                }
                next += 1
            }
        }
        return ordered.map { groups[$0] }
    }

    /// Returns the boxes of a group by their distance from the most linked one. A box stands near those of the
    /// column before that it is linked to.
    private static func columns(of group: Range<Int>, _ neighbours: [[Int]]) -> [[Int]] {
        let near = group.map { neighbours[$0].filter(group.contains) }
        var rest = Set(group)
        let hub = group.max { (near[$0 - group.lowerBound].count, $1) < (near[$1 - group.lowerBound].count, $0) }
        var layer = hub.map { [$0] } ?? []
        var columns: [[Int]] = []
        while !layer.isEmpty {
            rest.subtract(layer)
            let count = (layer.count + columnLength - 1) / columnLength
            let length = (layer.count + count - 1) / count
            columns += stride(from: 0, to: layer.count, by: length).map {
                Array(layer[$0..<min($0 + length, layer.count)])
            }
            var heights: [Int: [Int]] = [:]
            for (row, place) in layer.enumerated() {
                for other in near[place - group.lowerBound] where rest.contains(other) {
                    heights[other, default: []].append(row)
                }
            }
            func height(_ place: Int) -> Double {
                let rows = heights[place] ?? []
                return Double(rows.reduce(0, +)) / Double(max(rows.count, 1))
            }
            layer = heights.keys.sorted { (height($0), $0) < (height($1), $1) }
        }
        return columns
    }

    /// Adds a frame at the upper left, with its boxes in columns.
    private mutating func add(_ columns: [[Int]], title: String, gap: Int, room: Int = 0) {
        let top = Self.margin + (title.isEmpty ? 0 : Self.titleHeight)
        func height(_ rows: Int) -> Int { rows * (Self.rowHeight + Self.rowGap) - Self.rowGap }
        let inner = height(columns.map(\.count).max() ?? 1)
        var x = Self.margin
        for column in columns {
            let width = column.map { spots[$0].width }.max() ?? 0
            var y = top + (inner - height(column.count)) / 2
            for place in column {
                (spots[place].x, spots[place].y, spots[place].width) = (x, y, width)
                y += Self.rowHeight + Self.rowGap
            }
            x += width + gap
        }
        members.append(columns.flatMap(\.self))
        let width = max(x - gap + room + Self.margin, title.estimatedWidth + 2 * Self.margin)
        frames.append(Spot(title: title, width: width, height: top + inner + Self.margin))
    }

    /// The boxes of each frame.
    private var members: [[Int]] = []

    /// Moves the frames to where the picture has nearly the shape of a page, with the boxes that are linked to none
    /// below.
    private mutating func pack(_ alone: Range<Int>?, title: String) {
        let row = Self.rowHeight + Self.rowGap
        let names = alone.map { $0.count * row * (Self.margin + ($0.map { spots[$0].width }.max() ?? 0)) } ?? 0
        let area = frames.reduce(names) { $0 + ($1.width + Self.frameGap) * ($1.height + Self.frameGap) }
        let least = frames.map(\.width).max() ?? 0
        var best: (score: Int, layout: OverviewLayout)?
        for factor in stride(from: 0.8, through: 2.4, by: 0.2) {
            var layout = self
            let width = max(least, Int(Double(area).squareRoot() * factor)) + Self.frameGap
            if let alone { layout.addGrid(alone, title: title, width: width) }
            let size = layout.place(in: width)
            let score = max(size.width * 2 / 3, size.height)
            if score < best?.score ?? .max { best = (score, layout) }
        }
        if let best { self = best.layout }
    }

    private mutating func addGrid(_ places: Range<Int>, title: String, width: Int) {
        let widest = places.map { spots[$0].width }.max() ?? 0
        let fitting = max(1, (width - 2 * Self.margin) / (widest + Self.margin))
        let rows = (places.count + fitting - 1) / fitting
        for place in places { spots[place].width = widest }
        let columns = stride(from: places.lowerBound, to: places.upperBound, by: rows).map {
            Array($0..<min($0 + rows, places.upperBound))
        }
        add(columns, title: title, gap: Self.margin)
    }

    /// Places each frame as high as it fits, then as far to the left, and moves its boxes with it.
    private mutating func place(in width: Int) -> (width: Int, height: Int) {
        // The lower ends of what is placed: a height from each x to the next.
        var skyline: [(start: Int, end: Int, height: Int)] = [(0, .max, 0)]
        var (right, bottom) = (0, 0)
        for number in frames.indices {
            let (wide, high) = (frames[number].width + Self.frameGap, frames[number].height + Self.frameGap)
            var spot = (y: Int.max, x: 0)
            for (start, _, _) in skyline where start == 0 || start + wide <= width + Self.frameGap {
                let y = skyline.filter { $0.start < start + wide && $0.end > start }.map(\.height).max() ?? 0
                if (y, start) < spot { spot = (y, start) }
            }
            let end = spot.x + wide
            skyline =
                skyline.filter { $0.start < spot.x }.map { ($0.start, min($0.end, spot.x), $0.height) }
                + [(spot.x, end, spot.y + high)]
                + skyline.filter { $0.end > end }.map { (max($0.start, end), $0.end, $0.height) }
            (frames[number].x, frames[number].y) = (spot.x, spot.y)
            for place in members[number] {
                spots[place].x += spot.x
                spots[place].y += spot.y
            }
            (right, bottom) = (max(right, end), max(bottom, spot.y + high))
        }
        return (right, bottom)
    }

    /// Returns the curve of a link, as Graphviz has it: from the nearer side of one box to that of the other, or on
    /// the right of two boxes above each other.
    func curve(from: Int, to: Int, hasHead: Bool) -> String {
        let (one, other) = (spots[from], spots[to])
        let (start, end): (Int, Int)
        let turn: Int
        if one.x + one.width <= other.x {
            (start, end) = (one.x + one.width, other.x)
            turn = (start + end) / 2
        } else if other.x + other.width <= one.x {
            (start, end) = (one.x, other.x + other.width)
            turn = (start + end) / 2
        } else {
            (start, end) = (one.x + one.width, other.x + other.width)
            turn = max(start, end) + Self.columnGap / 2
        }
        let (above, below) = (one.y + one.height / 2, other.y + other.height / 2)
        let head = hasHead ? "e,\(end),\(-below) " : ""
        let tip = hasHead ? end + (turn < end ? -8 : 8) : end
        return "\(head)\(start),\(-above) \(turn),\(-above) \(turn),\(-below) \(tip),\(-below)"
    }
}

extension String {
    /// The width of the text in points, about, at the size of an overview in a wide font.
    fileprivate var estimatedWidth: Int {
        unicodeScalars.reduce(0) { $0 + ($1.value > 0x2E80 ? 11 : $1.properties.isUppercase ? 8 : 6) }
    }
}

extension Diagram.Box {
    fileprivate var estimatedWidth: Int { (mark.sign + title).estimatedWidth + 18 }
}
