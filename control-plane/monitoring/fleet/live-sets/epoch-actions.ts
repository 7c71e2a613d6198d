import { jetstreamNowMs } from '../../../foundation/platform/nats/client.ts'
import { applyLiveSet, getRegionPlan, type RegionEpoch } from '../assignments/assignment-table.ts'
import { type FleetContext, queueChanges } from '../context.ts'
import { sendPending } from '../sessions/send-actions.ts'
import { renewEpoch } from './actions.ts'
import { isDatabaseBehind, isPlausibleEpoch, type KnownLiveSet } from './epochs.ts'
import { listRegionEpochs } from './store.ts'

/**
 * Reads the live sets of all regions, or of one, into the table and sends the changes to the probes of this process. When
 * the database is behind what this process has sent to probes, the region gets a new epoch first.
 */
export async function loadEpochs(context: FleetContext, only: string | null = null): Promise<void> {
  await applyEpochs(context, await listRegionEpochs(context.db, only), only)
}

/** Applies rows that were just read. A live set that is newer than its row is compared with the database again. */
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
 * Handles the epoch that a probe sent in its first message. When the database does not have it, although it may have been
 * assigned before a restore, the region gets a higher one. Otherwise the verdict would refuse all results of the probe,
 * because their epoch is ahead.
 */
export async function reconcileEpoch(context: FleetContext, region: string, epoch: number): Promise<void> {
  const isKnown = () => epoch <= getRegionPlan(context.assignments, region).epoch
  if (isKnown() || !isPlausibleEpoch(epoch, jetstreamNowMs(context.nats))) return
  await loadEpochs(context, region)
  if (!isKnown()) await renewRegionEpoch(context, { region, epoch, probeIds: null })
}

/** Gives each region with probes an epoch that no process has yet. */
export async function renewAllEpochs(context: FleetContext): Promise<void> {
  for (const { region, epoch } of listKnownLiveSets(context, null)) {
    if (epoch > 0) await renewRegionEpoch(context, { region, epoch: epoch + 1, probeIds: null })
  }
}

async function renewRegionEpoch(context: FleetContext, { region, epoch, probeIds }: KnownLiveSet): Promise<void> {
  if (await renewEpoch(context.db, { region, epoch, probeIds })) {
    context.metrics.renewed.inc({ region })
    context.log.warn({ region, epoch }, 'PostgreSQL has an older epoch than the fleet; the region gets a higher one')
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

/** Applies a live set. With a hundred thousand monitors this takes long, so other work can run between the steps. */
async function applyEpoch(context: FleetContext, row: RegionEpoch): Promise<void> {
  for (const changes of applyLiveSet(context.assignments, row)) {
    queueChanges(context.sessions, changes)
    await new Promise(resolve => setImmediate(resolve))
  }
  for (const session of context.sessions.values()) if (session.region === row.region) sendPending(context, session)
}
