// Like SwiftData, importing this module also imports Foundation and Observation.
@_exported import Foundation
@_exported import Observation

// On a Mac, Foundation has UndoManager.
#if !canImport(Darwin)
    @_exported public import class MoultCoreData.UndoManager
#endif
