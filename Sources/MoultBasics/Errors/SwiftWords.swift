/// The words of the library: functions of `Project` and `StoreMirror`, and properties of `RunOptions`.
package struct SwiftWords: RemedyWords {
    /// The functions of a product above `Moult`; nil for `Moult` itself.
    private let functions: [Remedy.Use: String]?

    package init() { functions = nil }

    /// Creates the words of a product that has functions of its own for some use cases. Those of the product `Moult`
    /// are named with their product.
    package init(functions: [Remedy.Use: String]) { self.functions = functions }

    package func text(_ action: Remedy.Action) -> String {
        if let function = functions?[action.use] {
            let backup = action.settings.compactMap { if case .to(let name?) = $0 { name } else { nil } }.first
            return function + (backup.map { " with the backup \($0)" } ?? "")
        }
        let settings = action.settings.filter { !$0.isOperand }.map(text)
        let name = action.use.inSwift
        return name + (functions == nil || name.hasPrefix("Moult") ? "" : " (product Moult)")
            + (settings.isEmpty ? "" : " with " + settings.joined(separator: ", "))
    }

    package func text(_ setting: Remedy.Setting) -> String { setting.inSwift }

    package func text(_ permission: Remedy.Permission) -> String {
        switch permission {
        case .cloudKit: "set allowsCloudKit of the run's options"
        case .configuration(let name): "set configuration of the run's options \(name)"
        case .loss(let place): "acceptedLosses = \([place].swiftLiteral)"
        case .clearing(let places): "acceptedLosses = \(places.swiftLiteral) of the run's options"
        case .losses(let places):
            "To accept the loss, set acceptedLosses of the run's options or of the registry: \(places.swiftLiteral)."
        case .code: ""
        }
    }
}

extension Remedy.Use {
    /// The function for this use case; for a use case that only the command line has, its name there.
    package var inSwift: String {
        switch self {
        case .migrate: "Project.migrate(_:to:following:options:)"
        case .plan: "Project.plan(for:to:options:withSQL:)"
        case .finish: "Project.finish(_:within:options:)"
        case .rollback: "Project.rollback(_:to:options:)"
        case .downgrade: "Project.downgrade(_:to:isRehearsal:options:)"
        case .recover: "Project.resume(_:options:)"
        case .status: "Project.status(of:aimingAt:)"
        case .inspect: "Project.inspect(_:withValues:)"
        case .hash: "Project.init(models:order:registry:)"
        case .validate: "Project.validate(_:full:withValues:comparedWith:)"
        case .diagnose: "Project.diagnose(_:aimingAt:options:)"
        case .repair: "Project.repair(_:only:isRehearsal:options:)"
        case .salvage: "Project.salvage(_:into:as:)"
        case .dump: "Project.dump(_:of:includingSubentities:_:)"
        case .runs: "Project.history(of:)"
        case .log: "Project.log(of:)"
        case .makeBackup: "Project.backUp(_:options:)"
        case .listBackups: "Project.backups(of:options:)"
        case .verifyBackups: "Project.verify(_:)"
        case .pruneBackups: "Project.pruneBackups(of:keeping:options:)"
        case .importBackup: "Project.importBackup(_:for:wasClosed:options:)"
        case .restoreBackup: "Project.restore(_:to:options:)"
        case .listQuarantine, .showQuarantine: "Project.quarantine(of:limit:)"
        case .restoreQuarantined: "Project.restore(quarantined:of:isRehearsal:options:)"
        case .startMirror: "Project.startMirror(of:at:to:options:)"
        case .syncMirror: "StoreMirror.sync(comparingAll:overwriting:)"
        case .verifyMirror: "StoreMirror.verify()"
        case .cutOverMirror: "StoreMirror.cutOver(acceptingLosses:)"
        case .stopMirror: "StoreMirror.stop()"
        case .answer: "Project.addAnswers(json:)"
        case .difference: "Project.difference(from:to:)"
        case .compile: "Project.compile(_:to:module:isRehearsal:)"
        case .checkCloudKit: "Project.checkCloudKit(schema:configuration:since:)"
        case .lint: "Project.lint(profiles:ignoring:since:lock:countingObjectsOf:)"
        case .reconstruct: "Project.reconstruct(tags:stores:isWriting:)"
        case .initialise: "Moult's tool (init)"
        case .views, .query, .export, .lock, .changelog, .fixture, .decompile, .planFleet, .runFleet, .fleetStatus,
            .rollbackFleet:
            "Moult's tool (\(self))"
        }
    }
}

