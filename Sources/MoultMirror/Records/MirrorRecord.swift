import MoultEngine
import MoultModel
import MoultSystem

/// The record of a mirror in the sidecar of the mirrored store, `mirror.json`: which stores, which mapping, and which
/// of the two is written to by apps.
///
/// It does not hold the progress of the mirror: the store that follows keeps that itself (``MirrorMark``).
package struct MirrorRecord: Sendable, Equatable {
    package enum State: String, Sendable {
        /// The second store is being made; whoever finds this has found a start that died.
        case starting
        /// Apps write to the first store, and the second follows.
        case mirroring
        /// Apps write to the second store, and the first follows where there is a mapping back.
        case cutOver
    }

    /// The same in the mark of the store that follows.
    package var identifier: String
    package var state: State
    /// The resolved path of the second store.
    package var second: String
    /// `NSStoreUUID`, which both have.
    package var uuid: String
    package var from: String
    package var to: String
    /// The digest of the plan, in hexadecimal.
    package var plan: String
    package var startedAt: String
    /// Whether the store that follows has still to be compared as a whole, whatever was written since.
    package var comparesAll = false
    /// Whether nothing that was written since the cut-over can be undone.
    package var isOneWay = false
    /// The changes that cannot be undone after the cut-over, in sentences.
    package var losses: [String] = []
    /// The caller's input for finding the model and the mapping, for the next call.
    package var input: [String: String] = [:]
    /// The configuration that the stores hold; nil where they hold all entities.
    package var configuration: String?
}

extension MirrorRecord {
    var part: StorePart { configuration.map(StorePart.configuration) ?? .whole }
}

// MARK: - On the disk

extension MirrorRecord {
    /// - Returns: nil if the store has no mirror.
    /// - Throws: `metadataInvalid` if the record cannot be read.
    package static func read(_ sidecar: Sidecar, _ system: any System) throws -> MirrorRecord? {
        guard try system.exists(sidecar.mirror) else { return nil }
        let json = try JSONValue(
            parsing: system.read(sidecar.mirror, as: .metadataInvalid), place: sidecar.mirror, code: .metadataInvalid)
        guard let record = MirrorRecord(json) else {
            throw MigrationError(
                .metadataInvalid, "The format of the mirror's record is not known to this version of Moult.",
                place: sidecar.mirror, remedy: "Use the version of Moult that wrote it.")
        }
        return record
    }

    func write(_ sidecar: Sidecar, _ system: any System) throws {
        try system.writeAtomically(Array((json.indented + "\n").utf8), to: sidecar.mirror, sidecar.rights)
    }

    static func remove(_ sidecar: Sidecar, _ system: any System) throws {
        try system.remove(sidecar.mirrorSeen)
        if try system.remove(sidecar.mirror) { try system.synchronise(sidecar.folder) }
    }

    private var json: JSONValue {
        .object([
            .init("format", .integer(1)), .init("mirror", .string(identifier)), .init("state", .string(state.rawValue)),
            .init("second", .string(second)), .init("uuid", .string(uuid)), .init("from", .string(from)),
            .init("to", .string(to)), .init("plan", .string(plan)), .init("startedAt", .string(startedAt)),
            .init("comparesAll", .bool(comparesAll)), .init("isOneWay", .bool(isOneWay)),
            .init("losses", .array(losses.map(JSONValue.string))), .init("configuration", JSONValue(configuration)),
            .init(
                "input",
                .object(input.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })),
        ])
    }

    private init?(_ json: JSONValue) {
        guard json["format"]?.integer == 1, let identifier = json["mirror"]?.string,
            let state = json["state"]?.string.flatMap(State.init), let second = json["second"]?.string,
            let uuid = json["uuid"]?.string, let from = json["from"]?.string, let to = json["to"]?.string,
            let plan = json["plan"]?.string, let startedAt = json["startedAt"]?.string,
            case .object(let members)? = json["input"]
        else { return nil }
        self.init(
            identifier: identifier, state: state, second: second, uuid: uuid, from: from, to: to, plan: plan,
            startedAt: startedAt, comparesAll: json["comparesAll"] == .bool(true),
            isOneWay: json["isOneWay"] == .bool(true), losses: json["losses"]?.array?.compactMap(\.string) ?? [],
            input: Dictionary(
                members.compactMap { member in member.value.string.map { (member.key, $0) } },
                uniquingKeysWith: { first, _ in first }), configuration: json["configuration"]?.string)
    }
}
