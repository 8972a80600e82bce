import MoultData
import MoultTesting
import TestSupport
import Testing

@testable import HabitTracker

@Suite("Example Habits")
struct HabitsTests {
    /// A store of the first version, in a folder of its own.
    private struct Store {
        let folder: ScratchFolder
        let url: URL

        init() throws {
            folder = try ScratchFolder()
            url = URL(fileURLWithPath: folder.path + "/habits.store")
            try HabitSample.make(at: url)
        }

        func open(_ version: any VersionedSchema.Type = HabitsV5.self) throws -> ModelContext {
            ModelContext(
                try ModelContainer(
                    for: Schema(versionedSchema: version), migrationPlan: HabitsPlan.self,
                    configurations: ModelConfiguration(url: url)))
        }

        func sql(_ text: String) throws -> String { try SQLiteShell.run(url.path, text) }
    }

    @Test func `the plan is sound`() throws { try HabitsPlan.validate() }

    @Test func `version 2 has a pin that nobody has set, and everything else as it was`() throws {
        let store = try Store()
        let before = try store.sql("SELECT ZNAME, ZCOLOUR, ZTARGET FROM ZHABIT ORDER BY Z_PK")
        let habits = try store.open(HabitsV2.self).fetch(FetchDescriptor<HabitsV2.Habit>())
        #expect(habits.count == 3 && habits.allSatisfy { !$0.isPinned })
        #expect(try store.sql("SELECT ZNAME, ZCOLOUR, ZTARGET FROM ZHABIT ORDER BY Z_PK") == before)
    }

    @Test func `version 3 keeps values under new names, with and without an original name`() throws {
        let context = try Store().open(HabitsV3.self)
        #expect(try Set(context.fetch(FetchDescriptor<HabitsV3.Habit>()).map(\.tint)) == ["blue", "red", "green"])
        #expect(try context.fetch(FetchDescriptor<HabitsV3.Profile>()).map(\.displayName) == ["Ada"])
    }

