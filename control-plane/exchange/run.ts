import type { Egress } from '../../shared/egress/index.ts'
import type { AddressTools } from '../accounts/addresses/actions.ts'
import type { Limits } from '../accounts/plans.ts'
import type { MonitorTools } from '../monitors/actions.ts'
import type { ParentTools } from '../monitors/parent-actions.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import type { Caller } from '../web/auth.ts'
import type { HeavyWrites } from '../web/heavy-writes.ts'
import type { FindFaults } from '../web/validation.ts'
import type { ProjectFile } from './document.ts'
import type { Ledger } from './ledger.ts'
import type { ProjectState } from './state-reader.ts'

export type ImportTools = Omit<MonitorTools, 'db'> & {
  db: Db
  egress: Egress
  limits: Limits
  relayUrl: string | null
  findFaults: FindFaults
  review: ParentTools['review']
  heavyWrites: HeavyWrites
} & Omit<AddressTools, 'secrets' | 'publicUrl'>

/** An import under way. `tools.db` is its transaction. */
export type Run = {
  tx: Tx
  tools: ImportTools
  caller: Caller
  file: ProjectFile
  /** as it was before */
  state: ProjectState
  ledger: Ledger
  /** what the file does not name is deleted, in the sections that it has */
  isPruning: boolean
  now: Date
}
