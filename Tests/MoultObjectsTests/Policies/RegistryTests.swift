import MoultObjects
import Testing

struct RegistryTests {
    @Test func `a registry begins without code`() {
        #expect(MigrationRegistry().steps.isEmpty)
    }
}
