import Moult
import MoultBasics
import MoultCare
import MoultModel
import MoultStore

/// One screen about a store: its version, its entities, the plan of its migration, what is wrong, and what to do next.
///
/// It is made of the answers that each have a call of their own, and changes nothing.
package struct StoreOverview: ToolAnswer {
    /// A suggested next command, and its purpose.
    package struct Step: Sendable {
        package let command: Remedy
        package let purpose: String
    }

    private let store: String
    private let model: String?
    /// Whether there are versions to compare the store with.
    private let isCompared: Bool
    /// Nil if the store cannot be read.
    private let status: StoreStatus?
    private let inspection: StoreInspection?
    private let sizes: StoreSizes
    private let plan: StorePlan?
    private let planError: MigrationError?
    private let diagnosis: StoreDiagnosis
    /// Whether every page and row was read.
    private let isWhole: Bool
    /// The suggested next commands.
    package let next: [Step]

    /// A store of up to this many bytes is read whole, which takes about a second.
    private static let wholeBytes: Int64 = 16 << 20

    /// - Parameters:
    ///   - context: the versions of a model with the settings of a migration; nil to use the model inside the store.
    ///   - model: the path of the model.
    ///   - target: the version that the store should have; nil for the current one.
    /// - Throws: what examining a file that is not a store throws.
    package init(
        of store: String, _ context: StoreSession.Context?, ofModelAt model: String?, to target: String?,
        options: RunOptions
    ) throws {
        let system = POSIXSystem()
        (self.store, self.model, isCompared) = (store, model, context != nil)
        var read: (status: StoreStatus, inspection: StoreInspection)?
        let own = context == nil ? try? ModelVersion(ownOfStore: store) : nil
        do {
            let inspection = try StoreInspection(of: store, in: context?.versions ?? ModelVersions(versions: []))
            let versions = context?.versions ?? ModelVersions(versions: own.map { [$0] } ?? [], currentName: own?.name)
            read = (try StoreKeeper(store, options) { versions }.status(aimingAt: target), inspection)
        } catch let error as MigrationError where error.code == .storeCorrupted {
            // The diagnosis below says what is damaged.
        }
        (status, inspection) = (read?.status, read?.inspection)
        let bytes = try system.status(of: store)?.size ?? 0
        isWhole = bytes <= Self.wholeBytes
        sizes = StoreSizes(of: store, bytes: bytes, in: context?.versions, on: system)
        var plan: StorePlan?
        var planError: MigrationError?
        if let context, read?.status.state == .behind {
            do {
                plan = try StoreSession(StoreRequest(store, to: target, .plan, options), context).plan()
            } catch { planError = MigrationError(any: error) }
        }
        (self.plan, self.planError) = (plan, planError)
        diagnosis = StoreDiagnosis(store, context, to: target, options: options, readingAll: isWhole)
        next = Self.steps(
            of: store, read?.status, plan, planError, isWell: diagnosis.isWell,
            hasModel: context != nil || own != nil)
    }

    /// The state of the store; nil if it cannot be read.
    package var state: StoreStatus.State? { status?.state }
    /// Whether nothing that was examined is wrong.
    package var isWell: Bool { diagnosis.isWell }

    private static func steps(
        of store: String, _ status: StoreStatus?, _ plan: StorePlan?, _ planError: MigrationError?, isWell: Bool,
        hasModel: Bool
    ) -> [Step] {
        let diagnose = Step(command: "\(.diagnose)", purpose: "what is wrong, and which command helps")
        let inspect = Step(command: "\(.inspect)", purpose: "entities, metadata and history")
        let listing = Step(command: "\(.listBackups)", purpose: "the backups")
        let planning = Step(command: "\(.plan)", purpose: "what is done to each table")
        let rehearsal = Step(command: "\(.migrate, .dryRun)", purpose: "on a copy, verified")
        let export = Step(command: "\(.export, .file(freeName(for: store)))", purpose: "its objects as CSV")
        guard let status else {
            let salvage = Step(command: "\(.salvage)", purpose: "what can still be read, as a new store")
            return [diagnose] + (StoreSalvage.hasPage(store, POSIXSystem()) ? [salvage] : []) + [listing]
        }
        if status.pendingWork.contains("liveRun") {
            return [Step(command: "\(.log)", purpose: "what the run does"), inspect, listing]
        }
        if status.pendingWork.contains("unfinishedRun") {
            let resume = Step(command: status.finishing ?? "\(.recover)", purpose: "end the run that died")
            let undo = Step(command: "\(.makeBackup)", purpose: "undo what was not committed, and begin nothing")
            return [resume, undo, Step(command: "\(.log)", purpose: "what the run did"), diagnose]
        }
        if status.pendingWork.contains("pausedMigration"), let next = status.finishing {
            return [Step(command: next, purpose: "continue the migration"), planning, diagnose]
        }
        if status.pendingWork.contains("deferredMigration") {
            return [Step(command: "\(.finish)", purpose: "do the deferred work"), inspect, diagnose]
        }
        switch status.state {
        case .behind:
            if let planError {
                let answer = Step(command: "\(.answer)", purpose: "the open questions")
                return planError.code == .question ? [answer, diagnose, inspect] : [planning, diagnose, inspect]
            }
            guard let refusal = plan?.refusal else {
                return [planning, rehearsal, Step(command: "\(.migrate)", purpose: "do it: backed up first")]
            }
            let accepting = Step(
                command: "\(.migrate, .acceptLosses)", purpose: "do it, and lose what the plan counts")
            return refusal.code == .lossNotAccepted ? [planning, rehearsal, accepting] : [diagnose, planning, inspect]
        case .ahead, .unknown, .notCoreData: return [inspect, diagnose, export]
        case .current where isWell && hasModel:
            return [
                inspect, export, Step(command: "\(.validate)", purpose: "whether every row obeys the model"),
            ]
        case .current: return [diagnose, inspect, listing]
        }
    }

    /// Returns a name for a folder next to which nothing of that name is.
    private static func freeName(for store: String) -> String {
        let stem = Path.stem(of: store) + "-csv"
        let names = [stem] + (2...9).map { "\(stem)-\($0)" }
        return names.first { !((try? POSIXSystem().exists($0)) ?? false) } ?? stem
    }
}

