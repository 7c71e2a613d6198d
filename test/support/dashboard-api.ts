import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OperationName } from '../../control-plane/dashboard/core/operations.ts'
import { buildBoard } from './dashboard-fixtures.ts'
import type { ScreenState } from './dashboard-screens.tsx'

const SESSION = /^\/session\/of\/[^/]+\/[^/]+\/api\/v1(\/[^?]*)/

/** The requests of the pages that are shown with scripts. Another one is not found, which the browser complains about. */
const OPERATIONS: Record<string, OperationName> = {
  'GET /monitors': 'listMonitors',
  'GET /monitors/board': 'readMonitorBoard',
  'GET /views': 'listViews',
  'GET /analytics/strips': 'listAnalyticsStrips',
  'POST /monitors/bulk-changes': 'changeMonitors',
}

/** Answers a request of a page as the session bridge does, from a state of the page. False: it is not for the API. */
export function answerFromState(request: IncomingMessage, response: ServerResponse, state: ScreenState): boolean {
  const path = SESSION.exec(request.url!)?.[1]
  if (path === undefined) return false
  if (path === '/events') {
    // stays open; nothing changes
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: ready\ndata: {}\n\n')
    return true
  }
  const name = OPERATIONS[`${request.method} ${path}`]
  const { status, body } = name ? findAnswer(name, state) : NOT_FOUND
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

const NOT_FOUND = { status: 404, body: { error: { code: 'not_found', message: 'the test has no answer' } } }

function findAnswer(name: OperationName, { answers = {}, errors = {}, board = buildBoard([]) }: ScreenState) {
  const error = errors[name]
  if (error) return { status: error.status, body: { error } }
  const body = name === 'readMonitorBoard' ? { data: { ...board, reset: true } } : answers[name]
  return body ? { status: 200, body } : NOT_FOUND
}
