import { jetstreamNowMs } from '../../../foundation/platform/nats/client.ts'
import { applyLiveSet, getRegionPlan, type RegionEpoch } from '../assignments/assignment-table.ts'
import { type FleetContext, queueChanges } from '../context.ts'
import { sendPending } from '../sessions/send-actions.ts'
import { renewEpoch } from './actions.ts'
import { isDatabaseBehind, isPlausibleEpoch, type KnownLiveSet } from './epochs.ts'
import { listRegionEpochs } from './store.ts'

/**
 * Live sets as they are now, of all regions or of one, into the table and to the probes of this process. Where the database
 * is behind what this process has sent to probes, it takes a new epoch first.
 */
export async function loadEpochs(context: FleetContext, only: string | null = null): Promise<void> {
  await applyEpochs(context, await listRegionEpochs(context.db, only), only)
}

/** The same with rows that were read a moment ago; a live set that is newer than these rows is compared with the database again. */
export async function applyEpochs(
  context: FleetContext,
  rows: readonly RegionEpoch[],
  only: string | null = null,
): Promise<void> {
  await applyNewerEpochs(context, rows)
  const stored = new Map(rows.map(row => [row.region, row]))
  const known = listKnownLiveSets(context, only).filter(set => isDatabaseBehind(stored.get(set.region), set))
  for (const set of known) await renewRegionEpoch(context, set)
}

/**
 * A probe says that its work is of this epoch. When the database does not know it, although it may have been given out, the
 * region gets a new one: else all results of the probe would be of an epoch that is ahead.
 */
export async function reconcileEpoch(context: FleetContext, region: string, epoch: number): Promise<void> {
  const isKnown = () => epoch <= getRegionPlan(context.assignments, region).epoch
  if (isKnown() || !isPlausibleEpoch(epoch, jetstreamNowMs(context.nats))) return
  await loadEpochs(context, region)
  if (!isKnown()) await renewRegionEpoch(context, { region, epoch, probeIds: null })
}

/** Each region with probes gets an epoch that no process knows yet. */
export async function renewAllEpochs(context: FleetContext): Promise<void> {
  for (const { region, epoch } of listKnownLiveSets(context, null)) {
    if (epoch > 0) await renewRegionEpoch(context, { region, epoch: epoch + 1, probeIds: null })
  }
}

async function renewRegionEpoch(context: FleetContext, { region, epoch, probeIds }: KnownLiveSet): Promise<void> {
  if (await renewEpoch(context.db, { region, epoch, probeIds })) {
    context.metrics.renewed.inc({ region })
    context.log.warn({ region, epoch }, 'PostgreSQL is not where it was; the region gets a higher epoch')
  }
  await applyNewerEpochs(context, await listRegionEpochs(context.db, region))
}

async function applyNewerEpochs(context: FleetContext, rows: readonly RegionEpoch[]): Promise<void> {
  for (const row of rows) {
    if (row.epoch > getRegionPlan(context.assignments, row.region).epoch)
      await context.runSerially(() => applyEpoch(context, row))
  }
}

const listKnownLiveSets = ({ assignments: table }: FleetContext, only: string | null): KnownLiveSet[] =>
  [...table.plans]
    .filter(([region]) => only === null || region === only)
    .map(([region, { epoch, probes }]) => ({ region, epoch, probeIds: probes.map(({ id }) => id) }))

/** With a hundred thousand monitors this takes a while: other work has its turn between the parts. */
async function applyEpoch(context: FleetContext, row: RegionEpoch): Promise<void> {
  for (const marks of applyLiveSet(context.assignments, row)) {
    queueChanges(context.sessions, marks)
    await new Promise(resolve => setImmediate(resolve))
  }
  for (const session of context.sessions.values()) if (session.region === row.region) sendPending(context, session)
}
