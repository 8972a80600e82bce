import MoultModel
import MoultReport
import MoultStore
import MoultSystem

extension Verb {
    static let inspect = Verb(
        "inspect", "Show what a store is: its version, entities with rows, framework, metadata.",
        discussion: "Without --model the model that the store carries inside itself tells the entities.",
        operands: [.store], options: [.model, .order],
        examples: ["moult inspect forum.sqlite", "moult inspect forum.sqlite --model Forum.xcdatamodeld --json"]
    ) { invocation, console in
        let store = try invocation.required(Operand.store)
        let versions = try invocation.versionsIfGiven(console)
        // Before any connection is open, whose locks reading the file would undo.
        let header = try? POSIXSystem().read(store, prefix: 100)
        let report = try StoreProbe.read(store) { probe in
            let snapshot = try StoreSnapshot(probe.connection, header: header)
            let recognition = try StoreRecognition(of: snapshot, in: versions)
            let counts = try snapshot.objectCounts(of: recognition.model, over: probe.connection)
            return InspectReport(snapshot, recognition, in: versions, counts: counts)
        }
        console.print(report.document) { report.lines(style: $0) }
        return .done
    }
}

extension Invocation {
    /// The versions of the model that `--model` names; none where it was not given.
    func versionsIfGiven(_ console: Console) throws -> ModelVersions {
        try self[value: .model].map { try versions(at: $0, console) } ?? ModelVersions(versions: [])
    }
}
