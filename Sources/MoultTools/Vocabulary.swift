import MoultCare
import MoultEngine
import MoultExport
import MoultFleet
import MoultGenerate
import MoultLint
import MoultMirror
import MoultModel
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultReport
import MoultSQLite
import MoultStore
import MoultTesting
import MoultTransform

// The words of other modules that a request to a tool needs.

package typealias LintRule = MoultLint.LintRule
package typealias StandInRules = MoultExport.StandInRules
package typealias ExportSelection = MoultExport.StoreExport.Selection
package typealias ExportFormat = MoultExport.ExportWriter.Format
package typealias SampleData = MoultObjects.SampleData
package typealias FleetStatus = MoultFleet.FleetStatus
package typealias FleetPolicy = MoultFleet.FleetPolicy
package typealias FleetState = MoultFleet.FleetResult.State
package typealias ClassAPI = MoultGenerate.CoreDataClasses.API
package typealias ModelBundle = MoultModelFiles.ModelBundle
package typealias ModelLock = MoultModelFiles.ModelLock
package typealias MappingModelFile = MoultModelFiles.MappingModelFile
package typealias AnswersFile = MoultModelFiles.AnswersFile
package typealias Answers = MoultPlan.Answers
package typealias Answer = MoultPlan.Answer
package typealias Question = MoultPlan.Question
package typealias StoreProbe = MoultStore.StoreProbe
package typealias RulesFile = MoultTransform.RulesFile
package typealias DeferredLimit = MoultEngine.DeferredLimit
package typealias MigrationObserver = MoultEngine.MigrationObserver
package typealias MigrationProgress = MoultEngine.MigrationProgress
package typealias MirroredStore = MoultMirror.MirroredStore
package typealias StoreDiagnosis = MoultCare.StoreDiagnosis
package typealias BugReportBundle = MoultCare.BugReportBundle
package typealias Diagram = MoultExport.Diagram
package typealias Graphviz = MoultExport.Graphviz
package typealias RunProfile = MoultExport.RunProfile
package typealias CrashTest = MoultTesting.CrashTest
package typealias KillTest = MoultTesting.KillTest
package typealias FaultMatrix = MoultTesting.FaultMatrix
package typealias Lint = MoultLint.Lint
package typealias LintSubject = MoultLint.LintSubject
package typealias LintRelease = MoultLint.LintRelease
package typealias UnfinishedPath = MoultEngine.UnfinishedPath
package typealias MoultVersion = MoultEngine.MoultVersion
package typealias Connection = MoultSQLite.Connection
package typealias Sidecar = MoultEngine.Sidecar
package typealias BlockingTask = MoultTransform.BlockingTask
package typealias ChangingColumn = MoultTesting.ChangingColumn