// MARK: - The answer

extension StoreOverview {
    package var document: JSONValue {
        [
            "format": 1, "store": .string(store), "model": JSONValue(model), "bytes": .integer(sizes.bytes),
            "externalBytes": .integer(sizes.externalBytes), "externalFiles": JSONValue(sizes.externalFiles),
            "status": status?.document ?? .null,
            "entities": .array(
                rows.map { name, rows in
                    [
                        "name": .string(name), "rows": rows.map(JSONValue.integer) ?? .null,
                        "bytes": sizes.ofEntities[name].map(JSONValue.integer) ?? .null,
                    ]
                }),
            "plan": plan?.document ?? .null, "planError": planError?.document["error"] ?? .null,
            "well": .bool(isWell), "readsEverything": .bool(isWhole),
            "findings": .array(diagnosis.findings.map(\.document)),
            "next": JSONValue(next.map { $0.command.text() }),
        ]
    }

    /// The entities with their objects, by name.
    private var rows: [(name: String, rows: Int64?)] { inspection?.entityCounts ?? [] }

    package func lines(style: TextStyle) -> [String] {
        var lines = [style.bold(Path.name(of: store).printable) + "  " + sizes.sentence]
        if let status { lines += status.lines(style: style) }
        let own =
            isCompared
            ? "that of this program"
            : state == .unknown
                ? "none"
                : String(
                    advice: """
                        the one inside the store; whether there is a newer one is not known: name a model with \
                        \(option: .model(nil))
                        """)
        lines.append(style.dim("model: ") + (model.map(\.printable) ?? own))
        if !rows.isEmpty { lines += [""] + table(style) }
        if let plan, !plan.isEmpty { lines += [""] + plan.summary(changes: 8, style: style) }
        lines += [""] + wrong(style)
        return lines + ["", style.bold("Next:")] + commands(style)
    }

