import { type Book, planOf } from '../../control-plane/fleet/book.ts'
import { type Link, type MessageBody, outboxFor } from '../../control-plane/fleet/link.ts'
import { assignmentsOf } from '../../control-plane/fleet/messages.ts'
import { type Piece, takePiece } from '../../control-plane/fleet/outbox.ts'
import type { Hello, Welcome } from '../../proto/gen/probe/v1/fleet.ts'
import type { Database } from './database.ts'

/** A probe that connects. */
export type Caller = {
  probeId: string
  region: string
  name: string
  hello: Hello
  latencyMs: number
  isReached: () => boolean
  /** Runs at the probe, unless it has ended; later when it is frozen. */
  deliver: (ms: number, take: () => void) => void
  onWelcome: (welcome: Welcome) => void
  onMessage: (body: MessageBody) => void
  onEnd: () => void
}

/** Packets that vanish are sent again by TCP, until the link is given up. */
const AGAIN_AFTER_MS = 1_000

/** The control plane's end of a connection; `onClose` is called once. */
export function openLink(book: Book, caller: Caller, connectedTo: string, nowMs: number, onClose: () => void): Link {
  const { probeId, region, name, hello, latencyMs, isReached, deliver } = caller
  const link: Link = {
    probeId,
    region,
    name,
    instanceId: hello.instanceId,
    connectedTo,
    outbox: outboxFor(book, region, probeId, hello),
    isPumping: false,
    isOpen: true,
    lastHeardMs: nowMs,
    recordedMs: nowMs,
    credentialsEndMs: 0,
    offlineSinceMs: null,
    health: null,
    isFree: () => true,
    send(body) {
      const arrive = () => {
        if (isReached()) caller.onMessage(body)
        else if (link.isOpen) deliver(AGAIN_AFTER_MS, arrive)
      }
      deliver(latencyMs, arrive)
      return Promise.resolve(true)
    },
    close() {
      if (!link.isOpen) return
      link.isOpen = false
      onClose()
      if (isReached()) deliver(latencyMs, caller.onEnd)
    },
  }
  return link
}

/** Sends what the link owes, as `pump` and `bodyOf` of `fleet/grpc.ts`. */
export function sendOwed(book: Book, database: Database, link: Link): void {
  while (link.isOpen) {
    const now = { revision: book.roster.revision, epoch: planOf(book, link.region).epoch }
    const piece = takePiece(link.outbox, now, id => book.roster.entries.get(id)?.sizeBytes ?? 64)
    if (piece === null) return
    void link.send(bodyOf(book, database, link, piece))
  }
}

function bodyOf(book: Book, database: Database, { region, probeId }: Link, piece: Piece): MessageBody {
  switch (piece.kind) {
    case 'assignments': {
      const states = database.isAway() ? null : storedStates(database, region, piece.ids)
      const value = assignmentsOf(piece, { book, region, probeId, states, differences: new Map() })
      return { $case: 'assignments', value }
    }
    case 'epoch':
      return { $case: 'epochChanged', value: { epoch: piece.epoch } }
    case 'states': {
      const states = piece.states.map(([monitorId, state]) => ({ monitorId, state }))
      return { $case: 'regionStates', value: { states } }
    }
    case 'run':
      return { $case: 'runNow', value: piece.run }
  }
}

function storedStates(database: Database, region: string, ids: readonly [string, unknown][]) {
  const states = new Map<string, { regionState: string | null }>()
  for (const [id] of ids) {
    const state = database.monitor(id)?.state
    if (state) states.set(id, { regionState: state.cells.find(cell => cell.region === region)?.state ?? null })
  }
  return states
}
