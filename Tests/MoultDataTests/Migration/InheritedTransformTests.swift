import MoultData
import TestSupport
import Testing

@Suite struct InheritedTransformTests {
    @Test func `a transform of a model is one of its submodels too, whose own values stay`() throws {
        let store = try VersionedStore()
        try store.open(FleetV1.self) { context in
            context.insert(FleetV1.Vehicle(weight: "12 t"))
            context.insert(FleetV1.Ship(weight: "300 t", flag: "GR"))
        }
        try store.open(FleetV2.self, FleetPlan.self) { context in
            let vehicles = try context.fetch(FetchDescriptor<FleetV2.Vehicle>())
            #expect(vehicles.map(\.weight).sorted() == [12, 300])
            let ships = try context.fetch(FetchDescriptor<FleetV2.Ship>())
            #expect(ships.map(\.flag) == ["GR"] && ships.map(\.weight) == [300])
        }
    }
}

private enum FleetV1: VersionedSchema {
    static let versionIdentifier = Schema.Version(1, 0, 0)
    static var models: [any PersistentModel.Type] { [Vehicle.self, Ship.self] }

    @Model class Vehicle {
        var weight: String
        init(weight: String) { self.weight = weight }
    }

    @Model final class Ship: Vehicle {
        var flag: String
        init(weight: String, flag: String) {
            self.flag = flag
            super.init(weight: weight)
        }
    }
}

private enum FleetV2: VersionedSchema {
    static let versionIdentifier = Schema.Version(2, 0, 0)
    static var models: [any PersistentModel.Type] { [Vehicle.self, Ship.self] }

    @Model class Vehicle {
        var weight: Int
        init(weight: Int) { self.weight = weight }
    }

    @Model final class Ship: Vehicle {
        var flag: String
        init(weight: Int, flag: String) {
            self.flag = flag
            super.init(weight: weight)
        }
    }
}

private enum FleetPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [FleetV1.self, FleetV2.self] }
    static var stages: [MigrationStage] {
        [
            .transform(from: FleetV1.Vehicle.self, to: FleetV2.Vehicle.self) { old, new in
                new.weight = Int(old.weight.prefix { $0.isNumber }) ?? 0
            }
        ]
    }
}
