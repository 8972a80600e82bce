import MoultModel
import MoultStore
import MoultSystem

extension MigrationCheckpoint {
    var json: JSONValue {
        let seconds = timings.map { ($0.phase.rawValue, JSONValue.double($0.seconds)) }
        return .object([
            .init("format", 1), .init("run", .string(run)), .init("from", .string(from)), .init("to", .string(to)),
            .init("startedAt", .string(startedAt.iso8601WithMilliseconds)), .init("script", .string(script)),
            .init("boot", .string(boot)), .init("store", store),
            .init("rowCounts", JSONValue(sorted: rowFacts.rowCounts.mapValues(JSONValue.integer))),
            .init("disjoint", .array(rowFacts.disjoint.map { .array($0.map { JSONValue($0) }) })),
            .init("losses", .array(rowFacts.losses.map(\.document))),
            .init("calls", JSONValue(calls)), .init("fraction", .double(fraction)),
            .init("draft", draft?.json ?? .null), .init("backupIsSound", .bool(backupIsSound)),
            .init("proof", proof?.json ?? .null),
            .init("backup", JSONValue(backup)), .init("hasCopy", .bool(hasCopy)), .init("isChanged", .bool(isChanged)),
            .init("verified", JSONValue(verified)), .init("pagesAreSound", .bool(pagesAreSound)),
            .init("slowness", .double(slowness)),
            .init("endSeconds", .double(endSeconds)),
            .init("seconds", JSONValue(sorted: Dictionary(seconds, uniquingKeysWith: { first, _ in first }))),
        ])
    }

    init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let run = json["run"]?.string, let from = json["from"]?.string,
            let to = json["to"]?.string, let startedAt = json["startedAt"]?.string.flatMap(Timestamp.init(iso8601:)),
            let script = json["script"]?.string, let boot = json["boot"]?.string, let store = json["store"],
            let calls = json["calls"]?.integer, let fraction = json["fraction"]?.double,
            let verified = json["verified"]?.integer, let slowness = json["slowness"]?.double, slowness.isFinite,
            slowness > 0, let endSeconds = json["endSeconds"]?.double
        else { return nil }
        (self.run, self.from, self.to, self.startedAt) = (run, from, to, startedAt)
        (self.script, self.boot, self.store) = (script, boot, store)
        let disjoint = (json["disjoint"]?.array ?? []).map { pair in
            (pair.array ?? []).compactMap { $0.integer.map { Int(clamping: $0) } }
        }
        rowFacts = BoundPlan.RowFacts(
            rowCounts: json["rowCounts"].counts, disjoint: Set(disjoint),
            losses: MigrationLoss.list(json["losses"]))
        self.calls = Int(clamping: calls)
        self.fraction = min(max(fraction, 0), 1)
        draft = json["draft"].flatMap(CopiedPages.init)
        backupIsSound = json["backupIsSound"]?.bool == true
        proof = json["proof"].flatMap(BackupFolder.Proof.init)
        backup = json["backup"]?.string.flatMap { $0.isPlainFileName ? $0 : nil }
        hasCopy = json["hasCopy"]?.bool == true
        isChanged = json["isChanged"]?.bool == true
        self.verified = Int(clamping: max(verified, 0))
        pagesAreSound = json["pagesAreSound"]?.bool == true
        self.slowness = slowness
        self.endSeconds = endSeconds
        timings = MigrationProgress.Phase.allCases.compactMap { phase in
            json["seconds"]?[phase.rawValue]?.double.map { .init(phase: phase, seconds: $0) }
        }
    }
}

extension MigrationCheckpoint.CopiedPages {
    fileprivate var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("createdAt", .string(createdAt.iso8601WithMilliseconds)),
            .init("rows", JSONValue(sorted: rows.mapValues(JSONValue.integer))),
        ])
    }

    /// The name is one that a draft can have, for its folder may have to be removed.
    fileprivate init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, name.isPlainFileName, name.hasPrefix("."),
            name.hasSuffix(BackupFolder.draftSuffix),
            let createdAt = json["createdAt"]?.string.flatMap(Timestamp.init(iso8601:))
        else { return nil }
        self.init(name: name, createdAt: createdAt, rows: json["rows"].counts)
    }
}

extension BackupFolder.Proof {
    fileprivate var json: JSONValue {
        .object([.init("size", .integer(size)), .init("sha256", .string(sha256))])
    }

    fileprivate init?(_ json: JSONValue) {
        guard let size = json["size"]?.integer, let sha256 = json["sha256"]?.string else { return nil }
        self.init(size: size, sha256: sha256)
    }
}

extension JSONValue? {
    /// Numbers by name.
    fileprivate var counts: [String: Int64] {
        let members = (self?.members ?? []).compactMap { member in member.value.integer.map { (member.key, $0) } }
        return Dictionary(members, uniquingKeysWith: { first, _ in first })
    }
}
