// SwiftData under its own name: Documentation/OneSourceTwoPlatforms.md. Only what SwiftData has, so that nothing else of
// Moult's stands in the way of an app's own names.
@_exported import Foundation
public import MoultData
@_exported import Observation

// Foundation has it on a Mac.
@_exported import class MoultCoreData.UndoManager
@_exported import protocol MoultData.BackingData
@_exported import protocol MoultData.DataStore
@_exported import protocol MoultData.DataStoreConfiguration
@_exported import enum MoultData.DataStoreError
@_exported import struct MoultData.DataStoreFetchRequest
@_exported import struct MoultData.DataStoreFetchResult
@_exported import struct MoultData.DataStoreSaveChangesRequest
@_exported import class MoultData.DataStoreSaveChangesResult
@_exported import protocol MoultData.DataStoreSnapshot
@_exported import enum MoultData.DataStoreSnapshotCodingKey
@_exported import struct MoultData.DefaultHistoryDelete
@_exported import struct MoultData.DefaultHistoryInsert
@_exported import struct MoultData.DefaultHistoryToken
@_exported import struct MoultData.DefaultHistoryTransaction
@_exported import struct MoultData.DefaultHistoryUpdate
@_exported import class MoultData.DefaultSerialModelExecutor
@_exported import struct MoultData.DefaultSnapshot
@_exported import class MoultData.DefaultStore
@_exported import struct MoultData.EditingState
@_exported import struct MoultData.FetchDescriptor
@_exported import struct MoultData.FetchResultsCollection
@_exported import enum MoultData.HistoryChange
@_exported import protocol MoultData.HistoryDelete
@_exported import struct MoultData.HistoryDescriptor
@_exported import protocol MoultData.HistoryInsert
@_exported import class MoultData.HistoryObserver
@_exported import protocol MoultData.HistoryProviding
@_exported import protocol MoultData.HistoryToken
@_exported import struct MoultData.HistoryTombstone
@_exported import protocol MoultData.HistoryTransaction
@_exported import protocol MoultData.HistoryUpdate
@_exported import enum MoultData.MigrationStage
@_exported import struct MoultData.ModelConfiguration
@_exported import class MoultData.ModelContainer
@_exported import class MoultData.ModelContext
@_exported import protocol MoultData.ModelExecutor
@_exported import typealias MoultData.NSSecureUnarchiveFromDataTransformer
@_exported import typealias MoultData.NSValueTransformerName
@_exported import class MoultData.OwnValues
@_exported import struct MoultData.PersistentIdentifier
@_exported import protocol MoultData.PersistentModel
@_exported import protocol MoultData.PersistentValue
@_exported import protocol MoultData.RelationshipCollection
@_exported import class MoultData.ResultsObserver
@_exported import struct MoultData.ResultsSection
@_exported import class MoultData.Schema
@_exported import protocol MoultData.SchemaMigrationPlan
@_exported import protocol MoultData.SchemaProperty
@_exported import struct MoultData.SectionedResults
@_exported import protocol MoultData.SerialModelExecutor
@_exported import struct MoultData.SwiftDataError
@_exported import typealias MoultData.ValueTransformer
@_exported import protocol MoultData.VersionedSchema
@_exported import struct MoultData._CodableProperty
@_exported import struct MoultData._Kept
@_exported import struct MoultData._LocalizedOrder
@_exported import protocol MoultData._ModelActor
@_exported import protocol MoultData._ModelProperty
@_exported import struct MoultData._OptionalRawValueProperty
@_exported import struct MoultData._OptionalToOneProperty
@_exported import enum MoultData._PropertyShape
@_exported import struct MoultData._RawValueProperty
@_exported import struct MoultData._ToManyProperty
@_exported import struct MoultData._ToOneProperty
@_exported import struct MoultData._TransformedProperty
@_exported import struct MoultData._ValueProperty
@_exported import func MoultData._encodedProperty
@_exported import func MoultData._property

/// An actor with a context of its own. A typealias, because a macro has the same name.
public typealias ModelActor = MoultData._ModelActor

// An operator cannot be exported by name.

extension PersistentModel {
    /// Whether both are the same object in memory.
    public static func == (left: Self, right: Self) -> Bool { left === right }
}

extension SwiftDataError {
    /// Lets `catch SwiftDataError.unknownSchema` match.
    public static func ~= (left: SwiftDataError, right: any Error) -> Bool { left == right as? SwiftDataError }
}
