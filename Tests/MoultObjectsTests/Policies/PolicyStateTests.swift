import MoultModel
import MoultObjects
import Testing

struct PolicyStateTests {
    private class Plain: EntityMigrationPolicy {
        var computed: Int { 1 }
        override var functions: [String: ValueTransform] { [:] }
    }
    private class Counting: EntityMigrationPolicy { var count = 0 }
    private final class Caching: EntityMigrationPolicy { lazy var names = ["a"] }
    private final class Inheriting: Counting {}
    private final class Constant: Counting { override var keepsState: Bool { false } }
    private final class Hiding: Plain { override var keepsState: Bool { true } }

    @Test func `a policy keeps state if it has stored properties, or says so`() {
        #expect(!EntityMigrationPolicy().keepsState && !Plain().keepsState && !Constant().keepsState)
        #expect(Counting().keepsState && Caching().keepsState && Inheriting().keepsState && Hiding().keepsState)
    }
}
