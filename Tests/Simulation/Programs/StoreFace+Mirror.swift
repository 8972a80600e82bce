import Foundation
import Moult
import MoultBasics
import MoultCare
import MoultEngine
import MoultPlan

/// Mirrors, what finishes a run, and what deletes history, over both faces.
extension LibraryFace {
    private func opened(_ mirror: LifeRun.Mirror) throws -> MirroredStore {
        try MirroredStore(of: run.store, run.context(mirror.answers, .plain), on: run.disk.system)
    }

    func start(_ mirror: LifeRun.Mirror) throws {
        var options = RunOptions()
        (options.patience, options.acceptedLosses) = (.zero, .all)
        options.configuration = run.history.configuration
        let request = StoreRequest(run.store, to: run.name(mirror.target), .migrateInto(mirror.path), options)
        _ = try MirroredStore.start(request, run.context(mirror.answers, .plain), on: run.disk.system)
    }

    func synchronise(_ mirror: LifeRun.Mirror, all: Bool) throws {
        var store = try opened(mirror)
        _ = try store.synchronise(all: all)
    }

    func difference(_ mirror: LifeRun.Mirror) throws -> String? {
        let found = try opened(mirror).verify()
        return found.isEqual ? nil : found.lines.joined(separator: "; ")
    }

    func cutOver(_ mirror: LifeRun.Mirror) throws {
        var store = try opened(mirror)
        _ = try store.cutOver()
    }

    func undoCutOver(_ mirror: LifeRun.Mirror) throws {
        var store = try opened(mirror)
        try store.undoCutOver()
    }

    func stopMirror() throws { try MirroredStore.stop(run.store, system: run.disk.system) }

    func resume(_ answers: [Answer]) throws -> Said.Resumption {
        let keeper = run.keeper()
        guard let left = try keeper.interrupted(), var request = left.migration, let target = request.target else {
            _ = try keeper.recover()
            return Said.Resumption()
        }
        if left.request == nil { request.options = run.options(.plain) }
        (request.options.patience, request.options.retention) = (.zero, run.retention)
        let report = try StoreSession(request, run.context(answers, .plain), on: run.disk.system).run()
        return switch report.outcome {
        case .paused: Said.Resumption(end: .paused, to: target)
        case .nothingToDo: Said.Resumption(end: .nothing, to: target)
        default: Said.Resumption(end: .done, to: target)
        }
    }

    func cutHistory(before moment: Int) throws -> [(rule: String, place: String)] {
        try run.keeper().repair(
            [.history], trimmingHistory: HistoryLimit(seconds: Double(moment)), isRehearsal: false
        ).faults.map { ($0.rule.rawValue, $0.place) }
    }
}

extension CommandFace {
    private struct Mirrored: Decodable { let state: String }
    private struct Synchronised: Decodable { let means: String }
    private struct Verified: Decodable {
        struct Table: Decodable { let table: String }

        let equal: Bool
        let obstacle: String?
        let differences: [Table]
    }

    /// The words for a mirror that either face has started.
    private func words(_ verb: String, _ mirror: LifeRun.Mirror) throws -> [String] {
        ["mirror", verb, run.store] + models + (try file(of: mirror.answers, named: "mirror"))
    }

    func start(_ mirror: LifeRun.Mirror) throws {
        let said: Mirrored = try answer(
            words("start", mirror) + to(mirror.target) + ["--at", mirror.path, "--accept-losses"])
        try check(said, "mirroring")
    }

    func synchronise(_ mirror: LifeRun.Mirror, all: Bool) throws {
        let _: Synchronised = try answer(words("sync", mirror) + (all ? ["--all"] : []))
    }

    func difference(_ mirror: LifeRun.Mirror) throws -> String? {
        let said: Verified = try answer(words("verify", mirror)) { $0.equal ? 0 : 1 }
        return said.equal
            ? nil : (said.differences.map(\.table) + [said.obstacle].compactMap(\.self)).joined(separator: "; ")
    }

    func cutOver(_ mirror: LifeRun.Mirror) throws { try check(answer(words("cutover", mirror)), "cutOver") }

    func undoCutOver(_ mirror: LifeRun.Mirror) throws {
        try check(answer(words("cutover", mirror) + ["--undo"]), "mirroring")
    }

    func stopMirror() throws { let _: Mirrored = try answer(["mirror", "stop", run.store]) }

    private func check(_ said: Mirrored, _ state: String) throws {
        guard said.state != state else { return }
        throw LifeFailure(kind: "answers differ", words: "a mirror is \(said.state) and should be \(state)")
    }

    private struct Resumed: Decodable {
        let finished: Bool?
        let to: String?
        let changed: Bool?
    }

    func resume(_ answers: [Answer]) throws -> Said.Resumption {
        let words = ["resume", run.store] + models + (try file(of: answers)) + ["--accept-losses", "--again"]
        let said: Resumed = try answer(words) { $0.finished == false ? 6 : 0 }
        // The document of a recovery says nothing of a migration.
        guard let finished = said.finished else { return Said.Resumption() }
        return Said.Resumption(end: !finished ? .paused : said.changed == true ? .done : .nothing, to: said.to)
    }

    func cutHistory(before moment: Int) throws -> [(rule: String, place: String)] {
        let date = ISO8601DateFormatter().string(from: Date(timeIntervalSinceReferenceDate: Double(moment)))
        return try repair(["--only", "history", "--before", date])
    }
}
