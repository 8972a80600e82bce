// Like SwiftData, importing this module also imports Foundation and Observation.
@_exported import Foundation
@_exported import Observation

// An app's launch, so that one import is enough.
@_exported public import class MoultSession.LaunchProgress
@_exported public import struct MoultSession.StoreLaunch

// On a Mac, Foundation has UndoManager.
#if !canImport(Darwin)
    @_exported public import class MoultCoreData.UndoManager
#endif
