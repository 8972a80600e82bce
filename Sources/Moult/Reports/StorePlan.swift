import MoultModel
import MoultReport

/// The plan of what a migration of a store will do: a value to print, to keep and to compare.
///
/// A plan that was kept as JSON can be given to ``Project/migrate(_:to:following:options:)``, which refuses a store that
/// has changed since.
public struct StorePlan: Sendable, Hashable {
    private let document: JSONValue

    init(_ document: JSONValue) { self.document = document }

    /// Reads a plan that was kept: ``json``, or what `moult plan --json` printed.
    ///
    /// - Throws: `usage` for a text that is no plan.
    public init(json: String) throws {
        document = try JSONValue(parsing: Array(json.utf8), place: "the plan", code: .usage)
        guard document["format"]?.integer == 1, document["edges"]?.array != nil, document["from"]?.string != nil,
            document["to"]?.string != nil
        else {
            throw MigrationError(
                .usage, "The text is not a plan of format 1.", place: "the plan",
                remedy: "Give the JSON of a plan, or the output of moult plan --json.")
        }
    }

    /// The plan as JSON, on one line, with the members that Documentation/CommandLine.md describes.
    public var json: String { document.compact }

    var kept: KeptPlan { KeptPlan(document, place: "the plan") }
}

// MARK: - What it says

extension StorePlan {
    /// One step from a version to a later one.
    public struct Edge: Sendable, Hashable {
        /// The name of the older version.
        public let from: String
        /// The name of the newer version.
        public let to: String
        /// One sentence for each change, or for the app's code that makes it.
        public let sentences: [String]
        /// Whether the mapping is inferred.
        public let isInferred: Bool
        /// Whether something of the older version is not in the newer one.
        public let losesData: Bool
        /// The way to undo the step, in one sentence.
        public let undo: String
    }

    /// Something that the migration will not carry over.
    public struct Loss: Sendable, Hashable {
        /// `Entity`, `Entity.property` or an object of the app's own, such as an index.
        public let place: String
        /// A sentence that says what is lost and why.
        public let sentence: String
        /// The number of rows, values or links; nil if it cannot be counted before the migration runs.
        public let count: Int64?
        /// Whether the migration is refused for it unless it is declared.
        public let isRefused: Bool
        /// The code that declares it; nil if it needs none.
        public let remedy: String?
    }

    /// The reason why the migration would be refused.
    public struct Refusal: Sendable, Hashable {
        /// The name of the error's code, such as `lossNotAccepted`.
        public let code: String
        /// A description of what was found.
        public let message: String
        /// The remedy: what to do next.
        public let remedy: String
    }

    /// The path of the store, without symbolic links.
    public var store: String { text("store") }
    /// The name of the store's version.
    public var from: String { text("from") }
    /// The name of the version to end at.
    public var to: String { text("to") }
    /// The names of the versions on the way, the first and the last included.
    public var versionNames: [String] { list("versions").compactMap(\.string) }
    /// Whether there is nothing to do.
    public var isEmpty: Bool { list("edges").isEmpty }
    /// The steps, in order.
    public var edges: [Edge] { list("edges").map(Edge.init) }
    /// The number of passes over the rows.
    public var passes: Int { Int(document["passes"]?.integer ?? 0) }
    /// Objects of the store by entity.
    public var rowCounts: [String: Int64] {
        list("entities").reduce(into: [:]) { $0[$1["name"]?.string ?? ""] = $1["rows"]?.integer ?? 0 }
    }
    /// The size of the store in bytes.
    public var bytes: Int64 { document["bytes"]?.integer ?? 0 }
    /// The losses: everything that will not be in the new store.
    public var losses: [Loss] { list("losses").map(Loss.init) }
    /// The findings in the store, in the plan and in the rows.
    public var findings: [Finding] { list("findings").map(Finding.init) }
    /// The estimated time of the longest piece of work that cannot be interrupted, which a budget must have room for; nil
    /// if there is nothing to do.
    public var longestUnit: Duration? { document["longestUnit"]?["seconds"]?.double.map { .seconds($0) } }
    /// The estimated time of the whole migration; nil if it would be refused, or there is nothing to do.
    public var duration: Duration? { document["seconds"]?.double.map { .seconds($0) } }
    /// The reason why the migration would be refused; nil if it would run.
    public var refusal: Refusal? { document["error"].map(Refusal.init) }
    /// The statements; empty unless they were asked for.
    public var sql: [String] { list("statements").compactMap { $0["sql"]?.string } }

    private func text(_ key: String) -> String { document[key]?.string ?? "" }
    private func list(_ key: String) -> [JSONValue] { document[key]?.array ?? [] }
}

extension StorePlan: CustomStringConvertible {
    /// The versions, then one line for each change, loss and finding.
    public var description: String {
        guard !isEmpty else { return "The store is already of version \(to.printable). There is nothing to do." }
        var lines = [versionNames.joined(separator: " → ")]
        for edge in edges {
            lines += ["\(edge.from) → \(edge.to)"] + edge.sentences.map { "  \($0)" } + ["  \(edge.undo)"]
        }
        lines += losses.map { "! \($0.sentence)" }
        lines += findings.filter { $0.severity > .note }.map { "\($0.severity.rawValue) [\($0.code)] \($0.message)" }
        if let refusal { lines += ["refused [\(refusal.code)] \(refusal.message)"] }
        return lines.map(\.printableLines).joined(separator: "\n")
    }
}

// MARK: - Reading

extension StorePlan.Edge {
    fileprivate init(_ json: JSONValue) {
        from = json["from"]?.string ?? ""
        to = json["to"]?.string ?? ""
        let own = (json["sentences"]?.array ?? []).compactMap(\.string)
        sentences = own + (json["steps"]?.array ?? []).compactMap { $0["sentence"]?.string }
        isInferred = json["inferred"]?.bool ?? false
        losesData = json["losesData"]?.bool ?? false
        undo = json["undo"]?.string ?? ""
    }
}

extension StorePlan.Loss {
    fileprivate init(_ json: JSONValue) {
        let parts = [json["entity"]?.string, json["member"]?.string]
        place = parts.compactMap(\.self).joined(separator: ".")
        sentence = json["sentence"]?.string ?? ""
        count = json["count"]?.integer
        isRefused = json["fate"]?.string == "refused"
        remedy = json["remedy"]?.string
    }
}

extension StorePlan.Refusal {
    fileprivate init(_ json: JSONValue) {
        code = json["code"]?.string ?? ""
        message = json["message"]?.string ?? ""
        remedy = json["remedy"]?.string ?? ""
    }
}

extension Finding {
    fileprivate init(_ json: JSONValue) {
        self.init(
            code: json["code"]?.string ?? "", severity: json["severity"]?.string.flatMap(Severity.init) ?? .note,
            place: json["place"]?.string ?? "", message: json["message"]?.string ?? "",
            remedy: json["remedy"]?.string ?? "")
        keys = (json["keys"]?.array ?? []).compactMap(\.integer)
        values = (json["values"]?.array ?? []).compactMap(\.string)
    }
}
