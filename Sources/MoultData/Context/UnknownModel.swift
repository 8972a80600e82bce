import Observation

/// Stands for an object of an entity that the container's schema has not: a model without properties.
final class UnknownModel: PersistentModel {
    static let schemaMetadata = Schema.ModelMetadata(name: "", properties: [])

    var persistentBackingData: any BackingData
    let _$observationRegistrar = ObservationRegistrar()
    var _$ownValues: [OwnValues] { [] }

    init(backingData: any BackingData) { persistentBackingData = backingData }
}
