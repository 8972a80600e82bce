import MoultBasics

extension FleetManifest {
    /// Reads a manifest line by line, and checks its digest.
    ///
    /// - Parameter body: takes each store, with the number of an earlier entry for the same file, if there is one. The
    ///   entries are valid only if this function returns.
    /// - Throws: `metadataInvalid` for a manifest that was edited or truncated.
    package init(contentsOf path: String, _ body: (_ entry: FleetEntry, _ earlier: Int?) throws -> Void) throws {
        var seen: [FileIdentity: Int] = [:]
        var reading = Reading(place: path)
        try FleetManifest.forEachLine(of: path) { line in
            if let entry = try reading.take(line) {
                let earlier = seen[entry.identity]
                if earlier == nil { seen[entry.identity] = entry.number }
                try body(entry, earlier)
            }
        }
        self = try reading.end()
    }

    /// Calls `body` for each line of a file, without its line feed, including a non-empty last line without one.
    static func forEachLine(of path: String, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard try POSIXSystem().status(of: path) != nil else { throw MigrationError.system("read", path, error: 2) }
        var rest: [UInt8] = []
        try POSIXSystem().readPieces(of: path) { piece in
            rest += piece
            var start = rest.startIndex
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                try body(rest[start..<end])
                start = end + 1
            }
            rest.removeFirst(start - rest.startIndex)
            guard rest.count < longestLine else { throw invalid("A line of the manifest has no end.", path) }
        }
        if !rest.isEmpty { try body(rest[...]) }
    }

    private static let longestLine = 16 << 20
}

/// The state of reading a manifest: the lines so far, and their digest.
private struct Reading: ~Copyable {
    let place: String
    private var hash = SHA256Stream()
    private var manifest: FleetManifest?
    private var (line, stores) = (0, 0)
    private var isAtEnd = false

    init(place: String) { self.place = place }

    /// - Returns: the store on the line; nil for any other line.
    mutating func take(_ bytes: ArraySlice<UInt8>) throws -> FleetEntry? {
        line += 1
        guard !isAtEnd else { throw FleetManifest.invalid("Line \(line) of the manifest is after its end.", place) }
        let json = try JSONValue(parsing: Array(bytes), place: "\(place):\(line)", code: .metadataInvalid)
        guard let header = manifest else {
            manifest = try FleetManifest(header: json, place: place)
            hash.add(bytes)
            return nil
        }
        if let end = json["end"] {
            try check(end)
            return nil
        }
        hash.add(bytes)
        if let group = FleetGroup(json) {
            manifest?.groups.append(group)
            return nil
        }
        guard let entry = FleetEntry(json), entry.shard < header.shards else {
            throw FleetManifest.invalid("Line \(line) of the manifest is none of a store.", place)
        }
        stores += 1
        return entry
    }

    private mutating func check(_ end: JSONValue) throws {
        let digest = hash.finish().hexadecimal
        isAtEnd = true
        guard end["sha256"]?.string == digest, end["stores"]?.integer == Int64(stores) else {
            throw FleetManifest.invalid("The manifest was edited: its lines are not those that were planned.", place)
        }
        manifest?.digest = digest
        manifest?.stores = stores
    }

    consuming func end() throws -> FleetManifest {
        guard let manifest else { throw FleetManifest.invalid("The manifest is empty.", place) }
        guard isAtEnd else { throw FleetManifest.invalid("The manifest is cut off after line \(line).", place) }
        return manifest
    }
}

extension SHA256Stream {
    /// Adds a line and its line feed.
    mutating func add(_ line: ArraySlice<UInt8>) {
        line.withUnsafeBytes { update($0) }
        [UInt8(ascii: "\n")].withUnsafeBytes { update($0) }
    }
}

// MARK: - An unfinished plan

extension FleetManifest {
    /// Reads the header of an unfinished manifest, and cuts off a torn last line; nil if there is none to continue.
    package init?(beginningOf path: String) throws {
        let system = POSIXSystem()
        guard let status = try system.status(of: path), status.size > 0 else { return nil }
        var (end, place): (Int64, Int64) = (0, 0)
        var first: [UInt8] = []
        try system.readPieces(of: path) { piece in
            if end == 0 { first += piece }
            if let last = piece.lastIndex(of: UInt8(ascii: "\n")) { end = place + Int64(last) + 1 }
            place += Int64(piece.count)
        }
        guard end > 0, let line = first.split(separator: UInt8(ascii: "\n")).first,
            let json = try? JSONValue(parsing: Array(line), place: path, code: .metadataInvalid),
            let header = try? FleetManifest(header: json, place: path)
        else { return nil }
        // An almost complete manifest already has groups. It is planned again from the start.
        let tail = try system.bytes(of: path, from: max(0, end - 1 << 20), count: min(end, 1 << 20) - 1)
        let last = tail.split(separator: UInt8(ascii: "\n")).last ?? []
        guard last.count == line.count || last.starts(with: Array("{\"n\":".utf8)) else { return nil }
        try system.setSize(end, of: path)
        self = header
    }

