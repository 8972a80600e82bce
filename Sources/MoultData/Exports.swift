// SwiftData's import brings Foundation and Observation along; so does this one.
@_exported import Foundation
// Foundation has UndoManager on a Mac.
@_exported import MoultUndo
@_exported import Observation