extension Remedy.Setting {
    /// Whether the setting names the operand of a function, which the function's name already implies.
    fileprivate var isOperand: Bool {
        switch self {
        case .anyStore, .store, .anyModel, .model, .order: true
        default: false
        }
    }

    /// The argument or the property.
    fileprivate var inSwift: String {
        switch self {
        case .anyStore: "the store"
        case .store(let path), .path(let path): path.swiftQuoted
        case .anyModel, .model, .order: "Project.init(models:order:registry:)"
        case .mapping(let path): path.map { "Project.addMappings(at: \($0.swiftQuoted))" } ?? "Project.addMappings(at:)"
        case .plan(let path): "the plan \(path.swiftQuoted)"
        case .configuration(let name): "RunOptions.configuration = \(name.swiftQuoted)"
        case .mirroredConfiguration(let name): argument("configuration", name)
        case .to(let name): argument("to", name)
        case .from(let name): argument("from", name)
        case .version(let name): argument("as", name)
        case .into(let path): argument("into", path)
        case .at(let path): argument("at", path)
        case .set(let answer): "the answer \(answer)"
        case .forget(let place): "no answer about \(place)"
        case .answers: "Project.addAnswers(contentsOf:)"
        case .only(let rules):
            rules.isEmpty
                ? "the argument only" : "only: [\(rules.map { "." + $0.inCamelCase }.joined(separator: ", "))]"
        case .rules(let path): "the rules of \(path)"
        case .before(let date): "Project.trimHistory(of:before: \(date))"
        case .budget: "RunOptions.budget"
        case .backups: "RunOptions.backupFolder"
        case .run(let run): "the run \(run)"
        case .inPlace: "RunOptions.isInPlace"
        case .normalise: "RunOptions.normalises"
        case .deferred: "RunOptions.defersWork"
        case .stopAtEachVersion: "RunOptions.stopsAtEachVersion"
        case .frugal: "RunOptions.keepsBackup = false"
        case .makeRoom: "RunOptions.makesRoom"
        case .cloudKit: "RunOptions.allowsCloudKit"
        case .fullVerify: "RunOptions.comparesUnwrittenTables"
        case .again: "a higher RunOptions.maximumAttempts"
        case .experimental: "RunOptions.isExperimental"
        case .dryRun: "isRehearsal: true"
        case .sql: "withSQL: true"
        case .values: "withValues: true"
        case .json: "json of the plan"
        case .wasClosed: "wasClosed: true"
        case .allowLargeQuarantine: "RunOptions.allowsLargeQuarantine"
        case .acceptLosses: "acceptingLosses: true"
        case .everything: "all"
        case .overwrite: "overwriting: true"
        case .undo: "StoreMirror.undoCutOver()"
        case .restore: "Project.rollback(_:to:options:)"
        case .replace: "replacing: true"
        case .since(let revision): argument("since", revision)
        case .output: "the argument to"
        case .file(let path): path
        case .profile(let name): "profiles: [.\(name)]"
        case .config(let path): "the configuration \(path)"
        case .entity(let name): name.map { "the entity \($0)" } ?? "the entity"
        case .matching(let predicate): "the objects that match \(predicate)"
        case .format(let name): "the format \(name)"
        case .seed: "seed"
        case .results: "a folder of results"
        case .shard(let index): "the shard" + (index.map { " \($0)" } ?? "")
        case .shards(let count): "\(count) shards"
        case .retry(let kind): "another try of \(kind)"
        case .wait(let time): "a wait of \(time)"
        case .time: "its limit of time"
        case .memory: "its limit of memory"
        case .approve: "an approval"
        case .partition: "a partition of Slurm"
        case .sbatch: "options of sbatch"
        case .canary: "a canary"
        case .limit: "the argument limit"
        case .write: "isWriting: true"
        case .fix: "Project.applyFixes(to:isRehearsal:options:)"
        }
    }

    private func argument(_ label: String, _ value: String?) -> String {
        value.map { "\(label): \($0.swiftQuoted)" } ?? "the argument \(label)"
    }
}

extension String {
    fileprivate var swiftQuoted: String { "\"\(self)\"" }

    /// The hyphenated name in camel case.
    fileprivate var inCamelCase: String {
        let words = split(separator: "-")
        return words.prefix(1).joined() + words.dropFirst().map(\.capitalizedFirst).joined()
    }
}

extension [String] {
    /// The array as a literal of Swift, which is also valid JSON.
    package var swiftLiteral: String { "[\(map { "\"\($0)\"" }.joined(separator: ", "))]" }
}