    /// Returns the largest entities, one screen of them.
    private func table(_ style: TextStyle) -> [String] {
        let limit = 12
        let sorted = rows.sorted { ($1.rows ?? 0, $0.name) < ($0.rows ?? 0, $1.name) }
        var table = TextTable([.left("entity"), .right("rows"), .right("size")])
        for (name, rows) in sorted.prefix(limit) {
            table.add(
                name, rows.map { Quantity.count($0) } ?? "?", sizes.ofEntities[name].map { Quantity.bytes($0) } ?? "")
        }
        let more = sorted.count - limit
        guard more > 0 else { return table.lines(style: style) }
        let smaller = Quantity.count(more, "smaller entity", plural: "smaller entities")
        return table.lines(style: style) + ["… and \(smaller)"]
    }

    /// Returns what is wrong; notes about what is shown elsewhere are left out.
    private func wrong(_ style: TextStyle) -> [String] {
        let told: Set = ["no-model", "behind", "can-migrate", "no-backup", "objects-without-owner"]
        let shown = status?.findings ?? []
        let notable = diagnosis.findings.filter { finding in
            finding.severity > .note ? !shown.contains(finding) : !told.contains(finding.code)
        }
        let limit = 6
        var lines = notable.prefix(limit).flatMap { $0.lines(style: style) }
        if notable.count > limit { lines.append("… and \(Quantity.count(notable.count - limit, "more finding")).") }
        if isWell, !notable.contains(where: { $0.severity > .note }) {
            lines.append(style.green(isWhole ? "Nothing is wrong with this store." : "Nothing is wrong so far."))
        }
        if !isWhole { lines.append(String(advice: "Its pages and rows were not read: \(.diagnose) reads them.")) }
        return lines
    }

    private func commands(_ style: TextStyle) -> [String] {
        let commands = next.map { (text: "  " + $0.command.text(), purpose: "# " + $0.purpose) }
        let width = commands.map(\.text.columns).max() ?? 0
        return commands.map { text, purpose in
            let gap = String(repeating: " ", count: width - text.columns + 2)
            let isRoom = style.width.map { width + 2 + purpose.columns <= $0 } ?? true
            return isRoom ? text + gap + style.dim(purpose) : text
        }
    }
}

/// The sizes of a store and its parts in bytes.
private struct StoreSizes: Sendable {
    let bytes: Int64
    private(set) var externalFiles = 0
    private(set) var externalBytes: Int64 = 0
    /// The size of an entity's table with its indexes. A table of several entities counts for the topmost one.
    private(set) var ofEntities: [String: Int64] = [:]

    /// The tables of a file of up to this size are measured, which reads all of its pages.
    private static let measuredBytes: Int64 = 1 << 30

    init(of store: String, bytes: Int64, in versions: ModelVersions?, on system: POSIXSystem) {
        self.bytes = bytes
        let resolved = (try? system.resolve(store)) ?? store
        let files = (try? ExternalStorage(store: resolved).files(on: system)) ?? [:]
        (externalFiles, externalBytes) = (files.count, files.values.reduce(0, +))
        guard bytes <= Self.measuredBytes else { return }
        ofEntities = (try? Self.ofEntities(store, versions)) ?? [:]
    }

    /// - Throws: the error of a SQLite that cannot measure tables.
    private static func ofEntities(_ store: String, _ versions: ModelVersions?) throws -> [String: Int64] {
        try ReadOnlyStore.read(store) { probe in
            let contents = try (try? StoreContents(probe, in: versions)) ?? StoreContents(probe, in: nil)
            var tables: [String: Int64] = [:]
            let query = try probe.connection.query(
                """
                SELECT m.tbl_name, sum(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name \
                WHERE s.aggregate = TRUE GROUP BY 1
                """)
            while try query.step() { tables[query.text(0) ?? ""] = query.integer(1) }
            let first = Dictionary(grouping: contents.entities, by: \.table).compactMapValues { entities in
                entities.min { ($0.numbers.first ?? 0) < ($1.numbers.first ?? 0) }?.name
            }
            let sizes = first.compactMap { table, name in tables[table].map { (name, $0) } }
            return Dictionary(sizes) { one, _ in one }
        }
    }

    var sentence: String {
        let files = Quantity.count(externalFiles, "file")
        return Quantity.bytes(bytes)
            + (externalFiles == 0 ? "" : ", and \(Quantity.bytes(externalBytes)) in \(files) of external data")
    }
}
