import MoultModel
import MoultSystem

extension FleetManifest {
    /// Reads a manifest line by line, and checks its digest.
    ///
    /// - Parameter body: gets each store, with the number of an earlier one that is the same file, if there is one. What
    ///   it has kept counts only if this function returns.
    /// - Throws: `metadataInvalid` for a manifest that was edited or cut off, with what to do.
    package init(
        contentsOf path: String, _ body: (_ entry: FleetEntry, _ earlier: Int?) throws -> Void
    ) throws {
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

    /// Hands over the lines of a file without their ends. What follows the last line's end is handed over too, if it is
    /// not empty.
    static func forEachLine(of path: String, _ body: (ArraySlice<UInt8>) throws -> Void) throws {
        guard try POSIXSystem().status(of: path) != nil else {
            throw MigrationError.system("read", path, error: 2)
        }
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

/// A manifest while it is read: what came before its end, and the digest of that.
private struct Reading: ~Copyable {
    let place: String
    private var hash = SHA256Stream()
    private var manifest: FleetManifest?
    private var (line, stores) = (0, 0)
    private var isAtEnd = false

    init(place: String) { self.place = place }

    /// - Returns: the store of the line; nil for every other line.
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
    /// Adds a line and its end.
    mutating func add(_ line: ArraySlice<UInt8>) {
        line.withUnsafeBytes { update($0) }
        [UInt8(ascii: "\n")].withUnsafeBytes { update($0) }
    }
}

// MARK: - A plan that was stopped

extension FleetManifest {
    /// The header of a manifest that was begun, whose torn last line is cut off; nil if there is none.
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
        // One that was almost complete has groups, and begins again.
        let tail = try system.bytes(of: path, from: max(0, end - 1 << 20), count: min(end, 1 << 20) - 1)
        let last = tail.split(separator: UInt8(ascii: "\n")).last ?? []
        guard last.count == line.count || last.starts(with: Array("{\"n\":".utf8)) else { return nil }
        try system.setSize(end, of: path)
        self = header
    }

    /// The header alone, without a look at the rest.
    package init(reading path: String) throws {
        let bytes = try POSIXSystem().bytes(of: path, from: 0, count: 1 << 20)
        guard let line = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first else {
            throw Self.invalid("The manifest is empty.", path)
        }
        try self.init(
            header: JSONValue(parsing: Array(line), place: "\(path):1", code: .metadataInvalid), place: path)
    }

    /// Whether both say the same of where the stores are and where they go.
    package func isSame(as other: FleetManifest) -> Bool {
        (roots, options, versions) == (other.roots, other.options, other.versions)
            && (modelDigest, target, shards) == (other.modelDigest, other.target, other.shards)
    }
}
