// Core Data's import brings Foundation along; so does this one.
@_exported import Foundation
// Foundation has UndoManager on a Mac.
@_exported import MoultUndo
