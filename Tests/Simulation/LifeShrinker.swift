import Foundation
import MoultModel

/// Cuts a life that fails down to the smallest one that fails in the same way: first its steps, then its models, then
/// its objects and changes.
struct LifeShrinker {
    private var life: Life
    private let kind: String
    private let deadline: Date
    /// Lives a life, and returns how it fails; nil if it does not.
    private let live: (Life) -> LifeFailure?

    init(_ life: Life, _ failure: LifeFailure, seconds: Double, live: @escaping (Life) -> LifeFailure?) {
        (self.life, kind, self.live) = (life, failure.kind, live)
        deadline = Date().addingTimeInterval(seconds)
        self.life.steps = Array(life.steps.prefix(failure.step + 1))
    }

    private var hasTime: Bool { Date() < deadline }

    mutating func shrunk() -> Life {
        for _ in 0..<3 {
            let size = (try? life.text.utf8.count) ?? 0
            shrinkSteps()
            shrinkModels()
            shrinkChanges()
            shrinkFaults()
            if (try? life.text.utf8.count) ?? 0 >= size || !hasTime { break }
        }
        return life
    }

    /// Takes the smaller life if it fails likewise.
    private mutating func take(_ smaller: Life) -> Bool {
        guard hasTime, let failure = live(smaller), failure.kind == kind else { return false }
        life = smaller
        return true
    }

    private mutating func shrinkSteps() {
        var stretch = max(1, life.steps.count / 2)
        while stretch > 0, hasTime {
            var start = 0
            while start < life.steps.count, hasTime {
                var smaller = life
                smaller.steps.removeSubrange(start..<min(start + stretch, smaller.steps.count))
                if !take(smaller) { start += stretch }
            }
            stretch /= 2
        }
    }

    private mutating func shrinkFaults() {
        for place in life.steps.indices {
            for number in life.steps[place].faults.indices.reversed() {
                var smaller = life
                smaller.steps[place].faults.remove(at: number)
                _ = take(smaller)
            }
            for edit: (inout Life.Step) -> Void in [{ $0.ahead = 0 }, { $0.isTyped = nil }] {
                var smaller = life
                edit(&smaller.steps[place])
                _ = take(smaller)
            }
        }
        var plain = life
        plain.ground = Life.Ground()
        _ = take(plain)
    }

    // MARK: - Models

    private mutating func shrinkModels() {
        for edit: (inout Life) -> Void in [{ $0.stages = [] }, { $0.mappings = [] }] {
            var smaller = life
            edit(&smaller)
            _ = take(smaller)
        }
        for version in life.models.indices.reversed() where hasTime && life.models.count > 1 {
            var smaller = life
            smaller.removeVersion(version)
            _ = take(smaller)
        }
        for link in Set(life.models.flatMap(\.links).map(\.id)).sorted() where hasTime {
            var smaller = life
            for place in smaller.models.indices { smaller.models[place].links.removeAll { $0.id == link } }
            _ = take(smaller)
        }
        for entity in Set(life.models.flatMap(\.entities).map(\.id)).sorted() where hasTime {
            var smaller = life
            for place in smaller.models.indices { smaller.models[place].remove(entity: entity) }
            _ = take(smaller)
        }
        for attribute in Set(life.models.flatMap(\.entities).flatMap(\.attributes).map(\.id)).sorted() where hasTime {
            var smaller = life
            for place in smaller.models.indices { smaller.models[place].remove(attribute: attribute) }
            _ = take(smaller)
        }
        var underived = life
        for place in underived.models.indices { underived.models[place].removeDerived() }
        _ = take(underived)
        var plain = life
        for place in plain.models.indices { plain.models[place].simplify() }
        _ = take(plain)
    }

    // MARK: - Objects

    private mutating func shrinkChanges() {
        for place in life.steps.indices {
            guard let changes = life.steps[place].action.changes else { continue }
            var (left, stretch) = (changes, max(1, changes.count / 2))
            while stretch > 0, hasTime {
                var start = 0
                while start < left.count, hasTime {
                    var fewer = left
                    fewer.removeSubrange(start..<min(start + stretch, fewer.count))
                    var smaller = life
                    smaller.steps[place].action.changes = fewer
                    if take(smaller) { left = fewer } else { start += stretch }
                }
                stretch /= 2
            }
            for number in left.indices {
                guard case .insert(let object, let entity, let values) = left[number] else { continue }
                for key in values.keys.sorted() where hasTime {
                    var fewer = left
                    guard case .insert(_, _, var kept) = left[number] else { continue }
                    kept[key] = nil
                    fewer[number] = .insert(object, entity: entity, values: kept)
                    var smaller = life
                    smaller.steps[place].action.changes = fewer
                    if take(smaller) { left = fewer }
                }
            }
        }
    }
}

extension Life {
    /// Leaves out a version; what leads to a later one leads to it from the version before.
    fileprivate mutating func removeVersion(_ version: Int) {
        models.remove(at: version)
        stages = []
        mappings = []
        for place in steps.indices {
            if case .mirror(.start(let target)) = steps[place].action, target >= version, target > 0 {
                steps[place].action = .mirror(.start(to: target - 1))
            }
            if case .migrateBoth(let target, let api) = steps[place].action, target >= version, target > 0 {
                steps[place].action = .migrateBoth(to: target - 1, api)
            }
            guard case .migrate(let target, let way, let keeps) = steps[place].action, target >= version, target > 0
            else { continue }
            steps[place].action = .migrate(to: target - 1, way, keepsReturned: keeps)
        }
    }
}

extension HistoryModel {
    fileprivate mutating func remove(entity id: Int) {
        guard !entities.contains(where: { $0.parent == id }) else { return }
        entities.removeAll { $0.id == id }
        links.removeAll { $0.destination == id || $0.ends.contains { $0.entity == id } }
        others?.removeAll { $0 == id }
    }

    fileprivate mutating func remove(attribute id: Int) {
        for place in entities.indices {
            entities[place].attributes.removeAll { $0.id == id }
            entities[place].unique.removeAll { $0 == id }
            entities[place].indexes.removeAll { $0.contains(id) }
        }
    }

    fileprivate mutating func removeDerived() {
        for place in entities.indices { entities[place].derived = nil }
    }

    fileprivate mutating func simplify() {
        for place in entities.indices {
            (entities[place].indexes, entities[place].unique, entities[place].note) = ([], [], nil)
        }
    }
}
