import type { Egress } from '../../../../shared/egress/types.ts'
import type { AddressTools } from '../../../accounts/email/confirmation/actions.ts'
import type { InstallationLimits } from '../../../accounts/plans/plans.ts'
import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import type { ApiCaller } from '../../../foundation/web/auth/authentication.ts'
import type { HeavyWrites } from '../../../foundation/web/limits/heavy-writes.ts'
import type { FindFaults } from '../../../foundation/web/validation/validation-errors.ts'
import type { MonitorTools } from '../../../monitoring/monitors/actions.ts'
import type { ParentTools } from '../../../monitoring/monitors/parents/actions.ts'
import type { ProjectFile } from '../file/project-file.ts'
import type { ProjectState } from '../project-reader.ts'
import type { ImportReport } from './import-report.ts'

export type ImportTools = Omit<MonitorTools, 'db'> & {
  db: Db
  egress: Egress
  limits: InstallationLimits
  relayUrl: string | null
  findFaults: FindFaults
  review: ParentTools['review']
  heavyWrites: HeavyWrites
} & Omit<AddressTools, 'secrets' | 'publicUrl'>

/** An import in progress. `tools.db` is its transaction. */
export type ImportRun = {
  tx: Tx
  tools: ImportTools
  caller: ApiCaller
  file: ProjectFile
  /** the project before the import */
  state: ProjectState
  report: ImportReport
  /** records that the file does not name are deleted, in the sections that it has */
  isPruning: boolean
  /** records of the file were left out before the import, so that the file does not name all that its product has */
  isPartial: boolean
  now: Date
}
