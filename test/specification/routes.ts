import { describeApi } from '../../tools/api-client/document.ts'
import { createSourceMapper } from '../../tools/test-runner/source-positions.ts'
import { ROOT } from '../rules/source.ts'
import { listOperations } from '../support/operations.ts'

const HEAD = `# Routes

Where each path of the API is declared. \`npm run generate\` makes this file from the routes; a test compares it with them.
A route is in the lowest room that its response needs: the history of a monitor, for example, is in \`insight/analytics\`.`

/** Positions in the sources, also when this file is in a bundle of tests. */
const inSources = createSourceMapper(ROOT.replace(/\/$/, ''))
const MAX_FRAMES = 30

/** The first file of the control plane below the web framework that is on the stack. */
function findCaller(): string | undefined {
  const stackTraceLimit = Error.stackTraceLimit
  Error.stackTraceLimit = MAX_FRAMES
  const frames = new Error().stack?.split('\n') ?? []
  Error.stackTraceLimit = stackTraceLimit
  for (const frame of frames) {
    const file = /(control-plane\/(?!foundation\/)[^:)]+\.tsx?)/.exec(inSources(frame))?.[1]
    if (file !== undefined) return file
  }
  return undefined
}

/** The text of docs/routes.md, and the operations whose declaration was not found. */
export async function makeRoutesPage(): Promise<{ text: string; missing: string[] }> {
  const files = new Map<string, string | undefined>()
  const document = await describeApi('https://picket.test', (method, path) => {
    files.set(`${method} ${path}`, findCaller())
  })
  const { operations } = listOperations(document)
  const rows = operations
    .map(({ name, method, path, operationId }) => ({
      name,
      operationId,
      resource: path.split('/')[1] ?? '',
      file: files.get(`${method.toUpperCase()} ${path}`),
    }))
    .sort((a, b) => a.resource.localeCompare(b.resource))
  const resources = [...new Set(rows.map(({ resource }) => resource))]
  const sections = resources.map(resource => {
    const lines = rows
      .filter(row => row.resource === resource)
      .map(
        ({ name, operationId, file }) =>
          `| \`${name}\` | ${operationId} | ${file ? `[${file.slice('control-plane/'.length)}](../${file})` : '–'} |`,
      )
    return [`## /${resource}`, '', '| operation | method of the client | file |', '|---|---|---|', ...lines].join('\n')
  })
  return {
    text: `${[HEAD, ...sections].join('\n\n')}\n`,
    missing: rows.filter(({ file }) => !file).map(({ name }) => name),
  }
}
