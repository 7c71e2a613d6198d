import { type Operation, POSTED_READS } from '../support/operations.ts'
import { OPERATIONS } from './operations.ts'

/** Statuses that come from one place for all operations, with tests of their own. */
const COMMON_STATUSES = ['429', '503', 'default']
/** Documented because the operations of custom domains share one list of statuses. */
const NEVER_ANSWERED = ['POST /status-pages/{id}/custom-domain/analyze 409']
/** Reading these needs the scope `admin`, or the operator project; all others can be read with every key. */
const RESTRICTED_READS = ['/api-keys', '/audit-log', '/members', '/probes']

type DocumentedOperation = Pick<Operation, 'name'> & { answers: Record<string, unknown> }

/**
 * The statuses of an operation that at least one test must read: those of the published interface, and all that the OpenAPI
 * document lists, apart from common ones. 403 is not demanded of what every key may read.
 */
export function listDemandedStatuses({ name, answers }: DocumentedOperation): string[] {
  const documented = Object.keys(answers).filter(
    status =>
      !COMMON_STATUSES.includes(status) &&
      !NEVER_ANSWERED.includes(`${name} ${status}`) &&
      !(status === '403' && canEveryKeyRead(name)),
  )
  return [...new Set([...documented, ...(OPERATIONS[name] ?? []).map(String)])].sort()
}

const canEveryKeyRead = (name: string) =>
  POSTED_READS.includes(name) || (name.startsWith('GET ') && !RESTRICTED_READS.includes(name.slice('GET '.length)))

/**
 * The demanded answers ("GET /monitors 200") that no test has read. `lines` are those of test/support/test-record.ts, such as
 * "GET /api/v1/monitors/{} 200".
 */
export function listUnreadAnswers(operations: DocumentedOperation[], lines: Iterable<string>): string[] {
  const find = createOperationFinder(operations.map(({ name }) => name))
  const read = new Set<string>()
  for (const line of lines) {
    const [method = '', path = '', status = ''] = line.split(' ')
    read.add(`${find(`${method} ${path.replace(/^(\/session)?\/api\/v1/, '')}`)} ${status}`)
  }
  return operations
    .flatMap(operation => listDemandedStatuses(operation).map(status => `${operation.name} ${status}`))
    .filter(answer => !read.has(answer))
}

/** Maps a request to the name of its operation. A path with fewer parameters takes precedence, as in the router. */
function createOperationFinder(names: string[]): (request: string) => string | undefined {
  const countParameters = (name: string) => name.split('{').length
  const patterns = names
    .toSorted((a, b) => countParameters(a) - countParameters(b))
    .map(name => ({ name, pattern: new RegExp(`^${name.replace(/\{\w+\}/g, '[^/]+')}$`) }))
  return request => patterns.find(({ pattern }) => pattern.test(request))?.name
}
