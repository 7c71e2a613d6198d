/** Imports of a database of Uptime Kuma as a job: the plan, the apply, and how long a create of the same project waits meanwhile. */
import { setTimeout as pause } from 'node:timers/promises'
import { buildLargeKumaDatabase } from '../support/kuma-database.ts'
import { startPicket } from '../support/picket.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure } from './rig.ts'

type Aim = { monitors: number; planS: number; applyS: number }
const AIMS: Aim[] = [
  { monitors: 1_000, planS: 2, applyS: 3 },
  { monitors: 10_000, planS: 20, applyS: 30 },
]

export async function benchImport(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const aim of AIMS) {
    const { api } = await startPicket(t, { regions: [] })
    figures.push(...(await measure(api, aim)))
  }
  return figures
}

type Api = Awaited<ReturnType<typeof startPicket>>['api']

async function measure(api: Api, { monitors, planS, applyS }: Aim): Promise<Figure[]> {
  const name = `import of ${monitors.toLocaleString('en')} monitors from kuma.db`
  const startedMs = performance.now()
  const { body } = await api.post('/imports?from=uptime-kuma', buildLargeKumaDatabase(monitors), {
    'content-type': 'application/octet-stream',
  })
  const path = `/imports/${body.data.id}`
  await ended(api, path, 'ready')
  const plannedS = (performance.now() - startedMs) / 1_000
  const creating = startCreates(api)
  const applyMs = performance.now()
  await api.post(`${path}/apply`)
  await ended(api, path, 'applied')
  const appliedS = (performance.now() - applyMs) / 1_000
  const longestMs = await creating.stop()
  return [
    figure(`${name}: upload and plan`, `${plannedS.toFixed(1)} s`, `≤ ${planS} s`, plannedS <= planS),
    figure(`  apply`, `${appliedS.toFixed(1)} s`, `≤ ${applyS} s`, appliedS <= applyS),
    figure(`  longest POST /monitors of the same project meanwhile`, `${Math.round(longestMs)} ms`),
  ]
}

async function ended(api: Api, path: string, wanted: string): Promise<void> {
  for (;;) {
    const { status, error } = (await api.get(path)).body.data
    if (status === wanted) return
    if (status === 'failed') throw new Error(JSON.stringify(error))
    await pause(50)
  }
}

/** Creates a monitor after another. Returns the longest time of one. */
function startCreates(api: Api): { stop(): Promise<number> } {
  let isOver = false
  let longestMs = 0
  const work = (async () => {
    while (!isOver) {
      const startedMs = performance.now()
      const { status } = await api.post('/monitors', { name: 'Meanwhile', type: 'http' })
      if (status !== 201) throw new Error(`POST /monitors: ${status}`)
      longestMs = Math.max(longestMs, performance.now() - startedMs)
      await pause(20)
    }
  })()
  return {
    async stop() {
      isOver = true
      await work
      return longestMs
    },
  }
}
