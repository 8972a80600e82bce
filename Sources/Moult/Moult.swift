// The umbrella: the engine and its reports under one import.
@_exported import MoultEngine
@_exported import MoultReport
