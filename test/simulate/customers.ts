import { Trigger } from '../../shared/checks/result.ts'
import { runHintSubject } from '../../shared/nats/subjects.ts'
import type { Random } from '../chaos/random.ts'
import { endSilence } from './alerts.ts'
import type { Database, MonitorRow } from './database.ts'
import type { Hints } from './hints.ts'
import type { Settings, SimulatedInstallation } from './installation.ts'
import type { Chronicle } from './oracle/chronicle.ts'
import type { MonitorEdit, SimulationPlan } from './plan.ts'
import type { Time } from './time.ts'

type Parts = {
  hints: Hints
  time: Time
  database: Database
  installation: SimulatedInstallation
  plan: SimulationPlan
  random: Random
  chronicle: Chronicle
}

export type SimulatedCustomers = {
  /** Records the settings that the restored database has. Call it after PostgreSQL was restored. */
  recordRestoredSettings: () => void
}

const RETRY_MS = 5_000

/** Simulated users who create, change, pause and resume their monitors and request immediate checks. */
export function startCustomers({
  hints,
  time,
  database,
  installation,
  plan,
  random,
  chronicle,
}: Parts): SimulatedCustomers {
  for (const { id, index, settings } of installation.monitors)
    database.putMonitor({
      ...{ id, index, settings, configVersion: 1, streaksSince: 1 },
      ...{ isPaused: false, status: null, state: null },
    })

  function recordSettings(row: Omit<MonitorRow, 'revision'>, isOtherTarget: boolean): void {
    chronicle.monitors[row.index]!.settings.push({
      ...{ fromMs: time.nowMs(), ...row.settings, isPaused: row.isPaused, isOtherTarget },
    })
  }

  /** Retries while the database is unavailable. */
  function change(index: number, next: (row: MonitorRow) => MonitorRow, isOtherTarget: boolean): void {
    if (database.isUnavailable()) return void time.after(RETRY_MS, () => change(index, next, isOtherTarget))
    const row = next(database.monitor(installation.monitors[index]!.id)!)
    database.putMonitor(row)
    if (row.isPaused) endSilence(database, row.id, time.nowMs())
    recordSettings(row, isOtherTarget)
  }

  for (const { index, atMs, what } of plan.edits) {
    const isOtherTarget = what === 'target'
    const edited = (row: MonitorRow): MonitorRow => {
      const configVersion = row.configVersion + 1
      const streaksSince = isOtherTarget ? configVersion : row.streaksSince
      return { ...row, configVersion, streaksSince, settings: editedSettings(row.settings, what, installation, random) }
    }
    time.after(atMs, () => change(index, edited, isOtherTarget))
  }
  for (const { index, fromMs, toMs } of plan.pauses) {
    time.after(fromMs, () => change(index, row => ({ ...row, isPaused: true, status: null, state: null }), true))
    time.after(toMs, () =>
      change(
        index,
        row => (row.isPaused ? { ...row, isPaused: false, configVersion: row.configVersion + 1 } : row),
        true,
      ),
    )
  }

  for (const { index, atMs } of plan.asks)
    time.after(atMs, () => {
      const row = database.isUnavailable() ? undefined : database.monitor(installation.monitors[index]!.id)
      if (!row || row.isPaused) return
      for (const region of row.settings.regions) {
        const scheduledAtMs = hints.logNowMs()
        const body = { runId: hints.createId(), monitorId: row.id, trigger: Trigger.RUN_NOW, scheduledAtMs }
        hints.publish({ subject: runHintSubject(region), body })
      }
    })

  return {
    recordRestoredSettings() {
      for (const row of database.monitors().values()) {
        const known = chronicle.monitors[row.index]!.settings.at(-1)!
        if (known.isPaused === row.isPaused && JSON.stringify({ ...known, ...row.settings }) === JSON.stringify(known))
          continue
        recordSettings(row, true)
      }
    },
  }
}

function editedSettings(
  settings: Settings,
  what: MonitorEdit['what'],
  installation: SimulatedInstallation,
  random: Random,
): Settings {
  switch (what) {
    case 'retries':
      return { ...settings, retryCount: random.between(Math.min(1, settings.retryCount), 2) }
    case 'timeout':
      return { ...settings, timeoutMs: random.pick([5_000, 10_000, 30_000]) }
    case 'regions': {
      const [gone] = random.shuffled(settings.regions)
      const [other] = random.shuffled(installation.regions.filter(region => !settings.regions.includes(region)))
      return other
        ? { ...settings, regions: settings.regions.map(region => (region === gone ? other : region)) }
        : settings
    }
    case 'region-added': {
      const [other] = random.shuffled(installation.regions.filter(region => !settings.regions.includes(region)))
      return other ? { ...settings, regions: [...settings.regions, other] } : settings
    }
    case 'region-removed': {
      const [, ...left] = random.shuffled(settings.regions)
      return left.length > 0 ? { ...settings, regions: left } : settings
    }
    case 'interval':
      return { ...settings, intervalS: random.pick(installation.intervalsS) }
    default:
      return settings
  }
}