    /// Reads the header alone, without checking the rest.
    package init(reading path: String) throws {
        let bytes = try POSIXSystem().bytes(of: path, from: 0, count: 1 << 20)
        guard let line = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first else {
            throw Self.invalid("The manifest is empty.", path)
        }
        try self.init(header: JSONValue(parsing: Array(line), place: "\(path):1", code: .metadataInvalid), place: path)
    }

    /// Whether both plans have the same roots, options, model, target and number of shards.
    package func isSame(as other: FleetManifest) -> Bool {
        (roots, options, versions) == (other.roots, other.options, other.versions)
            && (modelDigest, target, shards) == (other.modelDigest, other.target, other.shards)
    }

    /// A writer of a manifest, which adds each store as soon as it is found.
    struct Writer: ~Copyable {
        private let print: ([UInt8]) throws -> Void
        private var hash = SHA256Stream()
        private(set) var count = 0
        private(set) var groups: [FleetGroup] = []
        private var shares: ShardShares

        /// - Parameter print: takes each line, with its end.
        init(_ manifest: FleetManifest, print: @escaping ([UInt8]) throws -> Void) throws {
            self.print = print
            shares = ShardShares(manifest.shards)
            try line(manifest.header)
        }

        /// Writes a store, and assigns its number and shard.
        mutating func add(_ entry: FleetEntry) throws {
            var entry = entry
            entry.number = count + 1
            // Round as the file does, so that an interrupted plan gives the same sums as an uninterrupted one.
            entry.estimate = (entry.estimate * 1000).rounded() / 1000
            entry.shard = shares.take(entry.estimate)
            try line(entry.json)
            note(entry)
        }

        /// Counts a store whose line an earlier call has already written.
        mutating func skip(_ entry: FleetEntry, _ bytes: ArraySlice<UInt8>) {
            hash.add(bytes)
            shares.take(entry.estimate, for: entry.shard)
            note(entry)
        }

        private mutating func note(_ entry: FleetEntry) {
            count += 1
            let known = groups.firstIndex { $0.state == entry.state && $0.version == entry.version }
            if known == nil { groups.append(FleetGroup(state: entry.state, version: entry.version)) }
            let place = known ?? groups.count - 1
            groups[place].stores += 1
            groups[place].bytes &+= entry.size
            groups[place].rows &+= entry.rows
            groups[place].estimate += entry.estimate
        }

        private mutating func line(_ json: JSONValue) throws {
            let bytes = Array((json.compact + "\n").utf8)
            bytes.withUnsafeBytes { hash.update($0) }
            try print(bytes)
        }

        /// Writes the groups and the end of the manifest.
        ///
        /// - Parameter complete: adds the changes to the stores of a group.
        /// - Returns: the groups.
        mutating func end(_ complete: (inout FleetGroup) throws -> Void) throws -> [FleetGroup] {
            groups.sort { ($0.state.rawValue, $0.version) < ($1.state.rawValue, $1.version) }
            for place in groups.indices {
                try complete(&groups[place])
                try line(groups[place].json)
            }
            let digest = hash.finish().hexadecimal
            let end: JSONValue = ["end": ["stores": JSONValue(count), "sha256": .string(digest)]]
            try print(Array((end.compact + "\n").utf8))
            return groups
        }
    }
}

/// The amount of work in each shard so far. The next store goes to the shard with the least.
struct ShardShares {
    /// A heap, in which no shard has more work than its two children.
    private var heap: [(seconds: Double, shard: Int)]
    private var places: [Int]

    init(_ count: Int) {
        heap = (0..<count).map { (0, $0) }
        places = Array(0..<count)
    }

    /// - Returns: the shard that gets the work.
    mutating func take(_ seconds: Double) -> Int {
        let shard = heap[0].shard
        take(seconds, for: shard)
        return shard
    }

    mutating func take(_ seconds: Double, for shard: Int) {
        var place = places[shard]
        // Every store counts as some work, so that small ones spread too.
        heap[place].seconds += max(seconds, 1e-3)
        while true {
            let below = [2 * place + 1, 2 * place + 2].filter { $0 < heap.count }
            guard let least = below.min(by: { isLess($0, $1) }), isLess(least, place) else { return }
            heap.swapAt(least, place)
            places[heap[place].shard] = place
            places[heap[least].shard] = least
            place = least
        }
    }

    private func isLess(_ left: Int, _ right: Int) -> Bool {
        (heap[left].seconds, heap[left].shard) < (heap[right].seconds, heap[right].shard)
    }
}
