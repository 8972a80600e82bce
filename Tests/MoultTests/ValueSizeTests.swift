import Moult
import MoultEngine
import MoultModel
import MoultStore
import Testing

/// A copy of a struct retains each of its words where it is made: large ones were a fifth of the engine's code.
@Suite struct ValueSizeTests {
    @Test func `values that every layer copies are one or two words, and those that hold them stay small`() {
        #expect(MemoryLayout<ManagedObjectModel>.size <= 16)
        #expect(MemoryLayout<StoreLayout>.size == 8)
        #expect(MemoryLayout<BoundPlan>.size == 8)
        #expect(MemoryLayout<StoreSession>.size == 8)
        #expect(MemoryLayout<PreparedMigration>.size <= 704)
        #expect(MemoryLayout<Pass>.size <= 1_000)
    }
}
