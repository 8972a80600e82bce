import Moult
import MoultEngine
import MoultModelFiles
import MoultObjects
import MoultPlan
import MoultSQLite
import MoultStore
import MoultTesting

// Short names for the types of other modules that a tool's request uses.

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
package typealias ReadOnlyStore = MoultStore.ReadOnlyStore
package typealias RulesFile = Moult.RulesFile
package typealias CallLimit = MoultEngine.CallLimit
package typealias HistoryLimit = MoultEngine.HistoryLimit
package typealias MigrationObserver = MoultEngine.MigrationObserver
package typealias MigrationProgress = MoultEngine.MigrationProgress
package typealias CrashTest = MoultTesting.CrashTest
package typealias KillTest = MoultTesting.KillTest
package typealias FaultMatrix = MoultTesting.FaultMatrix
package typealias StagedPath = MoultEngine.StagedPath
package typealias MoultVersion = MoultEngine.MoultVersion
package typealias Connection = MoultSQLite.Connection
package typealias StoreRecords = MoultEngine.StoreRecords
package typealias BlockingTask = MoultObjects.BlockingTask
package typealias ChangingColumn = MoultTesting.ChangingColumn
