import type { Metrics } from '../../../shared/process/metrics.ts'
import type { ProcessRole } from '../../config.ts'
import { createPostgres, type Db, getPoolUsage, type PoolOptions } from '../../foundation/platform/postgres/client.ts'
import {
  createStaleConnectionSignal,
  type StaleConnectionSignal,
} from '../../foundation/platform/postgres/dead-connections.ts'
import type { ApiTimeLimits } from './time-limits.ts'

/**
 * One pool for each role of the process, `leases` for short queries that must not wait for other work, and `admissions`
 * of the role `fleet` for probes that connect.
 */
type PoolName = ProcessRole | 'leases' | 'admissions'

type Limits = Pick<PoolOptions, 'max' | 'statementMs' | 'lockMs'> & Partial<PoolOptions>

/**
 * Separate pools, so that a busy API cannot take the connections of verdicts (docs/design/loops.md#pools). The sum is the
 * maximum of one process (docs/sizing.md). Rounds of critical loops may take 30 s, so their statements have lower limits.
 */
const POOLS: Record<PoolName, Limits> = {
  // a lease ends after 7 s
  leases: { max: 2, statementMs: 4_000, lockMs: 2_000, silenceMs: 5_000, acquireMs: 5_000 },
  // a new owner of a partition loads all its monitors in one statement; the critical loops of the role have lower limits
  verdict: { max: 8, statementMs: 120_000, lockMs: null },
  fleet: { max: 4, statementMs: 10_000, lockMs: null },
  // anyone who reaches the gRPC port can cause its look-ups
  admissions: { max: 2, statementMs: 10_000, lockMs: null },
  deliver: { max: 6, statementMs: 10_000, lockMs: null },
  record: { max: 2, statementMs: 10_000, lockMs: null },
  schedule: { max: 4, statementMs: 20_000, lockMs: null },
  // its limits are in time-limits.ts
  api: { max: 14, statementMs: null, lockMs: null },
}

/** Work that is repeated fails early, so that another connection can be tried. */
const OPENING = { connectMs: 5_000, acquireMs: 10_000 }

export type Pools = {
  leases: Db
  suspicion: StaleConnectionSignal
  forRole(role: ProcessRole): Db
  /** Of a process with the role `fleet`; throws for others. */
  getAdmissions(): Db
  destroy(): Promise<void>
}

export function createPools(
  url: string,
  roles: ProcessRole[],
  metrics: Metrics,
  { acquireMs, statementMs, lockMs }: ApiTimeLimits,
): Pools {
  const suspicion = createStaleConnectionSignal()
  const names: PoolName[] = ['leases', ...roles]
  if (roles.includes('fleet')) names.push('admissions')
  const limits = { ...POOLS, api: { ...POOLS.api, acquireMs, statementMs, lockMs } }
  const pools = new Map(
    names.map(name => [name, createPostgres(url, { ...OPENING, ...limits[name], name, suspicion })]),
  )
  measurePools(metrics, pools)
  const of = (name: PoolName) => {
    const pool = pools.get(name)
    if (!pool) throw new Error(`this process has no pool for ${name}`)
    return pool
  }
  return {
    leases: of('leases'),
    suspicion,
    forRole: of,
    getAdmissions: () => of('admissions'),
    async destroy() {
      await Promise.all([...pools.values()].map(pool => pool.destroy()))
    },
  }
}

function measurePools(metrics: Metrics, pools: ReadonlyMap<PoolName, Db>): void {
  const size = metrics.gauge('picket_postgres_pool_size', 'Connections that a pool may have', ['pool'])
  const used = metrics.gauge('picket_postgres_pool_connections', 'Connections of a pool', ['pool', 'state'])
  const waiting = metrics.gauge('picket_postgres_pool_waiting', 'Queries that wait for a connection', ['pool'])
  metrics.beforeRender(() => {
    for (const [pool, db] of pools) {
      const use = getPoolUsage(db)
      size.set({ pool }, POOLS[pool].max)
      used.set({ pool, state: 'in_use' }, use.inUse)
      used.set({ pool, state: 'idle' }, use.idle)
      waiting.set({ pool }, use.waiting)
    }
  })
}
