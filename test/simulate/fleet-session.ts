import {
  type AssignmentTable,
  getRegionPlan,
} from '../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import { buildAssignments } from '../../control-plane/monitoring/fleet/sessions/messages.ts'
import {
  buildSyncQueue,
  type MessageBody,
  type ProbeSession,
} from '../../control-plane/monitoring/fleet/sessions/session.ts'
import { type SyncMessage, takeMessage } from '../../control-plane/monitoring/fleet/sessions/sync-queue.ts'
import { isVoteHeld } from '../../control-plane/verdict/core/confirmation/held-vote.ts'
import type { Hello, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import type { Database } from './database.ts'

/** A probe that opens a connection. */
export type ConnectingProbe = {
  probeId: string
  region: string
  name: string
  hello: Hello
  latencyMs: number
  isReached: () => boolean
  /** Runs `take` at the probe after `ms`: not if it has exited, and later if it is frozen. */
  deliver: (ms: number, take: () => void) => void
  onWelcome: (welcome: Welcome) => void
  onMessage: (body: MessageBody) => void
  onEnd: () => void
}

/** TCP repeats lost packets after this time, until the session is closed. */
const RETRANSMIT_AFTER_MS = 1_000

/** Opens the control plane's end of a connection. `onClose` is called once. */
export function openSession(
  assignments: AssignmentTable,
  caller: ConnectingProbe,
  connectedTo: string,
  nowMs: number,
  onClose: () => void,
): ProbeSession {
  const { probeId, region, name, hello, latencyMs, isReached, deliver } = caller
  const session: ProbeSession = {
    probeId,
    region,
    name,
    instanceId: hello.instanceId,
    connectedTo,
    syncQueue: buildSyncQueue(assignments, region, probeId, hello),
    isSending: false,
    isDrainUnrecorded: false,
    isOpen: true,
    lastMessageMs: nowMs,
    recordedMs: nowMs,
    credentialsEndMs: 0,
    offlineSinceMs: null,
    health: null,
    canSend: () => true,
    send(body) {
      const arrive = () => {
        if (isReached()) caller.onMessage(body)
        else if (session.isOpen) deliver(RETRANSMIT_AFTER_MS, arrive)
      }
      deliver(latencyMs, arrive)
      return Promise.resolve(true)
    },
    close() {
      if (!session.isOpen) return
      session.isOpen = false
      onClose()
      if (isReached()) deliver(latencyMs, caller.onEnd)
    },
  }
  return session
}

/** Sends the pending messages of the session, like `sessions/send-actions.ts`. */
export function sendPending(assignments: AssignmentTable, database: Database, session: ProbeSession): void {
  while (session.isOpen) {
    const now = { revision: assignments.monitors.revision, epoch: getRegionPlan(assignments, session.region).epoch }
    const message = takeMessage(session.syncQueue, now, id => assignments.monitors.entries.get(id)?.sizeBytes ?? 64)
    if (message === null) return
    void session.send(buildBody(assignments, database, session, message))
  }
}

function buildBody(
  assignments: AssignmentTable,
  database: Database,
  { region, probeId }: ProbeSession,
  message: SyncMessage,
): MessageBody {
  switch (message.kind) {
    case 'assignments': {
      const states = database.isUnavailable() ? null : storedStates(database, region, message.ids)
      const value = buildAssignments(message, { assignments, region, probeId, states, differences: new Map() })
      return { $case: 'assignments', value }
    }
    case 'epoch':
      return { $case: 'epochChanged', value: { epoch: message.epoch } }
    case 'states': {
      const states = message.states.map(([monitorId, state]) => ({ monitorId, state }))
      return { $case: 'regionStates', value: { states } }
    }
    case 'run':
      return { $case: 'runNow', value: message.run }
  }
}

function storedStates(database: Database, region: string, ids: readonly [string, unknown][]) {
  const states = new Map<string, { regionState: string | null }>()
  for (const [id] of ids) {
    const state = database.monitor(id)?.state
    if (!state) continue
    const cell = state.cells.find(one => one.region === region)
    states.set(id, { regionState: cell === undefined ? null : isVoteHeld(cell) ? 'pending' : cell.state })
  }
  return states
}
