import MoultEngine
import MoultModel

extension Diagram {
    /// Creates a time line of what was done to a store, oldest first, and of its present state.
    ///
    /// - Parameters:
    ///   - now: what the store's version is called; empty if it is not known.
    ///   - versions: the versions of its model, oldest first; empty without a model.
    package init(history runs: [StoreRun], store: String, now: String, versions: [String] = []) {
        self.init(title: store)
        for name in versions {
            boxes.append(Box(name, kind: nil, mark: name == now ? .renamed : .none, group: "versions"))
        }
        for place in boxes.indices.dropFirst() { links.append(Link(from: place - 1, to: place, kind: .flow)) }
        let start = boxes.count
        for run in runs {
            let mark: Mark = run.result == .done || run.result == .recovered ? .added : .removed
            var lines = [Line("\(run.from) → \(run.to)")]
            lines.append(
                Line("\(run.result.rawValue), \(Quantity.count(run.rows, "row")), \(Quantity.duration(run.seconds))"))
            if let backup = run.backup { lines.append(Line("backup \(backup)")) }
            if let error = run.error { lines.append(Line(error, .removed)) }
            lines += run.losses.prefix(4).map { Line($0.sentence, .changed) }
            boxes.append(
                Box("\(run.startTime) \(run.operation.rawValue)", lines: lines, mark: mark, group: "runs"))
        }
        boxes.append(Box("now", lines: [Line(now.isEmpty ? "of an unknown version" : now)], group: "runs"))
        for place in boxes.indices.dropFirst(start + 1) {
            links.append(Link(from: place - 1, to: place, kind: .flow))
        }
    }
}
