import Foundation
import MoultModel
import MoultTesting
import TestSupport

/// What comes next in a life, by its seed and by what the store holds now.
struct LifeSchedule {
    private var random: HistoryRandom
    /// Chooses the faces, apart from what happens.
    private var faces: HistoryRandom
    private let profile: Life.Profile
    private var next = 0

    init(_ life: Life) {
        random = HistoryRandom(seed: life.seed ^ 0x5EED)
        faces = HistoryRandom(seed: life.seed ^ 0xFACE)
        profile = life.profile
    }

    /// The life of a seed before its first step.
    static func life(seed: UInt64, _ profile: Life.Profile, plant: Life.Plant?) throws -> Life {
        var random = HistoryRandom(seed: seed)
        let versions = profile == .usual ? 6 : 12
        var history = try ModelHistory(seed: random.next(), versions: versions, &random)
        // A store that has to grow needs a place for long values in each version.
        for _ in 0..<50
        where profile == .long && (history.isDivided || history.models.contains { $0.held.longPlace == nil }) {
            history = try ModelHistory(seed: random.next(), versions: versions, &random)
        }
        var ground = Life.Ground()
        ground.isWAL = Int.random(in: 0..<4, using: &random) > 0
        ground.hasHistory = Bool.random(using: &random)
        if Int.random(in: 0..<6, using: &random) == 0 {
            ground.pageSize = [512, 1_024, 8_192, 65_536].randomElement(using: &random) ?? 4_096
        }
        if Int.random(in: 0..<6, using: &random) == 0 {
            ground.lastKey = [(1 << 31) - 3, (1 << 32) - 2, (1 << 53) - 2].randomElement(using: &random) ?? 0
        }
        if profile == .long {
            (ground.pageSize, ground.fullBytes) = (seed % 2 == 0 ? 65_536 : 4_096, (1 << 30) - (32 << 20))
            ground.lastKey = (1 << 31) - 40
        }
        ground.mode = [0o600, 0o640, 0o644].randomElement(using: &random)
        return Life(
            seed: seed, profile: profile, ground: ground, models: history.models,
            stages: history.stages.values.sorted { $0.position < $1.position },
            mappings: history.mappings.values.sorted { $0.position < $1.position }, plant: plant)
    }

    private mutating func isLikely(_ part: Int, in whole: Int) -> Bool {
        Int.random(in: 0..<whole, using: &random) < part
    }

    mutating func step(_ run: LifeRun) -> Life.Step {
        guard let other = run.other else { return alone(run) }
        // Each of two stores is filled first.
        if run.number > 0, let action = together(run, other) { return met(Life.Step(action: action), run) }
        return run.number == 0 || run.number > 0 && isLikely(1, in: 2) ? alone(other) : alone(run)
    }

    /// What happens to one store.
    private mutating func alone(_ run: LifeRun) -> Life.Step {
        var step = Life.Step(action: run.number < 0 ? filling(run) : action(run))
        if run.number >= 0, let action = apart({ $0.rivalry(run) }) { step.action = action }
        step.isOther = run.history.isOther ? true : nil
        return met(step, run)
    }

    /// What happens to both stores of a life with two, now and then: an app opens them, with the version that they have
    /// or with a later one.
    private mutating func together(_ run: LifeRun, _ other: LifeRun) -> Life.Action? {
        guard isLikely(1, in: 3) else { return nil }
        let (newest, last) = (max(run.now.version, other.now.version), run.history.models.count - 1)
        let isAlike = run.now.version == other.now.version
        if isAlike ? newest < last && isLikely(1, in: 3) : isLikely(2, in: 3) {
            let isPlanned = run.history.isPlain && isLikely(1, in: 2)
            let ahead = isAlike ? step() : isLikely(1, in: 4) ? 1 : 0
            return .migrateBoth(to: min(last, newest + ahead), isPlanned ? .swiftData : .coreData)
        }
        let world = run.now.world.joined(with: other.now.world)
        return isAlike ? .saveBoth(api(run), changes(world, run.history.models[newest])) : nil
    }

