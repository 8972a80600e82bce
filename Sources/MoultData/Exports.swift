// SwiftData's import brings Foundation and Observation along; so does this one.
@_exported import Foundation
@_exported import Observation
// Foundation has it on a Mac.
@_exported import MoultUndo
