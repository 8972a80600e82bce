// Exports everything that importing Core Data includes, and nothing else of MoultCoreData than what has Core Data's own
// name: the folder CoreDataNames has the rest.
@_exported import Foundation

#if !canImport(Darwin)
    // On a Mac, Foundation has UndoManager and the transformers, and Core Data the conflicts.
    @_exported import class MoultCoreData.NSConstraintConflict
    @_exported import class MoultCoreData.NSMergeConflict
    @_exported import class MoultCoreData.NSSecureUnarchiveFromDataTransformer
    @_exported import struct MoultCoreData.NSValueTransformerName
    @_exported import class MoultCoreData.UndoManager
    @_exported import class MoultCoreData.ValueTransformer
#endif