    private mutating func api(_ run: LifeRun) -> API {
        let apis: [API] = run.history.isPlain ? [.objects, .coreData, .swiftData, .swiftData] : [.objects, .coreData]
        return apis.randomElement(using: &random) ?? .objects
    }

    /// A step with what befalls the machine meanwhile.
    private mutating func met(_ step: Life.Step, _ run: LifeRun) -> Life.Step {
        var step = step
        if isLikely(1, in: profile == .usual ? 12 : 4) {
            let days: [Int64] = [1, 3, 8, 40, 400, -2, -400]
            step.ahead = (days.randomElement(using: &random) ?? 1) * 86_400
        }
        if profile != .long, run.number >= 0, hasCommand(step.action), Int.random(in: 0..<3, using: &faces) == 0 {
            step.isTyped = true
        }
        if run.number >= 0, isLikely(1, in: profile == .usual ? 3 : profile == .rare ? 20 : 8) {
            step.faults = faults(of: step, run)
        }
        return step
    }

    /// Draws from the numbers that are apart from what else happens.
    private mutating func apart<Result>(_ body: (inout Self) -> Result) -> Result {
        swap(&random, &faces)
        defer { swap(&random, &faces) }
        return body(&self)
    }

    /// What the second app does, now and then.
    private mutating func rivalry(_ run: LifeRun) -> Life.Action? {
        if run.rival?.pending != nil { return isLikely(1, in: 3) ? .commit : nil }
        guard profile != .long, isLikely(1, in: 12) else { return nil }
        return .begin(isLikely(1, in: 2) ? .objects : .coreData, changes(run))
    }

    /// Whether the command line can do it.
    private func hasCommand(_ action: Life.Action) -> Bool {
        switch action {
        case .migrate(_, .quarantining, _): false
        case .migrate(_, let way, _): ![.container, .swiftData].contains(way)
        case .finish(let count): count ?? 1 == 1
        case .backUp, .rollBack, .prune, .move, .downgrade, .repair, .exportAndImport, .ask, .resume, .cutHistory,
            .mirror:
            true
        default: false
        }
    }

    // MARK: - Actions

    private mutating func filling(_ run: LifeRun) -> Life.Action {
        let model = run.model()
        let each = profile == .long ? 200 : Int.random(in: 1...6, using: &random)
        var changes: [Change] = []
        var world = run.now.world
        for entity in model.entities where !entity.isAbstract && !entity.isEmpty {
            for _ in 0..<Int.random(in: 0...each, using: &random) {
                add(insertion(entity, model), &changes, &world, model)
            }
        }
        for _ in 0..<(changes.count * 2) { if let link = link(world, model) { add(link, &changes, &world, model) } }
        return .save(.objects, changes)
    }

    /// Adds a change, with the links that a new object has to have; no change that leaves an object without one.
    private mutating func add(
        _ change: Change, _ changes: inout [Change], _ world: inout HistoryWorld, _ model: HistoryModel
    ) {
        var (after, made) = (world, [change])
        guard after.make(change, in: model, key: { _ in 0 }) else { return }
        switch change {
        case .insert(let number, _, _): made += after.links(needed: number, in: model, using: &random)
        case .link(_, let from, let to, _, _):
            for number in [from, to] { made += after.links(needed: number, in: model, using: &random) }
        case .set, .unlink, .delete: break
        }
        guard !after.lacks(besides: world, in: model) else { return }
        (world, changes) = (after, changes + made)
    }

