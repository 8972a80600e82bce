import MoultModel
import MoultSystem

extension FleetManifest {
    /// Writes a manifest, store by store, as they are found.
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

        /// Writes a store of which number and shard are not known yet.
        mutating func add(_ entry: FleetEntry) throws {
            var entry = entry
            entry.number = count + 1
            // As it is read back, so that a plan of two calls has the sums of one.
            entry.estimate = (entry.estimate * 1000).rounded() / 1000
            entry.shard = shares.take(entry.estimate)
            try line(entry.json)
            note(entry)
        }

        /// Continues after a line of an earlier plan, which is written already.
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

        /// Writes the groups and the end.
        ///
        /// - Parameter complete: says what happens to the stores of a group.
        /// - Returns: the digest.
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

/// The amount of work that each shard has got so far: the next store goes to the one with the least.
struct ShardShares {
    /// A heap: each has no more work than the two below it.
    private var heap: [(seconds: Double, shard: Int)]
    private var places: [Int]

    init(_ count: Int) {
        heap = (0..<count).map { (0, $0) }
        places = Array(0..<count)
    }

    /// - Returns: the shard that gets it.
    mutating func take(_ seconds: Double) -> Int {
        let shard = heap[0].shard
        take(seconds, for: shard)
        return shard
    }

    mutating func take(_ seconds: Double, for shard: Int) {
        var place = places[shard]
        // No store is without work, so that small ones spread too.
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
