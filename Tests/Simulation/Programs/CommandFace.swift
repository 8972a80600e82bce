import Foundation
import MoultBasics
import MoultCommands
import MoultEngine
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultTools

/// The command line's face: a process gets words, prints a document, and ends with an exit code. It reads the models of
/// the life from files.
struct CommandFace: StoreFace {
    unowned let run: LifeRun
    /// A folder that is not on the simulated disk.
    private let folder: String
    let models: [String]

    /// - Parameter folder: a folder that does not exist yet.
    init(_ run: LifeRun, in folder: String) throws {
        self.run = run
        self.folder = folder
        let (system, versions) = (POSIXSystem(), run.history.versions.versions)
        try system.makeFolder(folder)
        // The form of a composite attribute in Xcode's sources is not certain.
        let attributes = run.history.models.flatMap(\.entities).flatMap(\.attributes)
        let isSource = run.life.seed % 2 == 0 && attributes.allSatisfy { $0.description.compositePath == nil }
        let path = "\(folder)/\(isSource ? "Life.xcdatamodeld" : "Life")"
        var files: [(path: String, text: String)] = versions.map { ("\($0.name).json", $0.model.json.compact) }
        if isSource {
            files = try SourceFiles(
                bundle: versions.map { ($0.name, $0.model) }, currentName: versions.last?.name,
                defaults: SourceFiles.documentDefaults
            ).files
        }
        try StagedPath.replace(
            files.map { ("\(path)/\($0.path)", Array($0.text.utf8)) }, makingFolders: true, .own, system)
        models = ["--model", path, "--order", versions.map(\.name).joined(separator: ",")]
    }

    // MARK: - A process

    private struct Failure: Decodable {
        struct Fault: Decodable {
            let code: String
            let message: String
            let place: String
            let remedy: String
            let cause: String?
        }

        let error: Fault
    }

    /// The exit codes of errors as Documentation/CommandLine.md has them; 3 is that of all others.
    private static func exitCode(of error: String) -> Int32 {
        let kinds: [(code: Int32, names: Set<String>)] = [
            (2, ["usage", "unknownKey", "wrongType", "objectGone", "externalRelationship"]),
            (
                4,
                [
                    "fileNotFound", "fileNotReadable", "notAStore", "storeCorrupted", "sideFileForeign",
                    "metadataInvalid", "modelNotFound", "modelInvalid", "invalidPredicate", "propertyListInvalid",
                    "backupInvalid",
                ]
            ),
            (
                5,
                [
                    "cancelled", "rulesBroken", "migrationFailed", "policyFailed", "stageFailed", "verificationFailed",
                    "inputOutput", "sqlite",
                ]
            ), (70, ["internal"]),
        ]
        return kinds.first { $0.names.contains(error) }?.code ?? 3
    }

