import { getRegionPlan } from '../assignments/assignment-table.ts'
import type { FleetContext } from '../context.ts'
import { loadStoredStates } from '../live-sets/store.ts'
import { buildAssignments } from './messages.ts'
import { loadDifferences } from './screenshot-actions.ts'
import type { MessageBody, ProbeSession } from './session.ts'
import { type SyncMessage, takeMessage } from './sync-queue.ts'

/**
 * Sends what the session owes, a message at a time and only as fast as the probe takes them. A call while one is at work
 * does nothing: that one sees what was added.
 */
export async function sendPending(context: FleetContext, session: ProbeSession): Promise<void> {
  if (session.isSending) return
  session.isSending = true
  try {
    while (session.isOpen) {
      const now = {
        revision: context.assignments.monitors.revision,
        epoch: getRegionPlan(context.assignments, session.region).epoch,
      }
      const piece = takeMessage(
        session.syncQueue,
        now,
        id => context.assignments.monitors.entries.get(id)?.sizeBytes ?? 64,
      )
      if (piece === null) return
      await session.send(await buildMessageBody(context, session, piece))
    }
  } catch (error) {
    context.log.error({ err: error, probeId: session.probeId }, 'assignments could not be sent')
    session.close('failed')
  } finally {
    session.isSending = false
  }
}

async function buildMessageBody(
  context: FleetContext,
  { region, probeId }: ProbeSession,
  piece: SyncMessage,
): Promise<MessageBody> {
  switch (piece.kind) {
    case 'assignments': {
      const ids = piece.ids.map(([id]) => id)
      // without the database nothing new can be planned, but what is planned goes out
      const states = await loadStoredStates(context.db, region, ids).catch(error => {
        context.log.warn({ err: error, probeId }, 'assignments go out without region states')
        return null
      })
      const differences = await loadDifferences(context, region, ids)
      return {
        $case: 'assignments',
        value: buildAssignments(piece, { ...context, region, probeId, states, differences }),
      }
    }
    case 'epoch':
      return { $case: 'epochChanged', value: { epoch: piece.epoch } }
    case 'states':
      return {
        $case: 'regionStates',
        value: { states: piece.states.map(([monitorId, state]) => ({ monitorId, state })) },
      }
    case 'run':
      return { $case: 'runNow', value: piece.run }
  }
}