    private mutating func action(_ run: LifeRun) -> Life.Action {
        let api = api(run)
        let last = run.history.models.count - 1
        if profile == .long, isLikely(1, in: 3), let growth = growth(run) { return growth }
        if run.canPutBack, isLikely(1, in: 2) { return .putBack }
        if run.now.isDeferred, isLikely(1, in: 3) { return .finish(isLikely(1, in: 2) ? nil : 1) }
        if run.now.isDeferred, isLikely(1, in: 4) { return .downgrade }
        if run.mirror != nil {
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<45: return .save(api, changes(run))
            case 45..<75: return .mirror(.sync(all: isLikely(1, in: 6)))
            case 75..<77: return .mirror(.verify)
            case 77..<80:
                guard let target = run.mirror?.target, let there = run.way(to: target).last else { break }
                let made = changes(there.world, run.model(target)).filter { run.hasPlace($0, target) }
                return .mirror(.visit(made, api))
            case 80..<85: return .mirror(.stop)
            case 85..<88: return run.app == nil ? .open(api) : .close
            case 88..<91: return .trimHistory(trim())
            default: break
            }
        }
        if run.stopped != nil, isLikely(1, in: 2) { return .resume }
        if let paused = run.paused, paused > run.now.version, isLikely(2, in: 3) {
            return .migrate(to: paused, .budget(units()), keepsReturned: false)
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<32: return .save(api, changes(run))
        case 32..<38: return .look(api)
        case 38..<40: return run.app == nil ? .open(api) : .close
        case 40..<41: return .read(run.reader == nil)
        case 41..<63:
            // The newest version is the end: some lives go back from there.
            if run.now.version == last { return isLikely(1, in: 2) ? .rollBack(some(run)) : .downgrade }
            let target = isLikely(1, in: 8) ? max(0, run.now.version - 1) : min(last, run.now.version + step())
            return .migrate(to: target, way(run), keepsReturned: Bool.random(using: &random))
        case 63..<66: return .backUp
        case 66..<73: return .rollBack(isLikely(1, in: 3) ? nil : some(run))
        case 73..<75:
            return .prune(days: Int.random(in: 0...9, using: &random), count: Int.random(in: 1...4, using: &random))
        case 75..<79: return .move
        case 79..<83: return .downgrade
        case 83..<85: return isLikely(1, in: 3) ? .repair : .mend(damage(run))
        case 85..<87:
            return isLikely(1, in: 3) ? .cutHistory(Int.random(in: 1...5, using: &random)) : .trimHistory(trim())
        case 87..<88: return .recover
        case 88..<90: return .exportAndImport
        case 90..<92: return spoiling(run)
        case 96..<100 where run.now.version < last && run.mirror == nil && !run.now.isDeferred:
            return .mirror(.start(to: min(last, run.now.version + step())))
        case 94..<95 where !run.backups.isEmpty && run.spoilt.count < 5: return .spoilManifest(some(run))
        case 95..<96: return isLikely(1, in: 3) ? .retune : barring(run)
        case 91..<93 where run.app != nil: return .close
        case 91..<94 where run.reader != nil: return .read(false)
        default: return .ask(to: min(last, run.now.version + step()))
        }
    }

    /// A save of long values, with which the file grows.
    private mutating func growth(_ run: LifeRun) -> Life.Action? {
        let model = run.model()
        guard let (entity, attribute) = model.longPlace else { return nil }
        var (world, changes) = (run.now.world, [Change]())
        for byte in 1...3 {
            guard case .insert(let number, let id, var values) = insertion(entity, model) else { continue }
            values[attribute.id] = "x:0\(byte)*\(4 << 20)"
            add(.insert(number, entity: id, values: values), &changes, &world, model)
        }
        return .save(.objects, changes)
    }

    private mutating func damage(_ run: LifeRun) -> Life.Damage {
        let model = run.model()
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3:
            let isBackward = Bool.random(using: &random)
            guard
                let link = model.links.filter({ (isBackward ? $0.inverse : $0.end)?.isToMany == false })
                    .randomElement(using: &random), let pairs = run.now.world.pairs[link.id],
                let owner = (isBackward ? pairs.backward : pairs.forward).filter({ !$0.value.isEmpty }).keys.sorted()
                    .randomElement(using: &random)
            else { return .file }
            return .dangling(link: link.id, of: owner, isBackward: isBackward)
        case 3: return .counter(model.entities.filter { $0.parent == nil }.randomElement(using: &random)?.id ?? 0)
        case 4: return .index(Int.random(in: 0..<100, using: &random))
        case 5: return .stranger(run.now.world.objects.keys.sorted().randomElement(using: &random) ?? 0)
        case 6: return .transaction
        default: return .file
        }
    }

    private mutating func trim() -> Life.Trim? {
        let count = Int.random(in: 1...5, using: &random)
        return [nil, .token(count), .date(count)].randomElement(using: &random) ?? nil
    }

    private mutating func some(_ run: LifeRun) -> Int {
        Int.random(in: 0..<max(1, run.backups.count + run.spoilt.count), using: &random)
    }
    private mutating func step() -> Int { isLikely(2, in: 3) ? 1 : Int.random(in: 2...4, using: &random) }
    private mutating func units() -> Int { [1, 3, 8, 30].randomElement(using: &random) ?? 8 }

    private mutating func way(_ run: LifeRun) -> Life.Way {
        if run.history.isPlain, isLikely(1, in: 3) { return .swiftData }
        let ways: [Life.Way] = [
            .plain, .plain, .plain, .normalised, .inPlace, .stops, .refusing, .rehearsal, .into, .deferred, .deferred,
            .container, .container, .uncompared, .budget(units()), .budget(units()),
            .quarantining(
                run.model().entities.randomElement(using: &random)?.id ?? 0,
                remainder: Int.random(in: 0..<3, using: &random)),
        ]
        return ways.randomElement(using: &random) ?? .plain
    }

    // MARK: - Faults

    private mutating func faults(of step: Life.Step, _ run: LifeRun) -> [Life.StepFault] {
        let loud: [Fault.Kind] = [
            .stop, .powerLoss, .powerLoss, .tornSector, .inputOutputOnce, .inputOutputOn, .fullOnce, .fullOn, .clock,
            .readOnce, .readOn, .slow, .memoryOnce, .memoryOn,
        ]
        // What the disk writes wrong is noticed by Moult's own work alone, which another fault would keep from it.
        var count = step.action.isOfProgram ? isForgiven(step.action, run) ? 1 : 0 : 2
        // Of two damages the reference could say nothing.
        if case .mend = step.action { count = 0 }
        if step.action.isOfBoth { count = 0 }
        let wrong = [Fault.Kind](repeating: .wrongBit, count: count)
        let kind = (loud + wrong).randomElement(using: &random) ?? .stop
        let first = fault(kind, of: step, run)
        guard kind != .wrongBit, isLikely(1, in: 6) else { return [first] }
        let other = loud.filter { $0 != kind }.randomElement(using: &random) ?? .slow
        return [first, fault(other, of: step, run)]
    }

    /// Whether a program that writes wrong unnoticed leaves something to go back to.
    private func isForgiven(_ action: Life.Action, _ run: LifeRun) -> Bool {
        switch action {
        case .save, .commit, .close, .trimHistory: !run.backups.isEmpty && run.mirror == nil && !run.now.isDeferred
        default: false
        }
    }

    private mutating func fault(_ kind: Fault.Kind, of step: Life.Step, _ run: LifeRun) -> Life.StepFault {
        let known = kind.isOfReads ? run.reads : kind.isOfMemory ? run.allocations : run.calls
        let moments = known[step.word] ?? (kind.isOfMemory ? 10_000 : 150)
        return Life.StepFault(
            kind: kind.rawValue, number: Int.random(in: 1...max(moments, 8), using: &random),
            seed: random.next() % 1_000_000)
    }

    // MARK: - Changes

    private mutating func changes(_ run: LifeRun) -> [Change] { changes(run.now.world, run.model()) }

    private mutating func changes(_ world: HistoryWorld, _ model: HistoryModel) -> [Change] {
        var (world, changes) = (world, [Change]())
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            guard let change = change(world, model) else { continue }
            var after = world
            let isRefused =
                world.refuses(change, in: model)
                || after.make(change, in: model, key: { _ in 0 }) && after.lacks(besides: world, in: model)
            // Now and then a save that must be refused.
            if isRefused, isLikely(1, in: 6) { return changes + [change] }
            add(change, &changes, &world, model)
        }
        return changes
    }

    private mutating func change(_ world: HistoryWorld, _ model: HistoryModel) -> Change? {
        let kind = Int.random(in: 0..<10, using: &random)
        if kind < 3, world.objects.count < 300 || profile == .long {
            let entities = model.entities.filter { !$0.isAbstract && !$0.isEmpty }
            return entities.randomElement(using: &random).map { insertion($0, model) }
        }
        guard let number = world.objects.keys.sorted().randomElement(using: &random), let object = world.objects[number]
        else { return nil }
        switch kind {
        case 3..<6:
            let attributes = model.lineage(object.entity).flatMap(\.attributes)
            guard let attribute = attributes.randomElement(using: &random) else { return nil }
            if let text = HistoryValues.notANumber(attribute.description.type), isLikely(1, in: 4) {
                return .set(number, attribute: attribute.id, text: text)
            }
            let value = HistoryValues.value(of: attribute, number: number, using: &random)
            return .set(number, attribute: attribute.id, text: HistoryValues.asked(value))
        case 6..<8: return link(world, model)
        case 8:
            guard let link = model.links.randomElement(using: &random),
                let from = (world.pairs[link.id]?.forward ?? [:]).filter({ !$0.value.isEmpty }).keys.sorted()
                    .randomElement(using: &random),
                let to = world.pairs[link.id]?.forward[from]?.randomElement(using: &random)
            else { return nil }
            return .unlink(link.id, from: from, to: to, isBackward: Bool.random(using: &random) && link.inverse != nil)
        default: return .delete(number)
        }
    }

    private mutating func insertion(_ entity: HistoryModel.Entity, _ model: HistoryModel) -> Change {
        next += 1
        var values: [Int: String] = [:]
        for attribute in model.lineage(entity.id).flatMap(\.attributes)
        where attribute.isDistinct || Int.random(in: 0..<5, using: &random) > 0 {
            values[attribute.id] = HistoryValues.asked(
                HistoryValues.value(of: attribute, number: next, using: &random))
        }
        return .insert(next, entity: entity.id, values: values)
    }

    private mutating func link(_ world: HistoryWorld, _ model: HistoryModel) -> Change? {
        guard let link = model.links.randomElement(using: &random),
            let from = world.members(of: link.end.entity, in: model).randomElement(using: &random),
            let to = world.members(of: link.inverse?.entity ?? link.destination, in: model).randomElement(
                using: &random)
        else { return nil }
        return .link(
            link.id, from: from, to: to, place: Int.random(in: 0..<8, using: &random),
            isBackward: link.inverse != nil && Bool.random(using: &random))
    }

    private mutating func barring(_ run: LifeRun) -> Life.Action {
        let barrier = HistoryBarrier.allCases.randomElement(using: &random) ?? .unasked
        return .bar(barrier, entity: run.model().entities.randomElement(using: &random)?.id ?? 0)
    }

    private mutating func spoiling(_ run: LifeRun) -> Life.Action {
        let model = run.model()
        guard let number = run.now.world.objects.keys.sorted().randomElement(using: &random),
            let object = run.now.world.objects[number],
            let attribute = model.lineage(object.entity).flatMap(\.attributes).filter({
                $0.description.type == .string && !$0.isDistinct
            }).randomElement(using: &random)
        else { return .ask(to: run.now.version) }
        let bytes = Int.random(in: 0..<HistoryValues.brokenTexts.count, using: &random)
        return .spoilText(number, attribute: attribute.id, bytes: bytes)
    }
}
