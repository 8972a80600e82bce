// SwiftData under its own name: Documentation/OneSourceTwoPlatforms.md.
@_exported import MoultData
