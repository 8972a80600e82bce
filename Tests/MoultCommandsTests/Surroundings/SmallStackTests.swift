import Foundation
import TestSupport
import Testing

/// The stacks of a process's threads are as small as those of other systems.
@Suite("Small stacks")
struct SmallStackTests {  // tier: long
    @Test(arguments: VerbExample.tried.filter { !$0.isTrial })
    func `every verb does its work on stacks of 256 kB`(example: VerbExample) throws {
        let moult = try example.fixture()
        let result = try moult.shell("ulimit -s 256; " + example.command)
        #expect(result.exit == 0, "\(result)")
    }
}
