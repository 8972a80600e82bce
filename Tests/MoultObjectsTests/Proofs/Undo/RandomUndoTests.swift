import TestSupport
import Testing

/// What is undone and redone ends as the reference was, whatever was done and saved in between.
struct RandomUndoTests {
    @Test(arguments: UInt64(1)...8)
    func `undo and redo end as the reference was`(seed: UInt64) throws {
        let run = try UndoRun(seed: seed, count: 250)
        try run.start()
        #expect(run.undone > 40)
    }
}

@Suite(.enabled(if: Tier.matrix.isAsked))
struct RandomUndoMatrixTests {
    @Test func `undo and redo of 15,000 random operations end as the reference was`() throws {
        var undone = 0
        for round in Tier.matrix.rounds(quick: 0, full: 30) {
            let run = try UndoRun(seed: UInt64(5000 + round), count: 500)
            try run.start()
            undone += run.undone
        }
        print("RandomUndo: \(undone) steps taken back")
    }
}
