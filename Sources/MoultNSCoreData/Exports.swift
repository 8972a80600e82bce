// Core Data's import brings Foundation along; so does this one.
@_exported import Foundation

// Foundation has UndoManager on a Mac.
#if !canImport(Darwin)
    @_exported import class MoultCoreData.UndoManager
#endif
