import Foundation
import SwiftData
import Testing

@testable import HabitTrackerApp

@MainActor
@Suite struct HabitStoreTests {
    let controller: DataController
    var context: ModelContext { controller.container.mainContext }

    init() throws { controller = try DataController(inMemory: true) }

    @Test func habitsAreAddedSearchedAndSorted() throws {
        try SampleData.insert(into: context)
        let store = HabitStore(modelContext: context)
        #expect(store.habits.map(\.name) == ["Drink water", "Read", "Run"])
        store.searchText = "r"
        #expect(store.habits.count == 3)
        store.searchText = "RUN"
        #expect(store.habits.map(\.name) == ["Run"])
        store.searchText = ""
        store.addHabit(named: "Write")
        store.sort = .startDate
        #expect(store.habits.first?.name == "Write")
        store.archive(store.habits[0])
        #expect(store.habits.count == 3 && store.errorMessage == nil)
    }

    @Test func deletingAHabitDeletesItsCompletions() throws {
        try SampleData.insert(into: context)
        let store = HabitStore(modelContext: context)
        let index = try #require(store.habits.firstIndex { $0.name == "Read" })
        store.delete(at: IndexSet(integer: index))
        #expect(try context.fetchCount(FetchDescriptor<Completion>()) == 0)
        #expect(try context.fetch(FetchDescriptor<HabitTrackerApp.Category>()).count == 2)
    }

    @Test func togglingCompletes() throws {
        let store = HabitStore(modelContext: context)
        let habit = store.addHabit(named: "Walk")
        let calendar = Calendar.current
        for day in 0..<3 {
            store.toggle(habit, on: calendar.date(byAdding: .day, value: -day, to: .now)!)
        }
        #expect(StreakCalculator().currentStreak(of: habit) == 3)
        store.toggle(habit)
        #expect(StreakCalculator().currentStreak(of: habit) == 0)
        #expect(habit.completionCount == 2)
        #expect(try context.fetchCount(FetchDescriptor<Completion>()) == 2)
    }

    @Test func predicatesFindByCategoryAndDate() throws {
        try SampleData.insert(into: context)
        let health = try context.fetch(FetchDescriptor<Habit>(predicate: Habit.inCategory("Health")))
        #expect(Set(health.map(\.name)) == ["Run", "Drink water"])
        let recent = FetchDescriptor<Habit>(predicate: Habit.completed(since: .now.addingTimeInterval(-3600)))
        #expect(try context.fetch(recent).map(\.name) == ["Read"])
        #expect(try Statistics(context: context).completions == 1)
    }

    @Test func schedulesAreKept() throws {
        let habit = Habit(name: "Gym", schedule: .custom)
        habit.customDays = [2, 4]
        context.insert(habit)
        try context.save()
        let found = try #require(try ModelContext(controller.container).fetch(FetchDescriptor<Habit>()).first)
        #expect(found.schedule == .custom && found.customDays == [2, 4] && found.id == habit.id)
        let monday = DateComponents(calendar: .current, year: 2040, month: 1, day: 2).date!
        #expect(found.isDue(on: monday) && !found.isDue(on: monday.addingTimeInterval(86_400)))
    }

    @Test func anImporterWorksInTheBackground() async throws {
        let importer = HabitImporter(modelContainer: controller.container)
        let dates = [Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 86_400)]
        let ids = try await importer.importRecords([
            HabitRecord(name: "Swim", category: "Sport", dates: dates), HabitRecord(name: "Climb", category: "Sport"),
        ])
        try await importer.rename(ids[1], to: "Boulder")
        #expect(
            try await importer.exportRecords() == [
                HabitRecord(name: "Boulder", category: "Sport"),
                HabitRecord(name: "Swim", category: "Sport", dates: dates),
            ])
        let habit = context.model(for: ids[0]) as? Habit
        #expect(habit?.name == "Swim")
        #expect(try context.fetchCount(FetchDescriptor<HabitTrackerApp.Category>()) == 1)
        try await importer.deleteArchived()
        #expect(try context.fetchIdentifiers(FetchDescriptor<Habit>()).count == 2)
    }

    @Test func theAppHasItsOwnNames() throws {
        try SampleData.insert(into: context)
        let url = FileManager.default.temporaryDirectory.appending(path: "names-\(UUID().uuidString)")
        try BackupManager().export(from: context, to: url)
        #expect(try JSONDecoder().decode([String].self, from: Data(contentsOf: url)).count == 3)
        try FileManager.default.removeItem(at: url)
        #expect(MigrationLogger().sentence == "3 versions")
        let models: [any DataModel] = try context.fetch(FetchDescriptor<Habit>())
        #expect(models.map(\.title).sorted().first == "Drink water")
    }

    @Test func thePreviewHasHabits() throws {
        #expect(try DataController.preview.container.mainContext.fetchCount(FetchDescriptor<Habit>()) == 3)
    }
}

@MainActor
@Suite struct HabitMigrationTests {
    let url = FileManager.default.temporaryDirectory.appending(path: "habits-\(UUID().uuidString).store")

    private func container(_ version: any VersionedSchema.Type) throws -> ModelContainer {
        let schema = Schema(versionedSchema: version)
        return try ModelContainer(
            for: schema, migrationPlan: HabitMigrationPlan.self,
            configurations: [ModelConfiguration(schema: schema, url: url)])
    }

    @Test func version1ComesToVersion3() throws {
        let old = try container(SchemaV1.self)
        let habit = SchemaV1.Habit(name: "Run", color: "#FF0000")
        old.mainContext.insert(habit)
        habit.completions = [SchemaV1.Completion(date: .now), SchemaV1.Completion(date: .distantPast)]
        try old.mainContext.save()

        let new = try DataController(url: url).container
        let found = try #require(try new.mainContext.fetch(FetchDescriptor<Habit>()).first)
        #expect(found.name == "Run" && found.colorHex == "#FF0000" && found.completionCount == 2)
        #expect(found.schedule == .daily && found.reminders.isEmpty && found.category == nil)
    }

    @Test func categoriesOfOneTitleAreMerged() throws {
        let old = try container(SchemaV2.self)
        for name in ["Run", "Swim"] {
            let habit = SchemaV2.Habit(name: name)
            old.mainContext.insert(habit)
            habit.category = SchemaV2.Category(title: "Sport")
        }
        try old.mainContext.save()
        let new = try DataController(url: url).container
        let categories = try new.mainContext.fetch(FetchDescriptor<HabitTrackerApp.Category>())
        #expect(categories.map(\.title) == ["Sport"])
        #expect(categories.first?.habits?.count == 2)
    }
}
