import MoultEngine
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultTesting

// The words of other modules that a request to a tool needs.

package typealias ExportSelection = StoreExport.Selection
package typealias ExportFormat = ExportWriter.Format
package typealias SampleData = MoultObjects.SampleData
package typealias FleetState = FleetResult.State
package typealias ClassAPI = CoreDataClasses.API
package typealias ModelBundle = MoultModelFiles.ModelBundle
package typealias ModelLock = MoultModelFiles.ModelLock
package typealias MappingModelFile = MoultModelFiles.MappingModelFile
package typealias AnswersFile = MoultModelFiles.AnswersFile
package typealias Answers = MoultPlan.Answers
package typealias Answer = MoultPlan.Answer
package typealias StoreProbe = MoultStore.StoreProbe
package typealias RulesFile = MoultObjects.RulesFile
package typealias DeferredLimit = MoultEngine.DeferredLimit
package typealias MigrationObserver = MoultEngine.MigrationObserver
package typealias MigrationProgress = MoultEngine.MigrationProgress
package typealias CrashTest = MoultTesting.CrashTest
package typealias KillTest = MoultTesting.KillTest
package typealias FaultMatrix = MoultTesting.FaultMatrix
package typealias UnfinishedPath = MoultEngine.UnfinishedPath
package typealias MoultVersion = MoultEngine.MoultVersion
package typealias Connection = MoultSQLite.Connection
package typealias Sidecar = MoultEngine.Sidecar
package typealias BlockingTask = MoultObjects.BlockingTask
package typealias ChangingColumn = MoultTesting.ChangingColumn
