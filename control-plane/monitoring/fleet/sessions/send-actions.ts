import { getRegionPlan } from '../assignments/assignment-table.ts'
import type { FleetContext } from '../context.ts'
import { loadStoredStates } from '../live-sets/store.ts'
import { buildAssignments } from './messages.ts'
import { loadDifferences } from './screenshot-actions.ts'
import type { MessageBody, ProbeSession } from './session.ts'
import { type SyncMessage, takeMessage } from './sync-queue.ts'

/**
 * Sends the pending messages of a session one after another, as fast as the probe reads them. A call while another one is
 * running does nothing, because the running one also sends what was added.
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
      const message = takeMessage(
        session.syncQueue,
        now,
        id => context.assignments.monitors.entries.get(id)?.sizeBytes ?? 64,
      )
      if (message === null) return
      await session.send(await buildMessageBody(context, session, message))
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
  message: SyncMessage,
): Promise<MessageBody> {
  switch (message.kind) {
    case 'assignments': {
      const ids = message.ids.map(([id]) => id)
      // assignments are sent even when the database is unreachable
      const states = await loadStoredStates(context.db, region, ids).catch(error => {
        context.log.warn({ err: error, probeId }, 'assignments are sent without region states')
        return null
      })
      const differences = await loadDifferences(context, region, ids)
      return {
        $case: 'assignments',
        value: buildAssignments(message, { ...context, region, probeId, states, differences }),
      }
    }
    case 'epoch':
      return { $case: 'epochChanged', value: { epoch: message.epoch } }
    case 'states':
      return {
        $case: 'regionStates',
        value: { states: message.states.map(([monitorId, state]) => ({ monitorId, state })) },
      }
    case 'run':
      return { $case: 'runNow', value: message.run }
  }
}