    @Test func `version 4 has a number of what was typed`() throws {
        let habits = try Store().open(HabitsV4.self).fetch(FetchDescriptor<HabitsV4.Habit>())
        #expect(
            Dictionary(uniqueKeysWithValues: habits.map { ($0.name, $0.target) }) == ["Water": 8, "Run": 1, "Read": 1])
    }

    @Test func `version 5 has each habit's longest streak, and each category once, with all its habits`() throws {
        let store = try Store()
        let context = try store.open()
        let habits = try context.fetch(FetchDescriptor<HabitsV5.Habit>(sortBy: [SortDescriptor(\.name)]))
        #expect(habits.map(\.name) == ["Read", "Run", "Water"])
        #expect(habits.map { $0.streak?.days } == [nil, 4, 3])
        #expect(habits[1].streak?.lastDay == HabitSample.date(5))
        #expect(habits.map { $0.category?.name } == ["Mind", "Health", "Health"])
        #expect(try store.sql("SELECT count(*) FROM ZCATEGORY WHERE ZNAME = 'Health'") == "1\n")
        // The uniqueness holds from now on: the row that is there is changed.
        context.insert(HabitsV5.Category(name: "Mind"))
        try context.save()
        #expect(try store.sql("SELECT count(*) FROM ZCATEGORY") == "2\n")
    }

    @Test func `no row is lost on the way, and every log still leads to its habit`() throws {
        let store = try Store()
        let logs =
            "SELECT h.ZNAME, l.ZAMOUNT, l.ZDAY FROM ZHABITLOG l JOIN ZHABIT h ON h.Z_PK = l.ZHABIT ORDER BY l.Z_PK"
        let before = try store.sql(logs)
        _ = try store.open()
        #expect(try store.sql(logs) == before)
        #expect(before.split(separator: "\n").count == 11)
        #expect(
            try store.sql("SELECT ZSTEP FROM ZONBOARDING; SELECT ZTITLE, ZSCORE FROM ZANALYSIS")
                == "3\nFirst week|0.75\n")
    }

    @Test func `a streak is the longest row of days, whatever their order and how often they were logged`() {
        func days(_ list: [Int]) -> Int? { HabitsPlan.longestStreak(of: list.map(HabitSample.date))?.days }
        #expect(days([]) == nil)
        #expect(days([7]) == 1)
        #expect(days([3, 1, 2, 2, 9]) == 3)
        #expect(days([0, 2, 4]) == 1)
    }

    @Test func `the commands of the README run as they stand there`() throws {
        let run = try ExampleRun("Habits")
        #expect(run.output(of: "habit-tracker status", 0).contains("1.0.0, 4 behind 5.0.0"), "\(run.output)")
        #expect(run.output(of: "habit-tracker show").contains("Run (Health), 1 a day: 4 days in a row"))
        #expect(run.output(of: "habit-tracker status", 1).contains("1.0.0, 4 behind 5.0.0"))
        #expect(run.output(of: "habit-tracker show", 1) == run.output(of: "habit-tracker show", 0))
        #expect(run.output(of: "moult status").contains("1.0.0, 4 behind 5.0.0"))
    }

    /// The plan with a transform that forgets the names.
    private enum ForgetfulPlan: SchemaMigrationPlan {
        static var schemas: [any VersionedSchema.Type] { HabitsPlan.schemas }
        static var answers: [MigrationAnswer] { HabitsPlan.answers }
        static var stages: [MigrationStage] {
            [
                HabitsPlan.pin, HabitsPlan.rename,
                .transform(from: HabitsV3.Habit.self, to: HabitsV4.Habit.self) { old, new in
                    new.target = old.target.count
                    new.name = "forgotten"
                }, HabitsPlan.findStreaks,
            ]
        }
    }

    @Test func `a broken transform turns exactly the generated pairs red whose way leads over it`() throws {
        let registry = MigrationRegistry(plan: ForgetfulPlan.self)
        let red = try HabitTrackerMigrationTests.pairs.filter { pair in
            try !HabitTrackerMigrationTests.store(pair.from, registry: registry).migrate(pair).isEmpty
        }
        let over = HabitTrackerMigrationTests.pairs.filter { $0.from < "4" && $0.to > "4" }
        #expect(over.count == 6 && red == over, "\(red)")
    }

    @Test func `the app's own container migrates a store of the test kit, and one that does not is reported`() throws {
        let registry = MigrationRegistry(plan: HabitsPlan.self)
        let store = try TestStore(at: "1.0.0", registry: registry, count: 5)
        func open(_ version: any VersionedSchema.Type) -> (String) throws -> ModelContainer {
            { path in
                try ModelContainer(
                    for: Schema(versionedSchema: version), migrationPlan: HabitsPlan.self,
                    configurations: ModelConfiguration(url: URL(fileURLWithPath: path)))
            }
        }
        let second = try store.performMigration(to: "2.0.0", open(HabitsV2.self))
        #expect(try ModelContext(second).fetchCount(FetchDescriptor<HabitsV2.Habit>()) == 5)
        let error = #expect(throws: (any Error).self) { try store.performMigration { _ in } }
        #expect("\(error.map { "\($0)" } ?? "")".contains("of version 2.0.0, not of 5.0.0"))
        let newest = try store.performMigration(open(HabitsV5.self))
        #expect(try ModelContext(newest).fetchCount(FetchDescriptor<HabitsV5.Habit>()) == 5)
        #expect(try store.version == "5.0.0" && store.validate() == [])
    }

    @Test
    func `the app is linted through its own tool, with the rules of its plan and the profile of CloudKit`() throws {
        let tool = try ExampleTool("habit-tracker")
        let plain = try tool("lint")
        #expect(plain.exit == 0 && plain.output.contains(" in 5 versions."), "\(plain.output)")
        // In the package, a finding has the file and line of the declaration.
        let here = try ChildProcess.run(
            "\(ExampleRun.tools)/habit-tracker", ["lint", "--profile", "cloudkit", "--json"],
            folder: packageRoot.path)
        let document = try JSONSerialization.jsonObject(with: Data(here.output.utf8)) as? [String: Any]
        let found = try #require(document?["findings"] as? [[String: Any]], "\(here)")
        let name = try #require(found.first { $0["rule"] as? String == "SYNC001" })
        let file = try #require(name["file"] as? String)
        #expect(file.hasPrefix("Examples/Habits/Sources/HabitTracker/Versions/"), "\(file)")
        let lines = try String(contentsOf: packageRoot.appendingPathComponent(file), encoding: .utf8)
            .components(separatedBy: "\n")
        #expect(
            lines[try #require(name["line"] as? Int) - 1].contains("@Attribute(.unique) public var name"), "\(name)")
        let cloud = try tool("lint", "--profile", "cloudkit")
        #expect(cloud.exit == 1 && cloud.output.contains("[SYNC001]"), "\(cloud.output)")
        #expect(cloud.output.contains("Category.name") && !cloud.output.contains("=\""), "\(cloud.output)")
        // A released version that the plan does not have any more.
        #expect(try tool("lock").exit == 0)
        let path = tool.folder.path + "/moult.lock"
        let lock = try String(contentsOfFile: path, encoding: .utf8)
        try lock.replacing("\"5.0.0\"", with: "\"6.0.0\"").write(toFile: path, atomically: true, encoding: .utf8)
        try SchemaFiles.changeHash(ofVersion: "6.0.0", inLock: path)
        let edited = try tool("lint")
        #expect(edited.exit == 1 && edited.output.contains("[OPEN00"), "\(edited.output)")
    }
}