    /// Runs a command line.
    ///
    /// - Returns: what it printed on standard output, and its exit code.
    private func process(_ words: [String]) throws -> (printed: Data, code: Int32) {
        let path = "\(folder)/printed"
        let (output, errors) = (open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600), open("/dev/null", O_WRONLY))
        defer {
            close(output)
            close(errors)
            // A person who ends the simulation ends it at once.
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        }
        guard output >= 0, errors >= 0 else { throw WitnessFailure("no file for what a command prints") }
        var machine = CommandMachine()
        (machine.system, machine.output, machine.errors) = (run.disk.system, output, errors)
        (machine.patience, machine.isSequential) = (.zero, true)
        var registry = try run.history.registry
        // The words say which losses are accepted.
        registry.acceptedLosses = .none
        let code = try BlockingTask.run { [registry, machine, words = words + ["--config", "none", "--json"]] in
            await MoultCommand.run(registry, arguments: words, on: machine)
        }
        return (FileManager.default.contents(atPath: path) ?? Data(), code)
    }

    /// Runs a verb.
    ///
    /// - Parameter code: returns the exit code that the document of a verb that has not failed goes with.
    /// - Throws: the error that the document says, as the library throws it.
    func answer<Answer: Decodable>(
        _ words: [String], _ code: (Answer) -> Int32 = { _ in 0 }
    ) throws -> Answer {
        let (printed, ended) = try process(words)
        if let failure = try? JSONDecoder().decode(Failure.self, from: printed) {
            throw try error(failure.error, ended, words)
        }
        return try decoded(printed, ended, words, code)
    }

    private func decoded<Answer: Decodable>(
        _ printed: Data, _ ended: Int32, _ words: [String], _ code: (Answer) -> Int32
    ) throws -> Answer {
        do {
            let answer = try JSONDecoder().decode(Answer.self, from: printed)
            let wanted = code(answer)
            guard ended == wanted else {
                throw LifeFailure(kind: "exit code", words: "\(words[0]) ends with \(ended) instead of \(wanted)")
            }
            return answer
        } catch let error as DecodingError {
            let text = String(decoding: printed.prefix(200), as: UTF8.self)
            throw LifeFailure(kind: "document", words: "\(words[0]) ends with \(ended) and prints \(text): \(error)")
        }
    }

    private func error(_ fault: Failure.Fault, _ ended: Int32, _ words: [String]) throws -> MigrationError {
        let wanted = Self.exitCode(of: fault.code)
        guard ended == wanted, let code = MigrationError.Code(named: fault.code) else {
            throw LifeFailure(
                kind: "exit code", words: "\(words[0]) ends with \(ended) instead of \(wanted): \(fault.code)")
        }
        return MigrationError(
            code, fault.message, place: fault.place, remedy: fault.remedy, cause: fault.cause)
    }

    func to(_ target: Int) -> [String] { ["--to", run.name(target)] }

    /// The words that name the answers, which are written to a file.
    func file(of answers: [Answer], named name: String = "given") throws -> [String] {
        guard !answers.isEmpty else { return [] }
        let path = "\(folder)/\(name).json"
        try POSIXSystem().write(try Answers(answers).json, to: path, .own)
        return ["--answers", path]
    }

    private var configuration: [String] { run.history.configuration.map { ["--store-configuration", $0] } ?? [] }

    // MARK: - What changes a store

    private struct Migrated: Decodable {
        let finished: Bool
        let to: String
        let changed: Bool?
        let dryRun: Bool?
        let losses: [Said.Loss]?
    }

    func migrate(to target: Int, _ way: Life.Way, _ answers: [Answer], into path: String?) throws -> Said.Migration {
        let options: [String] =
            switch way {
            case .normalised: ["--normalise"]
            case .inPlace: ["--in-place"]
            case .stops: ["--stop-at-each-version"]
            case .deferred: ["--deferred"]
            case .rehearsal: ["--dry-run"]
            case .uncompared: ["--verify", "full"]
            case .budget(let units): ["--budget", "\(units * 100)ms"]
            default: []
            }
        let permits = (way == .refusing ? [] : ["--accept-losses"]) + (path.map { ["--into", $0] } ?? ["--again"])
        let words =
            ["migrate", run.store] + models + to(target) + (try file(of: answers)) + configuration + options + permits
        let said: Migrated = try answer(words) { $0.finished ? 0 : 6 }
        guard said.to == run.name(target) else {
            throw LifeFailure(kind: "answers differ", words: "a migration to \(run.name(target)) ends at \(said.to)")
        }
        let isDone = said.changed == true || said.dryRun == true
        return Said.Migration(end: !said.finished ? .paused : isDone ? .done : .nothing, losses: said.losses ?? [])
    }

    private struct Finished: Decodable { let finished: Bool }

    func finish(_ count: Int?) throws -> Bool {
        let said: Finished = try answer(["finish", run.store] + models + (count == nil ? [] : ["--one"]))
        return said.finished
    }

    private struct Backup: Decodable { let name: String }
    private struct BackedUp: Decodable { let backup: Backup }
    private struct Restored: Decodable { let restored: Backup }
    private struct Pruned: Decodable { let removed: [String] }
    private struct Moved: Decodable { let to: String }
    private struct Exported: Decodable { let exported: Backup }

    func backUp() throws { let _: BackedUp = try answer(["backup", "create", run.store] + models) }

    func rollBack(to name: String?) throws -> String {
        let said: Restored = try answer(["rollback", run.store] + (name.map { [$0] } ?? []) + models)
        return said.restored.name
    }

    func prune(days: Int, count: Int) throws {
        let limits = ["--keep-all", "\(days)", "--keep-weekly", "\(days * 4)", "--minimum", "\(count)"]
        let _: Pruned = try answer(["backup", "prune", run.store] + limits)
    }

    func move(to path: String) throws { let _: Moved = try answer(["move", run.store, path] + models) }

    func downgrade(to target: Int, isRehearsal: Bool) throws -> Said.WayBack {
        let words = ["downgrade", run.store] + models + to(target) + (try file(of: run.history.answers))
        return try answer(words + (isRehearsal ? ["--dry-run"] : [])) {
            ["backup", "impossible"].contains($0.way) ? 3 : 0
        }
    }

    private struct Repaired: Decodable {
        struct Fault: Decodable {
            let rule: String
            let place: String
        }

        let findings: [Fault]
        let left: Int
        let remarks: [Said.Finding]
    }

    func repair() throws -> [(rule: String, place: String)] { try repair([]) }

    func repair(_ options: [String]) throws -> [(rule: String, place: String)] {
        let said: Repaired = try answer(["repair", run.store] + models + options) {
            $0.left == 0 && $0.remarks.isEmpty ? 0 : 1
        }
        return said.findings.map { ($0.rule, $0.place) }
    }

    func export(_ backup: String, to path: String) throws {
        let _: Exported = try answer(["backup", "export", run.store, backup, path])
    }

    func importBackup(_ path: String) throws {
        let _: BackedUp = try answer(["backup", "import", run.store, path] + models)
    }

    // MARK: - What is asked

    private struct Entity: Decodable {
        let name: String
        let rows: Int64?
    }

    private struct Inspected: Decodable {
        struct Version: Decodable { let name: String? }
        let version: Version
        let entities: [Entity]
        let findings: [Said.Finding]
    }

    private struct Validated: Decodable {
        let sound: Bool
        let version: String
        let entities: [Entity]
        let findings: [Said.Finding]
    }

    private func counts(_ entities: [Entity]) -> [String: Int64] {
        Dictionary(entities.compactMap { entity in entity.rows.map { (entity.name, $0) } }) { first, _ in first }
    }

    func status(aimingAt target: Int) throws -> Said.Status {
        try answer(["status", run.store] + models + to(target)) { ["ahead", "unknown"].contains($0.state) ? 3 : 0 }
    }

    func inspect() throws -> Said.Contents {
        let said: Inspected = try answer(["inspect", run.store] + models)
        return Said.Contents(version: said.version.name, counts: counts(said.entities), findings: said.findings)
    }

    func validate() throws -> Said.Contents {
        let said: Validated = try answer(["validate", run.store, "--full"] + models) { $0.sound ? 0 : 1 }
        return Said.Contents(version: said.version, counts: counts(said.entities), findings: said.findings)
    }

    private struct Planned: Decodable {
        struct Step: Decodable { let sentence: String }
        struct Edge: Decodable {
            let from: String
            let to: String
            let sentences: [String]
            let steps: [Step]
        }
        struct Loss: Decodable {
            let entity: String
            let member: String?
            let count: Int64?
            let fate: String
        }
        let from: String
        let to: String
        let edges: [Edge]
        let losses: [Loss]
        let findings: [Said.Finding]
        let error: Failure.Fault?
    }

    func plan(to target: Int, _ answers: [Answer]) throws -> Said.Plan {
        let words =
            ["plan", run.store] + models + to(target) + (try file(of: answers)) + configuration + ["--accept-losses"]
        let (printed, ended) = try process(words)
        // A plan of a migration that would be refused has an error beside what it plans.
        let isPlan = (try? JSONDecoder().decode(Planned.self, from: printed)) != nil
        if !isPlan, let failure = try? JSONDecoder().decode(Failure.self, from: printed) {
            throw try error(failure.error, ended, words)
        }
        let said: Planned = try decoded(printed, ended, words) { $0.error.map { Self.exitCode(of: $0.code) } ?? 0 }
        return Said.Plan(
            from: said.from, to: said.to,
            edges: said.edges.map {
                Said.Edge(from: $0.from, to: $0.to, sentences: $0.sentences + $0.steps.map(\.sentence))
            },
            losses: said.losses.map { loss in
                Said.ForeseenLoss(
                    place: [loss.entity, loss.member].compactMap(\.self).joined(separator: "."), count: loss.count,
                    isRefused: loss.fate == "refused")
            }, findings: said.findings, refusal: said.error?.code)
    }
}
