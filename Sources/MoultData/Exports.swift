// SwiftData's import brings Foundation and Observation along; so does this one.
@_exported import Foundation
@_exported import Observation

// Foundation has UndoManager on a Mac.
#if !canImport(Darwin)
    @_exported public import class MoultCoreData.UndoManager
#endif
